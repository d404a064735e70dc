// Runs the load clients of this package side by side against an nginx on the loopback interface, and prints medians
// with their ratios to `bench-limit`, a C program on libcurl, from the same run. Only such ratios are meaningful,
// because absolute figures drift with the machine.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/run-benchmarks --smoke
//     BENCHMARK_PEERS=1 swift build -c release && .build/release/run-benchmarks --json results.json
//     .build/release/run-benchmarks --workloads h1-64,cold --rounds 3
//
// If it is built, our client with a statically linked Swift runtime is measured too, for its cold start and its size:
//
//     swift build -c release --static-swift-stdlib --product bench-ours --scratch-path .build/static
//
// The package's tool is measured for its size in the same two forms:
//
//     swift build -c release --product essentials
//     swift build -c release --static-swift-stdlib --product essentials --scratch-path .build/static
//
// `--workloads soak,soak-tls,soak-h2,soak-new` sends hundreds of thousands of requests with our client, and fails if it
// holds more memory or descriptors at the end than early on.
//
// The service locator's benchmark runs last; `run-benchmarks locator` runs only that one.
//
// Requires nginx, openssl, libcurl's headers, and for some workloads taskset and strip. `--help` lists the options.

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

    /// Runs all selected benchmarks. Returns false if any request failed.
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
        raiseDescriptorLimit()
        let server = try LoopbackServer.start(fileMiB: workloads.contains(where: \.isLarge) ? options.largeMiB : 0)
        defer { server.stop() }
        var results = Results()
        for workload in workloads {
            results.add(try rounds(of: workload, clients: clients, server: server, options: options))
        }
        let report = Report(machine: machine, options: options, results: results)
        print(report.table)
        if let path = options.jsonPath {
            try report.json.write(to: URL(fileURLWithPath: path))
        }
        return results.succeeded
    }

    /// Raises the limit for this process, its servers and its clients.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func rounds(
        of workload: Workload, clients: [LoadClient], server: LoopbackServer, options: RunnerOptions
    ) throws(RunnerError) -> [ClientResult] {
        let cores = ProcessInfo.processInfo.processorCount
        if workload.isPinned {
            guard cores > 1 else {
                note("\(workload.name): needs two cores, left out")
                return []
            }
            try server.pin(toCores: "0-\(cores - 2)")
        }
        let taking = clients.filter { $0.takesPart(in: workload) }
        if taking.isEmpty { note("\(workload.name): nobody is built who takes part, left out") }
        var results = taking.map { ClientResult(workload: workload.name, client: $0.name) }
        let count = workload.rounds(options)
        for round in 1...count {
            // The order alternates, so that a drift during a round is compensated by the next one.
            let order = round.isMultiple(of: 2) ? Array(taking.indices.reversed()) : Array(taking.indices)
            for index in order {
                let sample = measure(taking[index], workload, server, options)
                note("\(workload.name) round \(round)/\(count) \(taking[index].name): \(described(sample, workload))")
                results[index].add(sample)
            }
        }
        if workload.isPinned { try server.pin(toCores: "0-\(cores - 1)") }
        return results
    }

    private static func measure(
        _ client: LoadClient, _ workload: Workload, _ server: LoopbackServer, _ options: RunnerOptions
    ) -> Result<Sample, RunnerError> {
        Result { () throws(RunnerError) in
            try client.measure(workload, server: server, options: options)
        }
    }

    private static func described(_ sample: Result<Sample, RunnerError>, _ workload: Workload) -> String {
        switch sample {
        case .success(let sample):
            let first = workload.figures.first.flatMap { figure in
                sample.figures[figure].map { "\(figure.shown($0)) \(figure.title)" }
            }
            return (first ?? "no figure") + (sample.errors == 0 ? "" : ", \(sample.errors) errors")
        case .failure(let error): return "\(error)"
        }
    }
}

/// Writes a line to standard error.
func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}
