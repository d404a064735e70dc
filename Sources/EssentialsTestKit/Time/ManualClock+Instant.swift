extension ManualClock {
    /// A moment on a manual clock: the time since the clock's start. Arithmetic saturates at the limits of `Duration`.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock's start.
        public let elapsed: Duration

        /// Creates the moment at this distance from the clock's start.
        public init(elapsed: Duration) { self.elapsed = elapsed }

        /// Returns the moment that is later by a duration.
        public func advanced(by duration: Duration) -> Instant {
            let sum = elapsed.attoseconds.addingReportingOverflow(duration.attoseconds)
            return Instant(elapsed: Self.duration(sum, isPositive: duration > .zero))
        }

        /// Returns the duration from this moment to another one; negative if the other one is earlier.
        public func duration(to other: Instant) -> Duration {
            let difference = other.elapsed.attoseconds.subtractingReportingOverflow(elapsed.attoseconds)
            return Self.duration(difference, isPositive: other > self)
        }

        /// Whether the first moment is earlier than the second.
        public static func < (first: Instant, second: Instant) -> Bool { first.elapsed < second.elapsed }

        /// The time since the clock's start, as text.
        public var description: String { "\(elapsed)" }

        private static func duration(_ sum: (partialValue: Int128, overflow: Bool), isPositive: Bool) -> Duration {
            Duration(attoseconds: sum.overflow ? (isPositive ? .max : .min) : sum.partialValue)
        }
    }
}
