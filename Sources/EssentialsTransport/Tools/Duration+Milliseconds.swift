extension Duration {
    /// Whole milliseconds, rounded up so that a short time is not none.
    package var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // Far below any overflow, and far above any deadline.
        guard seconds < 100_000_000_000 else { return 100_000_000_000_000 }
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
