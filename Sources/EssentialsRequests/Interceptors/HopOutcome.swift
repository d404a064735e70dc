public import EssentialsHTTP
public import FoundationEssentials

/// The outcome of one hop of a request, which interceptors receive: a response or a failure.
///
/// ```swift
/// func received(_ outcome: HopOutcome) async throws {
///     guard outcome.status == .unprocessableContent, let body = outcome.body else { return }
///     throw try JSONDecoder().decode(InvalidInput.self, from: body)
/// }
/// ```
///
/// If a response came, ``status``, ``metrics`` and ``connection`` are present. Otherwise ``failure`` is the reason.
/// Both are present if another interceptor has already replaced the response with a failure.
public struct HopOutcome: Sendable {
    /// The method, which a redirect may have changed.
    public let method: HTTPRequest.Method
    /// The URL of the hop, without the signature of an interceptor.
    public let url: RequestURL
    /// The environment at the time when the request was submitted.
    public let environment: EnvironmentSnapshot
    /// The number of the hop, from 1. It is 2 after the first redirect.
    public let hop: Int
    /// How many times the request was passed to the transport so far, over all hops. It is 0 if the hop failed before that.
    public let attempt: Int
    /// Whether the response is a redirect that the request's policy can follow. Its body is not read.
    public let isRedirect: Bool
    /// Whether the request accepts the response: it expects the status, or ``isRedirect`` is `true`. It is `false` if
    /// no response came.
    public let isExpected: Bool
    /// Whether the response comes from the response cache, so that it has no metrics and no connection.
    public let isFromCache: Bool
    /// The collected body; `nil` if there is no response, and for bodies that interceptors must not read: those of
    /// expected streamed responses and of redirects. For an unexpected streamed response, it is the first 64 KiB.
    public let body: Data?
    /// The failure that ends the request if no interceptor replaces it; `nil` if there is none. A status that the
    /// request does not expect becomes a failure only later.
    public internal(set) var failure: RequestFailure?
    /// The response without its body.
    private let response: TransportResponse?
    private let id: RequestID?

    /// The status; `nil` if no response came.
    public var status: HTTPResponse.Status? { response?.status }
    /// The header fields in order of arrival; empty if no response came.
    public var headerFields: HTTPFields { response?.headerFields ?? [:] }
    /// Times and byte counts of the hop's last attempt; `nil` if no response came. Those of a streamed response end
    /// with its head.
    public var metrics: TransportMetrics? { response?.metrics }
    /// The connection of the hop's last attempt; `nil` if no response came. It is created at each access.
    public var connection: ConnectionFacts? { response?.connection }
    /// The `request-id` of the request's log messages, for an interceptor's own messages. It is empty in an outcome
    /// that a test has created.
    public var requestID: String { id?.description ?? "" }
}

extension HopOutcome {
    init(
        _ request: TransportRequest, _ environment: EnvironmentSnapshot,
        _ result: Result<TransportResponse, RequestFailure>, _ record: ExchangeRecord
    ) {
        let response = try? result.get()
        let isRedirect = response.map(record.rules.redirects.mayFollow) ?? false
        var failure: RequestFailure?
        if case .failure(let reason) = result { failure = reason }
        self.init(
            method: request.method, url: request.url, environment: environment, hop: record.hops.count + 1,
            attempt: record.attempts, isRedirect: isRedirect,
            isExpected: isRedirect || response.map { record.rules.expectedStatus.contains($0.statusCode) } ?? false,
            isFromCache: record.isFromCache, body: isRedirect ? nil : response?.body.data, failure: failure,
            response: response?.withoutBody, id: record.id)
    }

    /// Creates an outcome with a response, for tests of interceptors.
    public init(
        _ method: HTTPRequest.Method, _ url: RequestURL, environment: EnvironmentSnapshot, response: DataResponse,
        isExpected: Bool = true, isRedirect: Bool = false, isFromCache: Bool = false, hop: Int = 1, attempt: Int = 1
    ) {
        self.init(
            method: method, url: url, environment: environment, hop: hop, attempt: attempt, isRedirect: isRedirect,
            isExpected: isExpected, isFromCache: isFromCache, body: response.body.data, failure: nil,
            response: response.transportResponse.withoutBody, id: nil)
    }

    /// Creates an outcome without a response, for tests of interceptors.
    public init(
        _ method: HTTPRequest.Method, _ url: RequestURL, environment: EnvironmentSnapshot, failure: RequestFailure,
        hop: Int = 1, attempt: Int = 1
    ) {
        self.init(
            method: method, url: url, environment: environment, hop: hop, attempt: attempt, isRedirect: false,
            isExpected: false, isFromCache: false, body: nil, failure: failure, response: nil, id: nil)
    }
}

extension TransportResponse {
    /// The response without its body, so that it can be kept without keeping a stream.
    var withoutBody: TransportResponse {
        var response = self
        response.body = ResponseBody(Data())
        return response
    }
}

extension HopOutcome: CustomReflectable {
    /// The properties for debuggers and `dump`, with field names instead of values, without query and body bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": url.redacted, "environment": environment, "hop": hop, "attempt": attempt,
                "status": status as Any, "headerFields": RedactedText.names(of: headerFields),
                "body": body.map(RedactedText.size) as Any, "isRedirect": isRedirect, "isExpected": isExpected,
                "isFromCache": isFromCache, "failure": failure as Any, "metrics": metrics as Any,
                "connection": connection as Any, "requestID": requestID,
            ])
    }
}
