import EssentialsHTTP
import Synchronization

/// Answers the Digest challenges to one exchange's hops to the environment's origin.
///
/// A hop is sent at most three times: without an answer or with one in advance; with the answer to the challenge; and
/// once more when its nonce was stale. It stands below the redirects, so that each hop has an answer of its own, and none
/// goes to another origin; a chain that has left the origin gets none when it returns: another server has chosen where it
/// leads. A hop that has an `Authorization` keeps it. Challenges that are all weaker than the credentials' minimum end the
/// exchange as `authorization`.
final class DigestTransport: CancellableTransport {
    private let transport: any Transport
    /// The same, if it can be told to end a request.
    private let cancellable: (any CancellableTransport)?
    private let session: DigestSession
    private let origin: Origin
    private let body: RequestBody
    private let clock: any Clock<Duration>
    private let hasLeft = Atomic(false)

    /// - Parameters:
    ///   - origin: Who is answered.
    ///   - body: That of the first hop, before its progress was asked for, which makes a stream of bytes.
    init(
        _ transport: any Transport, cancellable: (any CancellableTransport)?, session: DigestSession, origin: Origin,
        body: RequestBody, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.transport = transport
        self.cancellable = cancellable
        self.session = session
        self.origin = origin
        self.body = body
        self.clock = clock
    }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await exchange(request) { request throws(RequestFailure) in try await transport.send(request) }
    }

    func send(
        _ request: TransportRequest, register: (_ cancel: @escaping @Sendable () -> Void) -> Void
    ) async throws(RequestFailure) -> TransportResponse {
        guard let cancellable else { return try await send(request) }
        // Each sending names what cancels it; a request that was cancelled between two ends with the second's beginning.
        return try await exchange(request) { request throws(RequestFailure) in
            try await cancellable.send(request, register: register)
        }
    }

    func shutdown() async { await transport.shutdown() }

    private func exchange(
        _ request: TransportRequest,
        _ send: (TransportRequest) async throws(RequestFailure) -> TransportResponse
    ) async throws(RequestFailure) -> TransportResponse {
        if request.url.origin != origin { hasLeft.store(true, ordering: .relaxed) }
        guard !hasLeft.load(ordering: .relaxed), request.headerFields[.authorization] == nil else {
            return try await send(request)
        }
        let deadline = SharedDeadline(of: request, clock: clock)
        var request = request
        request.unwantedBodies.insert(.ofChallenges)
        let asked = asked(request)
        var attempt = session.begin(asked)
        var response = try await send(session.authorized(request, attempt, asked))
        while response.status == .unauthorized {
            let next = session.next(
                after: attempt, answeredWith: response.headerFields, asked, isReplayable: request.body.isReplayable)
            guard let next else {
                if let failure = await session.weakness(of: response, to: asked) { throw failure }
                return response
            }
            attempt = next
            await BodyDrain(clock: clock).drain(response.body)
            let limited = try deadline.limited(
                request, between: "a challenge and its answer", after: "it had been answered with a challenge")
            response = try await send(session.authorized(limited, attempt, asked))
        }
        session.accepted(attempt, response)
        return response
    }

    /// Of a redirect that leaves the body behind there is none.
    private func asked(_ request: TransportRequest) -> DigestRequest {
        DigestRequest(request.method, target: request.url.target, body: request.body.isEmpty ? .none : body)
    }

    /// What to try when a status was not expected; nil where that has nothing to do with challenges.
    func remedy(for response: TransportResponse, to request: TransportRequest) -> String? {
        guard response.status == .unauthorized, !hasLeft.load(ordering: .relaxed) else { return nil }
        return session.remedy(
            for: response.headerFields, asked(request), isReplayable: request.body.isReplayable)
    }
}
