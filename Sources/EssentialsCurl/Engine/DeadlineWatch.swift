/// Knows when the engine has to look for passed deadlines. A look walks over all exchanges, so it is delayed until the
/// earliest deadline.
///
/// libcurl keeps some of these deadlines, too, but not while a request waits for another request's connection.
struct DeadlineWatch {
    private var nextLook: Int64?

    /// Notes a deadline, in monotonic milliseconds.
    mutating func ends(at moment: Int64) { nextLook = min(nextLook ?? moment, moment) }

    /// Returns whether it is time to look. The caller then looks, and notes all deadlines again.
    mutating func isDue(now: Int64) -> Bool {
        guard let nextLook, nextLook <= now else { return false }
        self.nextLook = nil
        return true
    }

    /// Returns how long the engine may wait, in milliseconds. -1 means no limit.
    func wait(now: Int64) -> Int32 {
        guard let nextLook else { return -1 }
        return Int32(clamping: max(0, nextLook - now))
    }
}
