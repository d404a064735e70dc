// Runs the load clients of this package side by side against an nginx on the loopback interface and prints medians with
// their ratios to `bench-limit`, a C program on libcurl alone, from the same run. Only such ratios mean something:
// absolute figures drift with the machine.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/run-benchmarks --smoke
//     BENCHMARK_PEERS=1 swift build -c release && .build/release/run-benchmarks --json results.json
//
// At the end runs the service locator's benchmark; `run-benchmarks locator` runs only that.
//
// Needs nginx, openssl and libcurl's headers. `--help` lists the options.

internal import Foundation

@main
struct RunBenchmarks {
    static func main() {
        do {
            guard let options = try RunnerOptions.parse(Array(CommandLine.arguments.dropFirst())) else {
                print(RunnerOptions.help)
                return
            }
            exit(try run(options) ? 0 : 1)
        } catch {
            note("run-benchmarks: \(error)")
            exit(2)
        }
    }

    /// Runs all that was asked for. False if any request failed.
    private static func run(_ options: RunnerOptions) throws -> Bool {
        let clients = options.isLocatorOnly ? [] : try LoadClient.select(options.clients)
        let workloads = options.isLocatorOnly ? [] : try Workload.select(options.workloads)
        let lock = try ExclusiveLock.take()
        defer { lock.release() }
        var succeeded = true
        if !options.isLocatorOnly {
            succeeded = try run(clients, on: workloads, options: options)
        }
        if options.includesLocator {
            succeeded = try LocatorBenchmark.run(isSmoke: options.isSmoke) && succeeded
        }
        return succeeded
    }

    private static func run(
        _ clients: [LoadClient], on workloads: [Workload], options: RunnerOptions
    ) throws -> Bool {
        let machine = try MachineFacts.gather()
        let server = try LoopbackServer.start()
        defer { server.stop() }
        var results: [ClientResult] = []
        for workload in workloads {
            results += rounds(of: workload, clients: clients, server: server, options: options)
        }
        let report = Report(machine: machine, options: options, results: results)
        print(report.table)
        if let path = options.jsonPath {
            try report.json.write(to: URL(fileURLWithPath: path))
        }
        return results.allSatisfy(\.succeeded)
    }

    private static func rounds(
        of workload: Workload, clients: [LoadClient], server: LoopbackServer, options: RunnerOptions
    ) -> [ClientResult] {
        let taking = clients.filter { $0.takesPart(in: workload) }
        var results = taking.map { ClientResult(workload: workload.name, client: $0.name) }
        for round in 1...options.rounds {
            // Whatever drifts during a round is turned around in the next one.
            let order = round.isMultiple(of: 2) ? Array(taking.indices.reversed()) : Array(taking.indices)
            for index in order {
                let measurement = measure(taking[index], workload, server, options)
                note(progress(workload, round, options, taking[index], measurement))
                results[index].add(measurement)
            }
        }
        return results
    }

    private static func measure(
        _ client: LoadClient, _ workload: Workload, _ server: LoopbackServer, _ options: RunnerOptions
    ) -> Result<Measurement, RunnerError> {
        Result { () throws(RunnerError) in
            try client.measure(workload, server: server, scale: options.scale, isSmoke: options.isSmoke)
        }
    }

    private static func progress(
        _ workload: Workload, _ round: Int, _ options: RunnerOptions, _ client: LoadClient,
        _ measurement: Result<Measurement, RunnerError>
    ) -> String {
        let place = "\(workload.name) round \(round)/\(options.rounds) \(client.name):"
        switch measurement {
        case .success(let measurement):
            let errors = measurement.errors == 0 ? "" : ", \(measurement.errors) errors"
            return "\(place) \(Int(measurement.requestsPerSecond)) req/s\(errors)"
        case .failure(let error):
            return "\(place) \(error)"
        }
    }
}

/// Writes a line to standard error.
func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}
