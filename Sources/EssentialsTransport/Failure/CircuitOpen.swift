/// The underlying error of a failure `circuitOpen`.
///
/// ```swift
/// if let open = failure.underlying as? CircuitOpen, let time = open.timeLeft { try await clock.sleep(for: time) }
/// ```
public struct CircuitOpen: Error, Sendable, Hashable {
    /// The time until a request is sent as a probe. `nil` while a probe is being sent, because its end is not known.
    public let timeLeft: Duration?

    /// Creates an error.
    public init(timeLeft: Duration?) { self.timeLeft = timeLeft }
}
