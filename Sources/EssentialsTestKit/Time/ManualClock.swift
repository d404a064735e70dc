import Synchronization

/// A clock that stands still until a test moves it. Nothing on it ever sleeps in real time.
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task { try await clock.sleep(for: .seconds(30)) }
/// await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(30))
/// try await task.value
/// ```
///
/// Safe from any thread. Time jumps: a task that was woken sees the moment that the clock was moved to, also where its
/// deadline was earlier, and what it then sleeps counts from there. To go through several sleeps of one task, move the
/// clock once for each, with ``waitForSleepers(count:)`` in between.
public final class ManualClock: Clock {
    /// Times on this clock are those of the standard library.
    public typealias Duration = Swift.Duration

    private typealias Sleepers = SleeperQueue<CheckedContinuation<Void, any Error>>

    private struct State {
        var now = Instant(elapsed: .zero)
        var sleepers = Sleepers()
        var waiters: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        var nextWaiter = 0

        /// Takes those out that wait for no more sleepers than there are.
        mutating func removeServedWaiters() -> [CheckedContinuation<Void, Never>] {
            let served = waiters.filter { $0.value.count <= sleepers.count }
            for id in served.keys { waiters.removeValue(forKey: id) }
            return served.sorted { $0.key < $1.key }.map(\.value.continuation)
        }
    }

    private enum Beginning {
        case sleeps(served: [CheckedContinuation<Void, Never>])
        case isDue
        case isCancelled
        case isFull
    }

    private let state = Mutex(State())
    private let maximumSleepers: Int

    /// Makes a clock at zero.
    ///
    /// - Parameter maximumSleepers: How many may sleep at a time; one more fails with a ``TestKitError``.
    public init(maximumSleepers: Int = 100_000) { self.maximumSleepers = maximumSleepers }

    /// The moment that the clock was last moved to.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: the clock stands wherever it is put.
    public var minimumResolution: Duration { .zero }

    /// How many tasks sleep.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The earliest deadline of those that sleep; nil when nobody does.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.nextDeadline } }

    /// Sleeps until the clock is moved to a deadline or past it; not at all when it is there already. The tolerance is
    /// not used.
    ///
    /// - Throws: `CancellationError` when the task is or gets cancelled, ``TestKitError`` when too many sleep already.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let key = state.withLock { $0.sleepers.makeKey(deadline) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in begin(continuation, key) }
        } onCancel: {
            state.withLock { $0.sleepers.remove(key) }?.resume(throwing: CancellationError())
        }
    }

    /// Moves the clock. A negative duration is none: time does not go back.
    public func advance(by duration: Duration) {
        move { $0.now.advanced(by: duration) }
    }

    /// Moves the clock to a moment; not at all to an earlier one. Resumes all whose deadline has come, in the order of
    /// their deadlines, and of their arrival where these are equal. In which order they then run is up to what runs them.
    public func advance(to moment: Instant) {
        move { _ in moment }
    }

    /// Moves the clock to the earliest deadline of those that sleep, and wakes whoever has it.
    ///
    /// - Returns: The moment; nil when nobody sleeps, which leaves the clock where it is.
    @discardableResult
    public func advanceToNextDeadline() -> Instant? {
        move { $0.sleepers.nextDeadline }
    }

    /// Suspends until so many tasks sleep at the same time, or the waiting task is cancelled.
    public func waitForSleepers(count: Int) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if state.sleepers.count >= count || Task.isCancelled { return true }
                    state.waiters[waiter] = (count, continuation)
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.continuation.resume()
        }
    }

    private func begin(_ continuation: CheckedContinuation<Void, any Error>, _ key: Sleepers.Key) {
        let beginning = state.withLock { state -> Beginning in
            // The handler of a cancellation that came before has found nobody to wake.
            if Task.isCancelled { return .isCancelled }
            if key.deadline <= state.now { return .isDue }
            guard state.sleepers.count < maximumSleepers else { return .isFull }
            state.sleepers.insert(continuation, key)
            return .sleeps(served: state.removeServedWaiters())
        }
        switch beginning {
        case .sleeps(let served): for waiter in served { waiter.resume() }
        case .isDue: continuation.resume()
        case .isCancelled: continuation.resume(throwing: CancellationError())
        case .isFull:
            continuation.resume(
                throwing: TestKitError(
                    "\(maximumSleepers) tasks sleep on the manual clock already; allow more with maximumSleepers."))
        }
    }

    @discardableResult
    private func move(_ target: (inout State) -> Instant?) -> Instant? {
        let (moment, due) = state.withLock { state -> (Instant?, [CheckedContinuation<Void, any Error>]) in
            guard let moment = target(&state) else { return (nil, []) }
            state.now = max(state.now, moment)
            return (state.now, state.sleepers.removeDue(at: state.now))
        }
        for sleeper in due { sleeper.resume() }
        return moment
    }
}
