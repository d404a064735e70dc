import EssentialsHTTP

/// Lets the interceptors sign every hop to the environment's origin.
///
/// The stage is below the redirects, so every hop is signed again, and the redirect stage never sees a signature that
/// it could pass on. After a redirect to another origin nothing is signed.
final class SigningStage: Stage {
    let interceptors: [any RequestInterceptor]
    let next: RemainingStages

    init(interceptors: [any RequestInterceptor], next: RemainingStages) {
        self.interceptors = interceptors
        self.next = next
    }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let environment = record.environment, !record.hasLeftOrigin else {
            return try await next.send(request, record)
        }
        let unsigned = EncodedRequest(
            request.method, request.url, headerFields: request.headerFields,
            content: request.body.isEmpty ? .none : EncodedRequest.Content(record.rules.body),
            environment: environment)
        let host = request.hostText
        let encoded = try await record.cancellation.runTask(host: host) {
            [interceptors] () throws(RequestFailure) in
            var encoded = unsigned
            for interceptor in interceptors {
                try await interceptor.run(host: host) { try await $0.sign(&encoded) }
            }
            return encoded
        }
        if encoded.url != unsigned.url || encoded.headerFields != unsigned.headerFields { record.wasSigned = true }
        var signed = request
        signed.url = encoded.url
        signed.headerFields = encoded.headerFields
        // The transport sets the length of the body itself.
        signed.headerFields[.contentLength] = nil
        let limited = try record.deadline.limited(
            signed, between: "its signing and its sending", after: "it had been signed")
        return try await next.send(limited, record)
    }
}

extension RequestInterceptor {
    /// Runs one step and converts its error to a `RequestFailure`.
    func run(
        host: String, _ step: (any RequestInterceptor) async throws -> Void
    ) async throws(RequestFailure) {
        do {
            try await step(self)
        } catch let failure as RequestFailure {
            throw failure
        } catch is CancellationError {
            throw RequestFailure(.cancelled, "The request was cancelled while it was being prepared.", host: host)
        } catch {
            throw RequestFailure(
                .invalidRequest, "The interceptor \(type(of: self)) refused the request.",
                remedy: "See the underlying error.", host: host, underlying: error)
        }
    }
}
