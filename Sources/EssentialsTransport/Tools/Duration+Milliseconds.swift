extension Duration {
    /// Whole milliseconds, rounded up, so that a positive duration is never zero.
    package var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // Far from any overflow, and longer than any timeout.
        guard seconds < 100_000_000_000 else { return 100_000_000_000_000 }
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
