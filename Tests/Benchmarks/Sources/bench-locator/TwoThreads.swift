internal import EssentialsLocator
internal import Figures
internal import Glibc
internal import ThreadCounters

/// The throughput of two threads compared with one, each with its own service.
///
/// The machine's own limit is measured too: two threads that only copy their services have less than twice the
/// throughput of one if the cores share something or have other work.
struct TwoThreads {
    /// The operations per second of two threads divided by those of one, in wall-clock time.
    let throughputRatio: Double
    /// CPU time for an operation while both threads run, in nanoseconds. Contention shows in this figure even if other
    /// programs prevent the threads from running at the same time.
    let nanoseconds: Double

    private typealias Work = @Sendable (_ times: Int) throws -> Void

    /// Measures two threads with copies and with resolving.
    static func measure(rounds: Int, isSmoke: Bool) throws -> (floor: TwoThreads, locator: TwoThreads) {
        let operations = isSmoke ? 1_000 : 2_000_000
        let shelves = [Shelf(SpacedService()), Shelf(SpacedService())]
        let copies: [Work] = shelves.map { shelf in
            { times in Floors.copyOut(of: shelf.storage, times: times) }
        }
        let locator = ServiceLocator(name: "bench")
        try locator.register(FirstService(), as: FirstService.self)
        try locator.register(SecondService(), as: SecondService.self)
        let resolves: [Work] = [
            { times in try resolveFirst(from: locator, times: times) },
            { times in try resolveSecond(from: locator, times: times) },
        ]
        var floors: [TwoThreads] = []
        var results: [TwoThreads] = []
        for _ in 0..<rounds {
            floors.append(try compare(copies, times: operations))
            results.append(try compare(resolves, times: operations))
        }
        return (middle(of: floors), middle(of: results))
    }

    private static func middle(of rounds: [TwoThreads]) -> TwoThreads {
        TwoThreads(
            throughputRatio: median(rounds.map(\.throughputRatio)), nanoseconds: median(rounds.map(\.nanoseconds)))
    }

    /// Runs each operation alone, then both at the same time.
    private static func compare(_ works: [Work], times: Int) throws -> TwoThreads {
        let alone = try works.map { try run([$0], times: times) }
        let both = try run(works, times: times)
        let wall = Double(alone.reduce(0) { $0 + $1.wall })
        return TwoThreads(
            throughputRatio: wall / Double(both.wall),
            nanoseconds: Double(both.cpu) / Double(works.count * times))
    }

    /// Runs each operation on its own thread. All threads are released at the same moment.
    private static func run(_ works: [Work], times: Int) throws -> (wall: UInt64, cpu: UInt64) {
        let gate = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)
        defer { gate.deallocate() }
        guard pthread_barrier_init(gate, nil, UInt32(works.count)) == 0 else { throw BenchmarkError("no barrier") }
        defer { pthread_barrier_destroy(gate) }
        let runners = works.map { Runner($0, times: times, gate: gate) }
        let threads = runners.map { $0.makeThread() }
        for thread in threads { pthread_join(thread, nil) }
        if let failure = runners.lazy.compactMap(\.failure).first { throw failure }
        let start = runners.map(\.start).min() ?? 0
        let end = runners.map(\.end).max() ?? 0
        return (end - start, runners.reduce(0) { $0 + $1.cpu })
    }

    // Distinct types, so that the threads also use different cells of the table.
    private struct FirstService: Sendable {
        let service: any MeasuredService = SpacedService()
    }

    private struct SecondService: Sendable {
        let service: any MeasuredService = SpacedService()
    }

    @inline(never)
    private static func resolveFirst(from locator: ServiceLocator, times: Int) throws {
        for _ in 0..<times { consume(try locator.resolve(FirstService.self).service) }
    }

    @inline(never)
    private static func resolveSecond(from locator: ServiceLocator, times: Int) throws {
        for _ in 0..<times { consume(try locator.resolve(SecondService.self).service) }
    }

    /// The operation of one thread and its result, which is read only after the thread was joined.
    private final class Runner {
        private(set) var start: UInt64 = 0
        private(set) var end: UInt64 = 0
        private(set) var cpu: UInt64 = 0
        private(set) var failure: (any Error)?
        private let work: Work
        private let times: Int
        private let gate: UnsafeMutablePointer<pthread_barrier_t>

        init(_ work: @escaping Work, times: Int, gate: UnsafeMutablePointer<pthread_barrier_t>) {
            self.work = work
            self.times = times
            self.gate = gate
        }

        func makeThread() -> pthread_t {
            var thread = pthread_t()
            let status = pthread_create(
                &thread, nil,
                { context in
                    Unmanaged<Runner>.fromOpaque(context!).takeRetainedValue().run()
                    return nil
                }, Unmanaged.passRetained(self).toOpaque())
            precondition(status == 0, "no thread")
            return thread
        }

        private func run() {
            pthread_barrier_wait(gate)
            start = monotonic_nanoseconds()
            let spent = thread_cpu_nanoseconds()
            do {
                try work(times)
            } catch {
                failure = error
            }
            cpu = thread_cpu_nanoseconds() - spent
            end = monotonic_nanoseconds()
        }
    }
}
