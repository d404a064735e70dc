public import EssentialsHTTP

extension Transport {
    /// Sends a request and follows redirects, which a transport does not do by itself.
    ///
    /// ```swift
    /// let redirected = try await transport.send(request, following: .limit(3))
    /// let body = try await redirected.response.body.collect(upTo: 1_000_000)
    /// ```
    ///
    /// `totalTimeout` covers all hops, and each hop gets the remaining time. The other options apply to each hop.
    /// Header fields of the request are sent to another origin only if the policy allows it.
    ///
    /// Up to 64 KiB of a redirect's body are read and discarded, so that its connection can be reused. A body that is
    /// longer, takes more than a second or is faulty is cancelled, and never fails the request. A transport that wraps
    /// another one therefore sees the bodies of redirects as streams, even if the request collects its body.
    ///
    /// - Parameters:
    ///   - request: The first request.
    ///   - policy: The redirects to follow.
    ///   - clock: Measures the total deadline and the time for reading unwanted bodies.
    /// - Throws: The failures of the transport for any hop, with the host of that hop; `redirectLimit`,
    ///   `redirectRefused` or `notReplayable` for a redirect that is not followed, and `protocolViolation` for one that
    ///   cannot be followed, with the host that sent it; `timeout` and `cancelled` between two hops.
    public func send(
        _ request: TransportRequest, following policy: RedirectPolicy, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(RequestFailure) -> RedirectedResponse {
        let record = ExchangeRecord(
            request, ExchangeRules(expectedStatus: .any, redirects: policy), id: RequestID(service: 0, number: 0),
            environment: nil, cancellation: Cancellation())
        let stage = RedirectStage(clock: clock, next: RemainingStages(TransportStage(transport: self)))
        let response = try await stage.send(record.request, record)
        // If the request is sent again, the body of its response comes as its own options say.
        record.lastRequest.unwantedBodies = []
        return RedirectedResponse(response: response, request: record.lastRequest, history: record.hops)
    }
}

/// A response, and the redirects that led to it.
///
/// ```swift
/// let redirected = try await transport.send(request, following: .standard)
/// redirected.request.url                            // where the response came from
/// redirected.history.count                          // how many redirects were followed
/// ```
public struct RedirectedResponse: Sendable {
    /// The last response. It is a redirect itself if the policy did not follow it.
    public let response: TransportResponse
    /// The request of the last hop, with the options of the first one.
    public let request: TransportRequest
    /// The redirects that were followed, oldest first.
    public let history: [RedirectHop]

    /// Creates a response, for test doubles.
    public init(response: TransportResponse, request: TransportRequest, history: [RedirectHop] = []) {
        self.response = response
        self.request = request
        self.history = history
    }
}
