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
