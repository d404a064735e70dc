/// Lets a growing progress through at most once per interval.
struct ProgressGate: Sendable {
    private let interval: Duration
    /// The value that went through last, and when.
    private var last: (value: Double, time: Duration)?

    init(every interval: Duration) { self.interval = interval }

    /// Whether a value goes through now. A value that is held back can be offered again later.
    mutating func passes(_ value: Double, at now: Duration) -> Bool {
        if let last, value <= last.value || now < last.time + interval { return false }
        last = (value, now)
        return true
    }
}
