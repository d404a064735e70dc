import EssentialsTools
import Glibc

/// The numbers of requests to servers, by which newer responses are told from older ones, also by other processes that use the
/// same store and after a restart.
///
/// A number is the time of the system in nanoseconds, but always greater than the last one of the process, so that a clock that
/// is set back changes nothing while it runs.
enum ResponseNumber {
    private static let last = Atomic<UInt64>(0)

    /// A number greater than all before it.
    static func next() -> UInt64 {
        let now = now
        var last = last.load(ordering: .relaxed)
        while true {
            let next = max(last &+ 1, now)
            let (isExchanged, current) = Self.last.compareExchange(
                expected: last, desired: next, ordering: .relaxed)
            if isExchanged { return next }
            last = current
        }
    }

    /// A number of another process, or of one before a restart; `nil` if it cannot be one, because it lies more than a day in
    /// the future. The next number of this process is greater, and by how much is random, so that no two processes that have
    /// seen the same number continue with the same one.
    static func known(_ number: UInt64) -> UInt64? {
        guard number <= max(now &+ day, last.load(ordering: .relaxed)) else { return nil }
        var last = last.load(ordering: .relaxed)
        // Most numbers are earlier than the time, which the next number is not.
        while last < number, number >= now {
            let (isExchanged, current) = Self.last.compareExchange(
                expected: last, desired: number &+ .random(in: 1...1 << 30), ordering: .relaxed)
            if isExchanged { break }
            last = current
        }
        return number
    }

    /// In nanoseconds.
    private static let day: UInt64 = 86_400_000_000_000

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
