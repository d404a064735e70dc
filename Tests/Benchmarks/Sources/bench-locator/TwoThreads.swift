internal import EssentialsLocator
internal import Figures
internal import Glibc
internal import ThreadCounters

/// How much more two threads get done than one, each with a service of its own.
///
/// The machine's own share is measured beside it: two threads that only copy their services get less than twice as much
/// done where the cores share something, or have other work.
struct TwoThreads {
    /// Operations a second of two threads by those of one, in wall-clock time.
    let throughputRatio: Double
    /// CPU time of an operation while both threads run, in nanoseconds. Work on something shared shows here even when
    /// other programs keep the threads from running side by side.
    let nanoseconds: Double

    private typealias Work = @Sendable (_ times: Int) throws -> Void

    /// What two threads make of copies, and of resolving.
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

    /// Each service alone, then both at once.
    private static func compare(_ works: [Work], times: Int) throws -> TwoThreads {
        let alone = try works.map { try run([$0], times: times) }
        let both = try run(works, times: times)
        let wall = Double(alone.reduce(0) { $0 + $1.wall })
        return TwoThreads(
            throughputRatio: wall / Double(both.wall),
            nanoseconds: Double(both.cpu) / Double(works.count * times))
    }

    /// Runs each work on a thread of its own, all released at the same moment.
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

    // Types of their own, so that the threads also look in different cells of the table.
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

    /// One thread's work, and what came of it. Read only after the thread was joined.
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
