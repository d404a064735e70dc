/// The times of one request's options.
package struct TimeLimits: Hashable, Sendable {
    package var connect = TimeLimit(.seconds(10))
    package var idle: TimeLimit? = TimeLimit(.seconds(60))
    package var firstByte: TimeLimit?
    package var total: TimeLimit?
    package var queue: TimeLimit? = TimeLimit(.seconds(60))
}

/// A duration, and how many milliseconds it is: counted when it is set, because that takes a division of 128 bits, and
/// every request asks for several.
package struct TimeLimit: Hashable, Sendable {
    package let duration: Duration
    package let milliseconds: Int64

    package init(_ duration: Duration) {
        self.duration = duration
        milliseconds = Int64(duration.milliseconds)
    }
}
