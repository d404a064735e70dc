/// When to look next for exchanges in which nothing moves. Looking costs a walk over all of them, so it is done only when
/// the first could be over.
struct IdleWatch {
    private var nextLook: Int64?

    /// An exchange began.
    mutating func began(_ timeout: Duration?, now: Int64) {
        guard let timeout else { return }
        remains(timeout, since: now)
    }

    /// An exchange's bytes moved last at `moment`, in monotonic milliseconds.
    mutating func remains(_ timeout: Duration, since moment: Int64) {
        let end = moment + Int64(timeout.milliseconds)
        nextLook = min(nextLook ?? end, end)
    }

    /// Whether it is time to look. The caller looks and reports what remains.
    mutating func isDue(now: Int64) -> Bool {
        guard let nextLook, nextLook <= now else { return false }
        self.nextLook = nil
        return true
    }

    /// How long to wait, in milliseconds; -1 for as long as it takes.
    func wait(now: Int64) -> Int32 {
        guard let nextLook else { return -1 }
        return Int32(clamping: max(0, nextLook - now))
    }
}
