// Measures the service locator and the lower bounds of its operations, and reports which goals are met.
//
//     cd Tests/Benchmarks
//     swift run -c release bench-locator
//
// Only ratios to a floor from the same run are meaningful, because absolute figures drift with the machine.
// Counts are exact. A wrong count or a missing figure is reported on standard error and makes the exit
// status 1, also with `--smoke`.

internal import Figures
internal import Glibc
internal import ThreadCounters

@main
struct BenchLocator {
    static func main() {
        do {
            guard let options = try Options.parse(Array(CommandLine.arguments.dropFirst())) else {
                print(Options.help)
                return
            }
            if let name = options.only { return try repeatOnly(name) }
            if let kind = options.cold { return print(try ColdStart.measureHere(kind).line) }
            let report = try report(options)
            print(report.table)
            for breach in report.breaches { note(breach) }
            if !report.breaches.isEmpty { exit(1) }
        } catch {
            note("\(error)")
            exit(2)
        }
    }

    private static func note(_ text: String) {
        let line = Array("bench-locator: \(text)\n".utf8)
        _ = write(2, line, line.count)
    }

    private static let benchmarks = Floors.all + Resolving.all + OtherKinds.all + FirstUses.all + Peer.all

    private static func repeatOnly(_ name: String) throws {
        guard let benchmark = benchmarks.first(where: { $0.name == name }) else {
            throw BenchmarkError("no benchmark is called \(name); there are: \(benchmarks.map(\.name))")
        }
        let end = monotonic_nanoseconds() + 10_000_000_000
        while monotonic_nanoseconds() < end { try benchmark.prepare(benchmark.operations)() }
    }

    private static func report(_ options: Options) throws -> Report {
        let samples = try Samples(benchmarks, rounds: options.rounds, isSmoke: options.isSmoke)
        // Two threads are measured for longer, because the kernel needs time to spread them over the cores.
        let threadRounds = options.isSmoke ? 1 : max(5, options.rounds / 4)
        return Report(
            samples: samples,
            twoThreads: try TwoThreads.measure(rounds: threadRounds, isSmoke: options.isSmoke),
            cold: try ColdStart.Kind.allCases.map {
                ($0, try ColdStart.measure($0, inNewProcesses: options.isSmoke ? 1 : 5))
            },
            counts: try Counts.measure(isSmoke: options.isSmoke), options: options)
    }
}
