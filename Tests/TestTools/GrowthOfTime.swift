import Glibc

/// Tells work whose time grows with the size of its input from work that goes over its input again and again.
package enum GrowthOfTime {
    /// Whether eight times as much input takes far less than 64 times as long.
    ///
    /// - Parameters:
    ///   - size: The size of the small input.
    ///   - work: Prepares the work for an input of a size. It runs on the thread that calls it.
    package static func isLinear(
        from size: Int, _ work: (_ size: Int) throws -> () throws -> Void
    ) throws -> Bool {
        // Linear work takes 8 times as long, and quadratic work 64 times as long. What takes little time at all may have
        // been delayed by the machine.
        for _ in 0..<3 where try time(work(size * 8)) < time(work(size)) * 24 + .milliseconds(10) { return true }
        return false
    }

    /// Whether work on a large input takes about as long as on one that is sixteen times smaller.
    package static func isConstant(from size: Int, _ work: (_ size: Int) throws -> () throws -> Void) throws -> Bool {
        for _ in 0..<3 where try time(work(size * 16)) < time(work(size)) * 4 + .milliseconds(2) { return true }
        return false
    }

    /// Whether sixteen times as many bytes of input take far less than 256 times as long.
    ///
    /// - Parameter work: Prepares the work for an input of a number of bytes.
    package static func isLinear(_ work: (_ size: Int) -> () -> Void) -> Bool {
        let (small, large) = (work(2 << 10), work(32 << 10))
        return (0..<3).contains { _ in time(large) < time(small) * 64 + .milliseconds(10) }
    }

    /// The time of the processor that work takes in this thread.
    private static func time(_ work: () throws -> Void) rethrows -> Duration {
        let start = now()
        try work()
        return now() - start
    }

    private static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
