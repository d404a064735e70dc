import EssentialsHTTP
import FoundationEssentials

/// Makes the failure of a request whose response ends it: because of its status, or because of an interceptor.
struct StatusFailure: Sendable {
    /// The maximum number of bytes of an unexpected response's streamed body that a failure keeps.
    static let bodyLimit = 64 << 10

    private let request: TransportRequest
    private let rules: ExchangeRules
    private let remedy: String?

    /// - Parameters:
    ///   - request: The request of the hop.
    ///   - record: The state of the request.
    init(_ request: TransportRequest, _ record: ExchangeRecord) {
        self.request = request
        rules = record.rules
        remedy = record.remedy
    }

    /// The failure for a status that the request does not expect.
    func failure(_ response: FailedResponse) -> RequestFailure {
        let (read, underlying) = withModel(response)
        return RequestFailure(
            .status, message(read), remedy: remedy(for: read), phase: .receiving, host: request.hostText,
            response: read, underlying: underlying)
    }

    /// The failure for a response that an interceptor replaced with an error, whether or not its status is expected.
    func failure(
        _ response: FailedResponse?, thrownBy interceptor: any RequestInterceptor, _ error: any Error
    ) -> RequestFailure {
        guard var response else {
            return RequestFailure(
                .status, "The interceptor \(type(of: interceptor)) ended the request.",
                remedy: remedy, host: request.hostText, underlying: error)
        }
        if !rules.expectedStatus.contains(response.head.status.code) { response = withModel(response).0 }
        return RequestFailure(
            .status, "\(message(response)) The interceptor \(type(of: interceptor)) ended the request.",
            remedy: remedy(for: response), phase: .receiving, host: request.hostText, response: response,
            underlying: error)
    }

    /// What to try, if it is more specific than the remedy of the reason `status`.
    private func remedy(for response: FailedResponse) -> String? {
        remedy ?? PlaintextComplaint.remedy(for: response, to: request)
    }

    private func message(_ response: FailedResponse) -> String {
        let status = response.head.status
        let phrase = status.registeredPhrase ?? status.reasonPhrase
        let shown = phrase.isEmpty ? "\(status.code)" : "\(status.code) \(phrase)"
        return "\(request.method.rawValue) \(request.url.redacted) returned the status \(shown)."
    }

    /// The response with its body decoded as the error model of the request or the service, or the reason why the body
    /// could not be decoded.
    private func withModel(_ response: FailedResponse) -> (FailedResponse, RequestFailure?) {
        guard let errorModel = rules.errorModel, !response.body.isEmpty else { return (response, nil) }
        var response = response
        do throws(RequestFailure) {
            response.model = try model(errorModel, of: response)
            return (response, nil)
        } catch {
            return (response, error)
        }
    }

    private func model<Model: Decodable & Sendable>(
        _ type: Model.Type, of failed: FailedResponse
    ) throws(RequestFailure) -> any Sendable {
        try rules.codecs.decode(
            type, from: failed.body, contentType: failed.head.headerFields[.contentType], response: failed.head,
            method: request.method, host: request.hostText)
    }
}
