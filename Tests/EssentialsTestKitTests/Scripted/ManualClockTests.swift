import Dispatch
import EssentialsTestKit
import Testing

@Suite struct ManualClockTests {
    private typealias Instant = ManualClock.Instant

    @Test func `A manual clock only changes when it is advanced, and never goes back`() {
        let clock = ManualClock()
        #expect(clock.now == Instant(elapsed: .zero))
        clock.advance(by: .seconds(3))
        clock.advance(by: .milliseconds(500))
        #expect(clock.now == Instant(elapsed: .milliseconds(3500)))
        clock.advance(by: .seconds(-1))
        clock.advance(to: Instant(elapsed: .seconds(2)))
        #expect(clock.now == Instant(elapsed: .milliseconds(3500)))
        clock.advance(to: Instant(elapsed: .seconds(9)))
        #expect("\(clock.now)" == "9.0 seconds")
        #expect(clock.minimumResolution == .zero)
    }

    @Test(arguments: [
        (Duration.seconds(2), Duration.seconds(3), Duration.seconds(5)),
        (.seconds(2), .seconds(-3), .seconds(-1)),
        (Duration(attoseconds: .max), .seconds(1), Duration(attoseconds: .max)),
        (Duration(attoseconds: .min), .seconds(-1), Duration(attoseconds: .min)),
    ])
    func `Adding to an instant saturates at the limits of a duration`(
        start: Duration, step: Duration, end: Duration
    ) {
        #expect(ManualClock.Instant(elapsed: start).advanced(by: step) == ManualClock.Instant(elapsed: end))
    }

    @Test func `The duration between two instants is signed and saturates`() {
        let (first, second) = (Instant(elapsed: .seconds(2)), Instant(elapsed: .seconds(7)))
        #expect(first.duration(to: second) == .seconds(5))
        #expect(second.duration(to: first) == .seconds(-5))
        #expect(first < second)
        let (beginning, end) = (Instant(elapsed: Duration(attoseconds: .min)), Instant(elapsed: .seconds(1)))
        #expect(beginning.duration(to: end) == Duration(attoseconds: .max))
        #expect(end.duration(to: beginning) == Duration(attoseconds: .min))
    }

    @Test func `Sleeping until a deadline that has passed returns at once`() async throws {
        let clock = ManualClock()
        try await clock.sleep(until: clock.now)
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: Instant(elapsed: .seconds(4)))
        try await clock.sleep(for: .zero)
        #expect(clock.sleeperCount == 0)
        #expect(clock.nextDeadline == nil)
    }

    @Test func `A sleeper is resumed exactly at its deadline`() async throws {
        let clock = ManualClock()
        let task = Task {
            try await clock.sleep(for: .seconds(30))
            return clock.now
        }
        await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline == Instant(elapsed: .seconds(30)))
        clock.advance(by: .seconds(29))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(clock.sleeperCount == 0)
        #expect(try await task.value == Instant(elapsed: .seconds(30)))
    }

    @Test func `A thousand sleepers are resumed in the order of deadline and arrival`() async throws {
        let (clock, executor) = (ManualClock(), OneQueueExecutor())
        let (woken, wakes) = AsyncStream.makeStream(of: Int.self)
        // 37 and 1000 are coprime, so this is a permutation. Two sleepers each have the same deadline.
        let deadlines = (0..<1000).map { $0 * 37 % 1000 / 2 }
        var tasks: [Task<Void, any Error>] = []
        for (index, deadline) in deadlines.enumerated() {
            tasks.append(
                Task(executorPreference: executor) {
                    try await clock.sleep(until: Instant(elapsed: .seconds(1 + deadline)))
                    wakes.yield(index)
                })
            await clock.waitForSleepers(count: index + 1)
        }
        clock.advance(by: .seconds(1000))
        for task in tasks { try await task.value }
        wakes.finish()
        let order = await woken.reduce(into: []) { $0.append($1) }
        #expect(order == deadlines.indices.sorted { (deadlines[$0], $0) < (deadlines[$1], $1) })
    }

    @Test func `A clock can be advanced from deadline to deadline`() async throws {
        let clock = ManualClock()
        #expect(clock.advanceToNextDeadline() == nil)
        let tasks = [7, 3, 5].map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
        await clock.waitForSleepers(count: 3)
        for seconds in [3, 5, 7] {
            #expect(clock.advanceToNextDeadline() == Instant(elapsed: .seconds(seconds)))
            #expect(clock.now == Instant(elapsed: .seconds(seconds)))
        }
        #expect(clock.advanceToNextDeadline() == nil)
        for task in tasks { try await task.value }
    }

    @Test func `A task that sleeps repeatedly is followed without polling`() async throws {
        let clock = ManualClock()
        let task = Task {
            for _ in 0..<100 { try await clock.sleep(for: .seconds(1)) }
            return clock.now
        }
        for _ in 0..<100 {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }
        #expect(try await task.value == Instant(elapsed: .seconds(100)))
    }

    @Test func `Cancelling resumes only that sleeper, with a CancellationError`() async throws {
        let clock = ManualClock()
        let cancelled = Task { try await clock.sleep(for: .seconds(5)) }
        await clock.waitForSleepers(count: 1)
        let other = Task { try await clock.sleep(for: .seconds(6)) }
        await clock.waitForSleepers(count: 2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(clock.sleeperCount == 1)
        #expect(clock.nextDeadline == Instant(elapsed: .seconds(6)))
        clock.advance(by: .seconds(6))
        try await other.value
    }

    @Test(arguments: [0, 5]) func `A cancelled task does not sleep`(seconds: Int) async {
        let clock = ManualClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(seconds))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `A sleeper beyond the maximum fails until another one has ended`() async throws {
        let clock = ManualClock(maximumSleepers: 2)
        let tasks = (1...2).map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
        await clock.waitForSleepers(count: 2)
        await #expect(
            throws: TestKitError("2 tasks sleep on the manual clock already; allow more with maximumSleepers.")
        ) { try await clock.sleep(for: .seconds(3)) }
        clock.advance(by: .seconds(1))
        let third = Task { try await clock.sleep(for: .seconds(3)) }
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(3))
        for task in tasks + [third] { try await task.value }
    }

    @Test func `Several tasks can wait for different numbers of sleepers`() async throws {
        let clock = ManualClock()
        let waits = [3, 1, 2].map { count in
            Task {
                await clock.waitForSleepers(count: count)
                return clock.sleeperCount >= count
            }
        }
        let sleepers = (0..<3).map { _ in Task { try await clock.sleep(for: .seconds(1)) } }
        for wait in waits { #expect(await wait.value) }
        clock.advance(by: .seconds(1))
        for sleeper in sleepers { try await sleeper.value }
        await clock.waitForSleepers(count: 0)
    }

    @Test func `Waiting for sleepers ends if its task is cancelled`() async {
        let clock = ManualClock()
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await clock.waitForSleepers(count: 1)
        }
        await early.value
        let late = Task { await clock.waitForSleepers(count: 1) }
        late.cancel()
        await late.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `Advancing and cancelling concurrently ends each of 2,000 sleepers exactly once`() async {
        let clock = ManualClock()
        let sleepers = (0..<2000).map { index in
            Task {
                do {
                    try await clock.sleep(until: Instant(elapsed: .milliseconds(1 + index % 1000)))
                    return clock.now.elapsed >= .milliseconds(1 + index % 1000)
                } catch {
                    return error is CancellationError && index % 3 == 0
                }
            }
        }
        await withTaskGroup { group in
            for mover in 0..<10 {
                group.addTask {
                    for step in 0..<100 {
                        clock.advance(by: .milliseconds(1))
                        if step % 10 == mover { await Task.yield() }
                    }
                }
            }
            group.addTask { for index in stride(from: 0, to: 2000, by: 3) { sleepers[index].cancel() } }
        }
        #expect(clock.now == Instant(elapsed: .seconds(1)))
        for sleeper in sleepers { #expect(await sleeper.value) }
        #expect(clock.sleeperCount == 0)
    }
}

/// Runs tasks on one queue, so that they continue in the order in which they are resumed.
private final class OneQueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "one")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
