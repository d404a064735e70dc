/// How many requests a service may send to one server: at the same time, in a period, and while the server is down.
///
/// ```swift
/// var configuration = HTTPDataRequestService.Configuration()
/// configuration.limits = OriginLimits(
///     concurrency: 8, rate: RateLimit(10, per: .seconds(1)), breaker: .standard)
/// ```
///
/// Each origin has its own counts. A request that may not be sent yet waits in the origin's line. The more urgent
/// requests leave the line first, and equally urgent ones in order of arrival. Every hop and
/// every attempt of a request passes the limits separately. A request that waits holds no connection.
///
/// The counts of 1,024 origins are remembered. If there are more, the origins that were unused for the longest time are
/// forgotten, and their counts begin anew.
public struct OriginLimits: Sendable, Hashable {
    /// No limits.
    public static let unlimited = OriginLimits()

    /// The maximum number of requests to one origin at the same time. A request counts until its body was read or
    /// dropped. The default is `nil`, which means no limit. A value below 1 counts as 1.
    ///
    /// A transport limits its connections to an origin too. This limit is for fewer requests than that, and for HTTP/2,
    /// where one connection carries many requests.
    public var concurrency: Int?
    /// The maximum number of requests to one origin in a period. The default is `nil`, which means no limit.
    public var rate: RateLimit?
    /// When requests fail at once instead of being sent, because the server is down. The default is `nil`, which means
    /// never.
    public var breaker: CircuitBreaker?
    /// The maximum number of requests that wait in the line of one origin. One more fails as `queueFull`. The default is
    /// 10,000. A value below 0 counts as 0.
    public var queueLimit = 10_000
    /// The maximum wait in the line of an origin, after which a request fails as `timeout` in the phase `queue`. The
    /// `queueTimeout` of the request's options limits the wait as well, and the shorter one counts. The default is
    /// `nil`, which means that only the request's own applies.
    public var queueTimeout: Duration?

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - concurrency: The maximum number of requests at the same time; `nil` for no limit.
    ///   - rate: The maximum number of requests in a period; `nil` for no limit.
    ///   - breaker: When requests fail at once because the server is down; `nil` for never.
    public init(concurrency: Int? = nil, rate: RateLimit? = nil, breaker: CircuitBreaker? = nil) {
        self.concurrency = concurrency
        self.rate = rate
        self.breaker = breaker
    }

    /// Whether nothing is limited.
    package var isNone: Bool { concurrency == nil && rate == nil && breaker == nil }
}

extension OriginLimits {
    /// The use of the limits of one origin at one moment.
    ///
    /// ```swift
    /// if let state = service.limits?.state(of: url.origin), state.waiting > 100 { showBusy() }
    /// ```
    public struct State: Sendable, Hashable {
        /// The number of requests that were sent and whose bodies have not been read or dropped yet.
        public let permitsInUse: Int
        /// The number of requests in the line.
        public let waiting: Int
        /// The number of requests that the rate allows now; `nil` without a rate.
        public let rateTokensLeft: Int?
        /// The state of the circuit breaker. It is `closed` without one.
        public let circuit: CircuitBreaker.State

        /// Creates a state, for test doubles.
        public init(
            permitsInUse: Int = 0, waiting: Int = 0, rateTokensLeft: Int? = nil,
            circuit: CircuitBreaker.State = .closed
        ) {
            self.permitsInUse = permitsInUse
            self.waiting = waiting
            self.rateTokensLeft = rateTokensLeft
            self.circuit = circuit
        }
    }
}
