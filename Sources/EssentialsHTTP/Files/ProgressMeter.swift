import EssentialsTools

/// The state of a ``ProgressReport``. It decides which values are delivered, and delivers them without holding its
/// lock.
final class ProgressMeter: Sendable {
    private struct State {
        /// Whether an operation uses the meter.
        var isTaken = false
        var rates: RateMeter?
        var bytes: Int64 = 0
        var expected: Int64?
        var delivered: (bytes: Int64, moment: Duration)?
        /// The next value to deliver. A newer value replaces it.
        var due: (bytes: Int64, rate: Double)?
        /// The number of bytes in the last value that was delivered.
        var reported: Int64 = 0
        var isDelivering = false
        var isFinished = false
        var hasEnded = false
    }

    private enum Step {
        case value(TransferProgress)
        case end
        case none
    }

    private let state = Mutex(State())
    private let interval: Duration
    private let now: @Sendable () -> Duration
    private let deliver: @Sendable (TransferProgress) -> Void
    private let end: @Sendable () -> Void

    init(
        interval: Duration, now: @escaping @Sendable () -> Duration,
        deliver: @escaping @Sendable (TransferProgress) -> Void, end: @escaping @Sendable () -> Void
    ) {
        self.interval = interval
        self.now = now
        self.deliver = deliver
        self.end = end
    }

    /// This meter for the first operation, and a new meter with the same callback for every later one. Only the first
    /// operation calls `end`.
    func forOperation() -> ProgressMeter {
        let isFirst = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        return isFirst ? self : ProgressMeter(interval: interval, now: now, deliver: deliver, end: {})
    }

    /// Finishes, because otherwise a stream would wait forever for a report that no longer exists.
    deinit { finish() }

    func begin(at bytes: Int64, expected: Int64?) {
        change { state, moment in
            guard state.rates == nil, !state.isFinished else { return }
            state.rates = RateMeter(bytes: bytes, at: moment)
            state.bytes = bytes
            state.expected = expected
            state.due = (bytes, 0)
            state.reported = bytes
            state.delivered = (bytes, moment)
        }
    }

    func reached(_ bytes: Int64) {
        change { state, moment in
            guard !state.isFinished, bytes > state.bytes,
                let rate = state.rates?.rate(bytes: bytes, at: moment)
            else { return }
            state.bytes = bytes
            if let last = state.delivered, moment - last.moment < self.interval { return }
            state.due = (bytes, rate)
            state.delivered = (bytes, moment)
        }
    }

    func finish() {
        change { state, moment in
            guard !state.isFinished else { return }
            state.isFinished = true
            let bytes = state.bytes
            guard state.delivered?.bytes != bytes, let rate = state.rates?.rate(bytes: bytes, at: moment)
            else { return }
            state.due = (bytes, rate)
        }
    }

    /// Changes the state, and delivers the values that became due. If another call is delivering, it delivers them too.
    private func change(_ change: (inout State, Duration) -> Void) {
        let moment = now()
        let delivers = state.withLock { state in
            change(&state, moment)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard delivers else { return }
        while true {
            switch nextStep() {
            case .value(let value): deliver(value)
            case .end: end()
            case .none: return
            }
        }
    }

    private func nextStep() -> Step {
        state.withLock { state in
            if let due = state.due.take() {
                defer { state.reported = due.bytes }
                return .value(
                    TransferProgress(
                        bytes: due.bytes, bytesSinceLast: due.bytes - state.reported, expected: state.expected,
                        rate: due.rate))
            }
            if state.isFinished, !state.hasEnded {
                state.hasEnded = true
                return .end
            }
            state.isDelivering = false
            return .none
        }
    }
}

/// Measures bytes per second over the last few seconds, with a bounded number of samples.
struct RateMeter {
    static let window: Duration = .seconds(4)
    static let spacing: Duration = .milliseconds(250)

    /// The samples, the oldest first. At most the first one is older than the window.
    private var samples: [(moment: Duration, bytes: Int64)]

    /// Begins with the bytes of earlier attempts, which do not count for the rate.
    init(bytes: Int64, at moment: Duration) { samples = [(moment, bytes)] }

    /// Adds a sample, and returns the rate in bytes per second.
    mutating func rate(bytes: Int64, at moment: Duration) -> Double {
        while samples.count > 1, samples[1].moment <= moment - Self.window { samples.removeFirst() }
        let first = samples[0]
        if let last = samples.last, moment - last.moment >= Self.spacing { samples.append((moment, bytes)) }
        let seconds = (moment - first.moment) / .seconds(1)
        guard seconds > 0, bytes > first.bytes else { return 0 }
        return Double(bytes - first.bytes) / seconds
    }
}
