extension Duration {
    /// The duration in nanoseconds, rounded down and limited to about 292 years in both directions.
    package var wholeNanoseconds: Int64 {
        guard self < .seconds(1 << 40), self > .seconds(-(1 << 40)) else { return self < .zero ? .min : .max }
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        let (sum, exceeds) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return exceeds ? (seconds < 0 ? .min : .max) : sum
    }

    /// About seventy years. The system's clock does not accept every duration.
    package static let longestSleep = Duration.seconds(1 << 31)

    /// The duration, at most ``longestSleep``.
    package var sleepable: Duration { min(self, .longestSleep) }
}
