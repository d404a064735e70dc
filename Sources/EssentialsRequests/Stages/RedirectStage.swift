public import EssentialsHTTP

/// Follows redirects over a transport, which itself does one hop.
///
/// ```swift
/// let redirected = try await RedirectStage().send(request, policy: .limit(3), through: transport)
/// let body = try await redirected.response.body.collect(upTo: 1_000_000)
/// ```
///
/// What depends on the URL, such as cookies, belongs below this stage, into the transport that it is given: fields of the
/// first request go to another origin only where the policy lets them. Callable from any task. A request that is not
/// redirected costs a comparison, and a look at the clock where it has a total deadline.
public struct RedirectStage: Sendable {
    /// One for all requests, so that none makes its own.
    static let standard = RedirectStage()

    private let clock: any Clock<Duration>

    /// Makes a stage.
    ///
    /// - Parameter clock: Measures what is left of a total deadline, and how long a body is read that nobody wants.
    public init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// Sends a request and follows what the policy allows.
    ///
    /// `totalTimeout` is for the whole chain, and each hop gets what is left of it; the other options are for each hop.
    /// Up to 64 KiB of a redirect's body are read and thrown away, so that its connection can be used again. A body
    /// that is longer, takes more than a second or is faulty is cancelled. It never fails the request, whether
    /// collected or streamed. A transport that wraps another one therefore sees the bodies of redirects as streams,
    /// even if the request collects its body.
    ///
    /// - Throws: what the transport throws for any hop, with that hop's host; `redirectLimit`, `redirectRefused`,
    ///   `notReplayable` for a redirect that is not followed, and `protocolViolation` for one that cannot be, with the
    ///   host that sent it; `timeout` and `cancelled` between two hops.
    public func send(
        _ request: TransportRequest, policy: RedirectPolicy = .standard, through transport: some Transport
    ) async throws(RequestFailure) -> RedirectedResponse {
        let deadline = deadline(of: request)
        var request = request
        request.unwantedBodies = policy.unwantedBodies
        let first = try await transport.send(request)
        return try await follow(first, to: request, deadline, policy: policy, through: transport)
    }

    /// The deadline for all that a request leads to; begins to count now.
    func deadline(of request: TransportRequest) -> SharedDeadline { SharedDeadline(of: request, clock: clock) }

    /// Follows what the policy allows of a first response.
    nonisolated(nonsending) func follow(
        _ first: TransportResponse, to request: TransportRequest, _ deadline: SharedDeadline, policy: RedirectPolicy,
        through transport: some Transport
    ) async throws(RequestFailure) -> RedirectedResponse {
        var response = first
        var current = request
        var history: [RedirectHop] = []
        while true {
            let outcome = RedirectRules.outcome(
                of: current, status: response.status, headerFields: response.headerFields, policy: policy,
                history: history)
            switch outcome {
            case .deliver:
                let delivered = try await Self.collected(response, for: current)
                // Whoever sends it again gets its body as the request says.
                current.unwantedBodies = []
                return RedirectedResponse(response: delivered, request: current, history: history)
            case .fail(let failure):
                Self.drop(response.body)
                throw failure
            case .follow(let next, let hop):
                await BodyDrain(clock: clock).drain(response.body)
                history.append(hop)
                current = next
                let redirects = history.count
                response = try await transport.send(
                    deadline.limited(
                        next, between: "two redirects", after: "it had been redirected \(redirects) times"))
            }
        }
    }

    /// Collects a body that came as a stream because its status could have made it unwanted.
    private static func collected(
        _ response: TransportResponse, for request: TransportRequest
    ) async throws(RequestFailure) -> TransportResponse {
        guard case .collected(let limit) = request.options.delivery, !response.body.isWhole else { return response }
        let data = try await response.body.collect(upTo: limit)
        let ending = response.body.ending
        // A transport in between that has read the stream left nothing of it.
        if data.isEmpty, let ending, ending.metrics.bodyBytesReceived > 0,
            !response.headerFields.contains(.contentEncoding)
        {
            throw RequestFailure(
                .invalidRequest, "The body of a redirect was read before it reached its stage.",
                remedy: "Have the transport that reads it return a response with the bytes that it has read.",
                phase: .receiving, host: request.url.origin.host.text)
        }
        return TransportResponse(
            response.head, body: ResponseBody(data), metrics: ending?.metrics ?? response.metrics,
            connection: response.connection, trailerFields: ending?.trailerFields ?? response.trailerFields,
            informational: response.informational)
    }

    private static func drop(_ body: ResponseBody) {
        if case .stream(let source) = body.content { source.cancel() }
    }
}

extension RedirectPolicy {
    /// The bodies that following this policy leaves unread.
    var unwantedBodies: UnwantedBodies { limit == nil ? [] : .ofRedirects }
}
