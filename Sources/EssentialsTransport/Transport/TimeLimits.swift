/// The time limits of a request's options in milliseconds, the unit of the engines.
package struct TimeLimits: Sendable {
    package let connect: Int64
    package let idle: Int64?
    package let firstByte: Int64?
    package let total: Int64?
    package let queue: Int64?

    init(_ options: TransportOptions) {
        connect = Int64(options.connectTimeout.milliseconds)
        idle = options.idleTimeout.map { Int64($0.milliseconds) }
        firstByte = options.firstByteTimeout.map { Int64($0.milliseconds) }
        total = options.totalTimeout.map { Int64($0.milliseconds) }
        queue = options.queueTimeout.map { Int64($0.milliseconds) }
    }
}

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
