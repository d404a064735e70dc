import EssentialsHTTP
import FoundationEssentials

/// One request's way to the transport and back: the chain of stages.
struct HTTPExchange: Sendable {
    /// The most bytes of an unexpected response's streamed body that a failure keeps.
    static let failedBodyLimit = 64 << 10

    let codecs: CodecRegistry
    /// What answers challenges, as a part of the transport.
    var digest: DigestTransport?

    /// Sends a request and judges the status of its answer.
    ///
    /// The stages from the outside in: the status is judged, redirects are followed, and what is below them is the
    /// transport. A stage that has to see every hop, such as cookies, stands between redirects and transport, as a
    /// transport that wraps it, as ``DigestTransport`` does; one that has to see the whole, such as retries, around
    /// redirects.
    ///
    /// - Parameter transport: Does one hop.
    func send(
        _ request: TransportRequest, through transport: some Transport, redirects: RedirectPolicy,
        expected: StatusExpectation, errorModel: (any (Decodable & Sendable).Type)?
    ) async throws(RequestFailure) -> DataResponse {
        let deadline = RedirectStage.standard.deadline(of: request)
        var request = request
        request.unwantedBodies = redirects.unwantedBodies
        let first = try await transport.send(request)
        return try await finish(
            first, to: request, deadline, through: transport, redirects: redirects, expected: expected,
            errorModel: errorModel)
    }

    /// The same from the first hop's response on.
    nonisolated(nonsending) func finish(
        _ first: TransportResponse, to request: TransportRequest, _ deadline: SharedDeadline,
        through transport: some Transport, redirects: RedirectPolicy, expected: StatusExpectation,
        errorModel: (any (Decodable & Sendable).Type)?
    ) async throws(RequestFailure) -> DataResponse {
        let redirected = try await RedirectStage.standard.follow(
            first, to: request, deadline, policy: redirects, through: transport)
        let response = DataResponse(
            redirected.response, url: redirected.request.url, redirects: redirected.history)
        guard !expected.contains(response.status.code) else { return response }
        throw await failure(for: response, to: redirected.request, errorModel: errorModel)
    }

    private func failure(
        for response: DataResponse, to request: TransportRequest, errorModel: (any (Decodable & Sendable).Type)?
    ) async -> RequestFailure {
        let body = await response.body.beginning(upTo: Self.failedBodyLimit)
        var failed = FailedResponse(head: response.head, body: body)
        var underlying: RequestFailure?
        if let errorModel, !body.isEmpty {
            do throws(RequestFailure) {
                failed.model = try model(errorModel, of: failed, to: request)
            } catch {
                underlying = error
            }
        }
        let phrase = response.status.registeredPhrase ?? response.status.reasonPhrase
        let status = phrase.isEmpty ? "\(response.status.code)" : "\(response.status.code) \(phrase)"
        return RequestFailure(
            .status, "\(request.method.rawValue) \(request.url.redacted) was answered with the status \(status).",
            remedy: digest?.remedy(for: response.transportResponse, to: request), phase: .receiving,
            host: request.url.origin.host.text, response: failed, underlying: underlying)
    }

    /// The body as the model that the request or the service names for errors.
    private func model<Model: Decodable & Sendable>(
        _ type: Model.Type, of failed: FailedResponse, to request: TransportRequest
    ) throws(RequestFailure) -> any Sendable {
        try codecs.decode(
            type, from: failed.body, contentType: failed.head.headerFields[.contentType], response: failed.head,
            method: request.method, host: request.url.origin.host.text)
    }
}
