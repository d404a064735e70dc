extension ManualClock {
    /// A moment on a manual clock: how long after its beginning. Sums beyond what a `Duration` holds stop at its ends.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// How long after the clock's beginning.
        public let elapsed: Duration

        /// A moment so long after the clock's beginning.
        public init(elapsed: Duration) { self.elapsed = elapsed }

        /// The moment so much later.
        public func advanced(by duration: Duration) -> Instant {
            let sum = elapsed.attoseconds.addingReportingOverflow(duration.attoseconds)
            return Instant(elapsed: Self.duration(sum, isPositive: duration > .zero))
        }

        /// How long it is from here to another moment; negative to an earlier one.
        public func duration(to other: Instant) -> Duration {
            let difference = other.elapsed.attoseconds.subtractingReportingOverflow(elapsed.attoseconds)
            return Self.duration(difference, isPositive: other > self)
        }

        /// Whether a moment is before another.
        public static func < (first: Instant, second: Instant) -> Bool { first.elapsed < second.elapsed }

        /// The time since the clock's beginning.
        public var description: String { "\(elapsed)" }

        private static func duration(_ sum: (partialValue: Int128, overflow: Bool), isPositive: Bool) -> Duration {
            Duration(attoseconds: sum.overflow ? (isPositive ? .max : .min) : sum.partialValue)
        }
    }
}
