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
        guard self > .zero else { return 0 }
        // Far from any overflow, and longer than any timeout. The seconds of some durations do not fit 64 bits.
        guard self < .seconds(100_000_000_000) else { return 100_000_000_000_000 }
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// The duration, or about 35,000 years in its direction if it is longer. No sum or small multiple of such durations
    /// overflows, and their seconds fit 64 bits.
    package var bounded: Duration { min(max(self, .seconds(-(1 << 40))), .seconds(1 << 40)) }
}
