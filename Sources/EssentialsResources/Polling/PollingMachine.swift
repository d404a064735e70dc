/// How often a resource is loaded again.
struct RefreshSchedule: Sendable, Hashable {
    /// The pause after the end of a load, at least 10 milliseconds.
    let interval: Duration
    /// The maximum random extension of the pause, as a fraction from 0 to 1.
    let jitter: Double

    init(every interval: Duration, jitter: Double = 0) {
        // The upper limit is some years.
        self.interval = min(max(interval, .milliseconds(10)), .seconds(1 << 28))
        self.jitter = jitter.isFinite ? min(max(jitter, 0), 1) : 0
    }
}

/// Decides when a resource is loaded again because time has passed.
///
/// The schedule with the shortest interval counts, among those of the resource and its observers. A load is due when
/// the interval has passed since the last load ended, regardless of what started that load. Each failure doubles the
/// pause, up to eight times the interval. The pause is never shorter than the server demands with `Retry-After`, up to
/// an hour. Nothing is due without an observer, while the network is unreachable, during a load, or after a rule has
/// ended the polling. Observers that come and go do not restart the countdown.
///
/// The machine owns no clock and no random source: both are passed to its methods. Each method returns the next action,
/// which replaces the previous one.
struct PollingMachine: Sendable {
    /// The next action.
    enum Action: Sendable, Hashable {
        /// Do nothing until something else happens.
        case rest
        /// Call ``timerFired(now:)`` at this time.
        case wait(until: Duration)
        /// Start a load now.
        case load
    }

    /// How a load ended.
    enum Outcome: Sendable, Hashable {
        case success, failure
        /// The load was cancelled, which is neither a success nor a failure.
        case cancelled
    }

    /// How many times failures double the pause at most.
    private static let maximumDoublings = 3

    /// The schedule of the resource.
    private var schedule: RefreshSchedule?
    /// The number of observers.
    private var observers = 0
    /// How many observers have each schedule.
    private var schedules: [RefreshSchedule: Int] = [:]
    /// When the server allows the next load; `nil` if it has not named a time since the last success.
    private var allowed: Duration?
    /// When the countdown began: at the end of a load, or with the first observer.
    private var start: Duration?
    /// A number from 0 to 1 for the jitter of this countdown.
    private var random = 0.0
    private var failures = 0
    private var loads = 0
    private var isReachable = true
    private var isEnded = false
    /// Whether a load was demanded but has not begun.
    private var isDemanded = false

    /// Creates a machine for a resource without observers and loads.
    ///
    /// - Parameters:
    ///   - schedule: The schedule of the resource.
    ///   - lastEnd: When the last load ended; `nil` if there was none.
    ///   - hasFailed: Whether that load has failed.
    ///   - isReachable: Whether the network is reachable.
    init(
        _ schedule: RefreshSchedule? = nil, lastEnd: Duration? = nil, hasFailed: Bool = false, isReachable: Bool = true
    ) {
        self.schedule = schedule
        self.isReachable = isReachable
        start = lastEnd
        failures = hasFailed ? 1 : 0
    }

    /// An observer was added. The schedule is the observer's own, or `nil`.
    mutating func observerJoined(_ schedule: RefreshSchedule?, now: Duration, random bits: UInt64) -> Action {
        observers += 1
        if let schedule { schedules[schedule, default: 0] += 1 }
        if start == nil { begin(now, bits) }
        return next(now)
    }

    /// An observer with this schedule was removed.
    mutating func observerLeft(_ schedule: RefreshSchedule?, now: Duration) -> Action {
        observers = max(observers - 1, 0)
        remove(schedule)
        return next(now)
    }

    /// The schedule of an observer ended, but the observer stays.
    mutating func scheduleEnded(_ schedule: RefreshSchedule?, now: Duration) -> Action {
        remove(schedule)
        return next(now)
    }

    /// The schedule of the resource was set. Polling that a rule has ended begins again.
    mutating func configured(_ schedule: RefreshSchedule?, now: Duration) -> Action {
        self.schedule = schedule
        isEnded = false
        return next(now)
    }

    /// A load began, for any reason.
    mutating func loadBegan(now: Duration) -> Action {
        loads += 1
        isDemanded = false
        return next(now)
    }

    /// A load ended, or a demanded one could not begin.
    ///
    /// - Parameter retryAfter: The pause that the server demanded with a failure; `nil` if it demanded none.
    mutating func loadEnded(
        _ outcome: Outcome, retryAfter: Duration? = nil, now: Duration, random bits: UInt64
    ) -> Action {
        loads = max(loads - 1, 0)
        isDemanded = false
        switch outcome {
        case .success: (failures, allowed) = (0, nil)
        case .failure:
            failures = min(failures + 1, Self.maximumDoublings)
            demand(retryAfter, since: now)
        case .cancelled: break
        }
        begin(now, bits)
        return next(now)
    }

    /// Records a pause that the server has demanded, counted from a time.
    mutating func demand(_ retryAfter: Duration?, since time: Duration) {
        allowed = retryAfter.map { time + min(max($0, .zero), FreshnessRules.maximumRetryAfter) }
    }

    /// A demanded load was not started, because the resource has no observers any more or another load is running.
    mutating func loadRefused(now: Duration) -> Action {
        isDemanded = false
        return observers > 0 ? next(now) : .rest
    }

    /// The network became reachable or unreachable.
    mutating func reachabilityChanged(_ isReachable: Bool, now: Duration) -> Action {
        self.isReachable = isReachable
        return next(now)
    }

    /// A rule ends the polling until the resource is configured again.
    mutating func end(now: Duration) -> Action {
        isEnded = true
        return next(now)
    }

    /// The time for which the machine waits has come. Calls at other times are harmless.
    mutating func timerFired(now: Duration) -> Action { next(now) }

    private mutating func remove(_ schedule: RefreshSchedule?) {
        guard let schedule, let count = schedules[schedule] else { return }
        schedules[schedule] = count > 1 ? count - 1 : nil
    }

    private mutating func begin(_ now: Duration, _ bits: UInt64) {
        start = now
        random = Double(bits >> 11) * 0x1p-53
    }

    private mutating func next(_ now: Duration) -> Action {
        guard observers > 0, loads == 0, isReachable, !isEnded, !isDemanded, let start, let pause = pause else {
            return .rest
        }
        // The jitter is added here too, so that the clients of a busy server do not all return at once.
        let due = max(start + pause.least + pause.jitter, allowed.map { $0 + pause.jitter } ?? .zero)
        guard now >= due else { return .wait(until: due) }
        isDemanded = true
        return .load
    }

    private var pause: (least: Duration, jitter: Duration)? {
        var least = schedule
        for schedule in schedules.keys {
            // Of two equal intervals the one with less jitter counts, so that the order of the dictionary does not
            // matter.
            if let known = least, (known.interval, known.jitter) <= (schedule.interval, schedule.jitter) { continue }
            least = schedule
        }
        guard let least else { return nil }
        let pause = least.interval * (1 << failures)
        return (pause, pause * (least.jitter * random))
    }
}
