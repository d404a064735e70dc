/// Bytes a second over the last few seconds, from a bounded number of samples.
struct RateMeter {
    static let window: Duration = .seconds(4)
    static let spacing: Duration = .milliseconds(250)

    /// Oldest first; the oldest is the youngest of those that have left the window, at most.
    private var samples: [(moment: Duration, bytes: Int64)]

    /// Begins with bytes that are there already and count for nothing.
    init(bytes: Int64, at moment: Duration) { samples = [(moment, bytes)] }

    /// Notes how many bytes are there, and gives the rate.
    mutating func rate(bytes: Int64, at moment: Duration) -> Double {
        while samples.count > 1, samples[1].moment <= moment - Self.window { samples.removeFirst() }
        let first = samples[0]
        if let last = samples.last, moment - last.moment >= Self.spacing { samples.append((moment, bytes)) }
        let seconds = (moment - first.moment) / .seconds(1)
        guard seconds > 0, bytes > first.bytes else { return 0 }
        return Double(bytes - first.bytes) / seconds
    }
}
