internal import Figures
internal import ThreadCounters

/// The figures of some benchmarks, measured in rounds.
struct Samples {
    let benchmarks: [Benchmark]
    /// Nanoseconds of thread CPU time for each operation, by benchmark and round.
    private(set) var nanoseconds: [String: [Double]] = [:]

    /// Runs every benchmark once in each round, so that a drift affects all of them alike.
    init(_ benchmarks: [Benchmark], rounds: Int, isSmoke: Bool) throws {
        self.benchmarks = benchmarks
        if !isSmoke {
            // The first round includes the creation of metadata, page faults and the wake-up of a core.
            for benchmark in benchmarks { _ = try Self.measure(benchmark, isSmoke: false) }
        }
        for round in 0..<rounds {
            // The order alternates, so that a drift during a round is compensated by the next one.
            for benchmark in round.isMultiple(of: 2) ? benchmarks : benchmarks.reversed() {
                nanoseconds[benchmark.name, default: []].append(try Self.measure(benchmark, isSmoke: isSmoke))
            }
        }
    }

    func median(of name: String) -> Double {
        Figures.median(nanoseconds[name] ?? [])
    }

    /// The median over all rounds of a combination of this benchmark's and another one's figure from the same round.
    func median(of name: String, and other: String, _ combine: (Double, Double) -> Double) -> Double {
        guard let own = nanoseconds[name], let base = nanoseconds[other] else { return .nan }
        return Figures.median(zip(own, base).map(combine))
    }

    private static func measure(_ benchmark: Benchmark, isSmoke: Bool) throws -> Double {
        let operations = isSmoke ? min(benchmark.operations, 100) : benchmark.operations
        let batches = isSmoke ? 1 : benchmark.batches
        var spent: UInt64 = 0
        for _ in 0..<batches {
            let body = try benchmark.prepare(operations)
            let start = thread_cpu_nanoseconds()
            try body()
            spent += thread_cpu_nanoseconds() - start
            // The setup is released after the second reading of the clock.
            withExtendedLifetime(body) {}
        }
        return Double(spent) / Double(operations * batches)
    }
}
