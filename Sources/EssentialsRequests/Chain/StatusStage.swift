import EssentialsHTTP
import FoundationEssentials

/// The outermost stage: it throws the failure `status` for a status that the request does not expect.
struct StatusStage: Stage {
    /// The maximum number of bytes of an unexpected response's streamed body that a failure keeps.
    static let failedBodyLimit = 64 << 10

    let codecs: CodecRegistry
    let next: any Stage

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        let response = try await next.send(request, record)
        if record.rules.expectedStatus.contains(response.statusCode) { return response }
        let failure = await failure(for: response, record)
        // A cancellation may have cut the body short.
        try record.cancellation.check(host: request.hostText)
        throw failure
    }

    private func failure(for response: TransportResponse, _ record: ExchangeRecord) async -> RequestFailure {
        let request = record.lastRequest
        let body = await record.cancellation.whileReading(response.body) { body in
            await body.beginning(upTo: Self.failedBodyLimit)
        }
        var failed = FailedResponse(head: response.head, body: body)
        var underlying: RequestFailure?
        if let errorModel = record.rules.errorModel, !body.isEmpty {
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
            remedy: record.remedy ?? PlaintextComplaint.remedy(for: failed, to: request), phase: .receiving,
            host: request.hostText, response: failed, underlying: underlying)
    }

    /// Decodes the body as the error model of the request or the service.
    private func model<Model: Decodable & Sendable>(
        _ type: Model.Type, of failed: FailedResponse, to request: TransportRequest
    ) throws(RequestFailure) -> any Sendable {
        try codecs.decode(
            type, from: failed.body, contentType: failed.head.headerFields[.contentType], response: failed.head,
            method: request.method, host: request.hostText)
    }
}
