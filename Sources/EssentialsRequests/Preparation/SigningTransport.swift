import EssentialsHTTP
import Synchronization

/// Has interceptors sign one exchange's hops to the environment's origin.
///
/// It stands below the redirects, so that every hop is signed anew, and no signature goes to another origin: the redirect
/// stage never sees one. A chain that has left the origin is not signed when it returns: another server has chosen where
/// it leads.
final class SigningTransport: Transport {
    private let transport: any Transport
    private let interceptors: [any RequestInterceptor]
    private let environment: EnvironmentSnapshot
    private let body: RequestBody
    private let hasLeft = Atomic(false)

    /// - Parameter body: That of the first hop, before its progress was asked for, which makes a stream of bytes.
    init(
        _ transport: any Transport, interceptors: [any RequestInterceptor], environment: EnvironmentSnapshot,
        body: RequestBody
    ) {
        self.transport = transport
        self.interceptors = interceptors
        self.environment = environment
        self.body = body
    }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        if request.url.origin != environment.baseURL.origin { hasLeft.store(true, ordering: .relaxed) }
        guard !hasLeft.load(ordering: .relaxed) else { return try await transport.send(request) }
        var encoded = EncodedRequest(
            request.method, request.url, headerFields: request.headerFields,
            content: request.body.isEmpty ? .none : EncodedRequest.Content(body), environment: environment)
        for interceptor in interceptors {
            try await interceptor.run(host: encoded.url.origin.host.text) { try await $0.sign(&encoded) }
        }
        // The transport counts for itself.
        encoded.headerFields[.contentLength] = nil
        var signed = request
        signed.url = encoded.url
        signed.headerFields = encoded.headerFields
        return try await transport.send(signed)
    }

    func shutdown() async { await transport.shutdown() }
}

extension RequestInterceptor {
    /// Does one step, with what it throws as a failure.
    func run(
        host: String, _ step: (any RequestInterceptor) async throws -> Void
    ) async throws(RequestFailure) {
        do {
            try await step(self)
        } catch let failure as RequestFailure {
            throw failure
        } catch is CancellationError {
            throw RequestFailure(.cancelled, "The request was cancelled while it was prepared.", host: host)
        } catch {
            throw RequestFailure(
                .invalidRequest, "An interceptor (\(type(of: self))) refused the request.",
                remedy: "See the error below this one.", host: host, underlying: error)
        }
    }
}
