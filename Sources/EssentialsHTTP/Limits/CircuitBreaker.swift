/// When requests to an origin fail at once instead of being sent, because the server is down.
///
/// ```swift
/// configuration.limits.breaker = .standard
/// ```
///
/// The circuit is closed at first, and requests are sent. It opens when the share of failures among the latest outcomes
/// reaches ``failureRatio``. All requests to the origin then fail as `circuitOpen`, including those in its line.
/// After ``openTime`` one request is sent as a probe. If it succeeds, the circuit closes. If it fails, the circuit stays
/// open for twice as long as before, up to ``longestOpenTime``.
///
/// These outcomes are failures: the reasons `connection`, `nameResolution`, `timeout` and `interrupted`, and the
/// statuses 502, 503 and 504. Every other response is a success, even a 404, because the server has responded.
/// Cancelled requests, timeouts in the transport's queue, and all other reasons are not counted. The outcome of a
/// streamed response is that of its head.
public struct CircuitBreaker: Sendable, Hashable {
    /// The share of failures that opens the circuit, from 0 to 1. The default is 0.5.
    public var failureRatio = 0.5
    /// The number of outcomes in the ``window`` below which the circuit never opens. The default is 20.
    public var minimumOutcomes = 20
    /// The time for which an outcome counts, in steps of a tenth. The default is 10 seconds.
    public var window = Duration.seconds(10)
    /// How long the circuit is open the first time. The default is 5 seconds.
    public var openTime = Duration.seconds(5)
    /// The maximum time for which the circuit is open before a probe. The default is 60 seconds.
    public var longestOpenTime = Duration.seconds(60)

    /// Creates a circuit breaker with the default of each property.
    public init() {}

    /// The default of each property.
    public static let standard = CircuitBreaker()

    /// Whether requests are sent.
    public enum State: Sendable, Hashable {
        /// Requests are sent.
        case closed
        /// Requests fail. The time is what is left until a request is sent as a probe.
        case open(timeLeft: Duration)
        /// One request is sent as a probe, or the next one will be. All others fail.
        case halfOpen
    }
}
