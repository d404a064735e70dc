public import EssentialsHTTP
import EssentialsTools
public import FoundationEssentials

/// A clock that stands still until a test advances it. Sleeping on it never takes real time.
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task { try await clock.sleep(for: .seconds(30)) }
/// await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(30))
/// try await task.value
/// ```
///
/// Safe to use from any thread. Time jumps: a resumed task sees the moment to which the clock was advanced, even if its
/// own deadline was earlier, and its next sleep starts from there. To step through several sleeps of one task, advance
/// the clock once for each and call ``waitForSleepers(count:)`` in between.
///
/// The clock also has a ``date``, which moves with it and can be set forward and back, and a time since the start of an
/// imagined machine, which ``reboot()`` starts again. ``requestClock`` combines them for a service.
public final class ManualClock: Clock {
    /// Durations are those of the standard library.
    public typealias Duration = Swift.Duration

    // A sleeper has its continuation in the queue, because it ends with an error and those that are due leave together.
    private typealias Sleepers = SleeperQueue<CheckedContinuation<Void, any Error>>

    private struct State {
        var now = Instant(elapsed: .zero)
        /// The date at the clock's start. Setting the date moves it.
        var startDate: Date
        var random = SplitMix64(seed: 1)
        /// The number of restarts of the machine, and the moment of the last one.
        var reboots = 0
        var rebooted = Instant(elapsed: .zero)
        var sleepers = Sleepers()
        /// What is provided when a number of tasks sleep, by this number. All numbers are above the present one.
        var awaited: [Int: OneShot<Void>] = [:]
    }

    private enum Beginning {
        case sleeps(reached: OneShot<Void>?)
        case isDue
        case isCancelled
        case isFull
    }

    private let state: Mutex<State>
    private let maximumSleepers: Int
    /// Distinguishes the machine from those of other clocks.
    private let machine = UInt64.random(in: .min ... .max)

    /// Creates a clock at time zero.
    ///
    /// - Parameters:
    ///   - date: The date at time zero. The default is 2001-01-01 00:00:00 UTC.
    ///   - maximumSleepers: The maximum number of concurrent sleepers; a further sleep throws ``TestKitError``.
    public init(date: Date = Date(timeIntervalSinceReferenceDate: 0), maximumSleepers: Int = 100_000) {
        state = Mutex(State(startDate: date))
        self.maximumSleepers = maximumSleepers
    }

    /// The date. It moves with the clock. Setting it changes the date alone, like a correction of the system's time:
    /// nobody wakes up.
    public var date: Date {
        get { state.withLock { $0.startDate.addingTimeInterval($0.now.elapsed / .seconds(1)) } }
        set { state.withLock { $0.startDate = newValue.addingTimeInterval(-($0.now.elapsed / .seconds(1))) } }
    }

    /// The time, the date and repeatable random numbers for a service.
    ///
    /// ```swift
    /// var configuration = HTTPDataRequestService.Configuration()
    /// configuration.clock = clock.requestClock
    /// ```
    ///
    /// The random numbers are the same in every run. All values made from one clock share one sequence.
    public var requestClock: RequestClock {
        RequestClock(
            self, date: { [self] in date }, randomBits: { [self] in state.withLock { $0.random.next() } },
            bootTime: { [self] in bootTime })
    }

    /// The time since the machine was started, for what outlives a process. Clocks never have the same machine.
    public var bootTime: BootTime {
        state.withLock { state in
            BootTime(
                boot: "\(String(machine, radix: 16))-\(state.reboots)", elapsed: state.rebooted.duration(to: state.now))
        }
    }

    /// Starts the machine again: ``bootTime`` begins anew. The time and the ``date`` stay, and nobody wakes up.
    ///
    /// Close what a test has opened before, because no process outlives its machine.
    public func reboot() {
        state.withLock { state in
            state.reboots += 1
            state.rebooted = state.now
        }
    }

    /// The moment to which the clock was last advanced.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero, because the clock can be set to any moment.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that are sleeping.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The earliest deadline of all sleepers, or `nil` if no task sleeps.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.nextDeadline } }

    /// Sleeps until the clock reaches a deadline, and returns at once if it already has. The tolerance is ignored.
    ///
    /// - Throws: `CancellationError` if the task is or gets cancelled, ``TestKitError`` if too many tasks sleep.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let key = state.withLock { $0.sleepers.makeKey(deadline) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in begin(continuation, key) }
        } onCancel: {
            state.withLock { $0.sleepers.remove(key) }?.resume(throwing: CancellationError())
        }
    }

    /// Advances the clock by a duration. A negative duration has no effect.
    public func advance(by duration: Duration) {
        move { $0.now.advanced(by: duration) }
    }

    /// Advances the clock to a moment; an earlier moment has no effect. Sleepers whose deadline is reached are
    /// resumed in the order of their deadlines, and in order of arrival for equal deadlines. The executor decides
    /// in which order they run.
    public func advance(to moment: Instant) {
        move { _ in moment }
    }

    /// Advances the clock to the earliest deadline of all sleepers and resumes every sleeper with that deadline.
    ///
    /// - Returns: That deadline, or `nil` if no task sleeps; the clock then keeps its time.
    @discardableResult
    public func advanceToNextDeadline() -> Instant? {
        move { $0.sleepers.nextDeadline }
    }

    /// Suspends until at least this many tasks sleep at the same time, or until the calling task is cancelled.
    public func waitForSleepers(count: Int) async {
        let reached = state.withLock { state -> OneShot<Void>? in
            guard state.sleepers.count < count else { return nil }
            let reached = state.awaited[count] ?? OneShot()
            state.awaited[count] = reached
            return reached
        }
        await reached?.valueUnlessCancelled()
    }

    private func begin(_ continuation: CheckedContinuation<Void, any Error>, _ key: Sleepers.Key) {
        let beginning = state.withLock { state -> Beginning in
            // If cancellation came first, its handler found no sleeper to resume.
            if Task.isCancelled { return .isCancelled }
            if key.deadline <= state.now { return .isDue }
            guard state.sleepers.count < maximumSleepers else { return .isFull }
            state.sleepers.insert(continuation, key)
            return .sleeps(reached: state.awaited.removeValue(forKey: state.sleepers.count))
        }
        switch beginning {
        case .sleeps(let reached): reached?.provide(())
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

/// A small generator with a seed, for repeatable random numbers (Steele, Lea and Flood, 2014).
private struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }
}
