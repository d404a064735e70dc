import Glibc

/// Tells work whose time grows with the size of its input from work that goes over its input again and again.
enum GrowthOfTime {
    /// Whether sixteen times as much input takes far less than 256 times as long.
    ///
    /// - Parameter work: Prepares the work for an input of a number of bytes.
    static func isLinear(_ work: (_ size: Int) -> () -> Void) -> Bool {
        let (small, large) = (work(2 << 10), work(32 << 10))
        // Linear work takes 16 times as long, and quadratic work 256 times as long. What takes little time at all may
        // have been delayed by the machine.
        return (0..<3).contains { _ in time(large) < time(small) * 64 + .milliseconds(10) }
    }

    /// The time of the processor that work takes in this thread.
    private static func time(_ work: () -> Void) -> Duration {
        let start = now()
        work()
        return now() - start
    }

    private static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
