/// Computes the progress of a request from 0 to 1.
///
/// A request connects, uploads its body, waits for the response, and downloads it. Progress grows with time while the
/// request connects or waits, and with bytes while it transfers. When a phase ends, the remaining progress is divided
/// among the following phases by weight, so the end of a phase does not change the progress. Progress never decreases,
/// and reaches 1 only when the request ends.
struct ProgressRules: Sendable {
    /// An event of a request.
    enum Event: Sendable, Hashable {
        /// Time has passed.
        case time
        /// There is a connection.
        case connected
        /// This many bytes of the body were sent in all. The total is `nil` if it is unknown.
        case sent(Int64, of: Int64?)
        /// The body was sent.
        case uploaded
        /// The fields of the response were received.
        case responded
        /// This many bytes of the response's body were received in all. The total is `nil` if it is unknown.
        case received(Int64, of: Int64?)
    }

    /// The parts of a request, in order.
    private enum Phase: Int, Comparable {
        case connecting, uploading, waiting, downloading

        static func < (one: Phase, other: Phase) -> Bool { one.rawValue < other.rawValue }
    }

    /// The time after which half of a waiting phase is counted.
    private static let halfTime = Duration.seconds(1)
    /// The bytes after which half of a transfer of unknown size is counted.
    private static let halfSize = 65_536.0

    /// The weights of the phases.
    private let weights: [Double]
    private let hasUpload: Bool
    private var phase = Phase.connecting
    /// When the phase began.
    private var start: Duration
    /// The progress when the phase began.
    private var base = 0.0
    /// The progress that was last reported. It is 1 after the end of the request.
    private(set) var value = 0.0

    /// Creates the progress of a request that begins now.
    ///
    /// - Parameters:
    ///   - isGet: Whether the method is GET, for which the download counts most.
    ///   - hasBody: Whether the request has a body to upload.
    ///   - now: The time on a monotonic clock.
    init(isGet: Bool, hasBody: Bool, now: Duration) {
        weights = isGet ? [0.3, 0, 0.3, 1] : [0.3, 1, 0.3, 0.1]
        hasUpload = hasBody
        start = now
    }

    /// Records an event. Returns the progress if it grew.
    mutating func update(_ event: Event, at now: Duration) -> Double? {
        guard value < 1 else { return nil }
        var fraction: Double?
        switch event {
        case .time: fraction = timeFraction(now)
        case .connected: enter(hasUpload ? .uploading : .waiting, now)
        case .sent(let count, let total):
            enter(.uploading, now)
            if phase == .uploading { fraction = Self.fraction(count, of: total) }
        case .uploaded: enter(.waiting, now)
        case .responded: enter(.downloading, now)
        case .received(let count, let total):
            enter(.downloading, now)
            fraction = Self.fraction(count, of: total)
        }
        guard let fraction else { return nil }
        let following = weights[phase.rawValue...].reduce(0, +)
        let progress = min(base + (1 - base) * weights[phase.rawValue] / following * fraction, 1.0.nextDown)
        guard progress > value else { return nil }
        value = progress
        return progress
    }

    /// Ends the request with any outcome. Returns 1 the first time.
    mutating func finish() -> Double? {
        guard value < 1 else { return nil }
        value = 1
        return 1
    }

    /// Begins a phase, unless a later one has begun. The progress stays as it is.
    private mutating func enter(_ next: Phase, _ now: Duration) {
        guard next > phase else { return }
        (phase, start, base) = (next, now, value)
    }

    /// The completed part of a waiting phase, estimated from the time; `nil` in the other phases.
    private func timeFraction(_ now: Duration) -> Double? {
        guard phase == .connecting || phase == .waiting, now > start else { return nil }
        // The range of clocks is too small for the subtraction to overflow.
        let passed = (now - start) / Self.halfTime
        return passed / (passed + 1)
    }

    private static func fraction(_ count: Int64, of total: Int64?) -> Double {
        let count = Double(max(count, 0))
        guard let total, total > 0 else { return count / (count + halfSize) }
        return min(count / Double(total), 1)
    }
}
