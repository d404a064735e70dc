public import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A request as observers see it: without secrets.
///
/// ```swift
/// if case .sent(let request) = event.kind { print(request.method, request.url) }
/// ```
public struct ObservedRequest: Sendable, CustomStringConvertible, CustomReflectable {
    private struct Parts {
        let method: HTTPRequest.Method
        let bodySize: Int?
        let hasBody: Bool
        let urlTemplate: String?
        let target: RequestURL
        let fields: HTTPFields
        let redaction: Shared<Redaction>
    }

    /// It is an object, because an event is copied often.
    private let parts: Shared<Parts>

    /// The request without its body, which is not kept alive.
    init(_ request: TransportRequest, _ redaction: Shared<Redaction>, urlTemplate: String? = nil) {
        let bodySize: Int? =
            switch request.body.content {
            case .none: 0
            case .bytes(let data): data.count
            case .stream(let length, _, _): length
            }
        parts = Shared(
            Parts(
                method: request.method, bodySize: bodySize, hasBody: !request.body.isEmpty, urlTemplate: urlTemplate,
                target: request.url, fields: request.headerFields, redaction: redaction))
    }

    /// The method.
    public var method: HTTPRequest.Method { parts.values.method }
    /// The size of the body in bytes, 0 without one; `nil` if it is not known before it is sent.
    public var bodySize: Int? { parts.values.bodySize }
    /// Whether there is a body, which can be empty.
    var hasBody: Bool { parts.values.hasBody }
    /// The path with its values replaced; see ``DataRequest/urlTemplate``. `nil` if the request has none, and after a
    /// redirect to another path or origin.
    public var urlTemplate: String? { parts.values.urlTemplate }
    package var redaction: Redaction { parts.values.redaction.values }
    /// The URL as the redaction shows it.
    public var url: String { redaction.text(of: parts.values.target) }
    /// The origin.
    public var origin: Origin { parts.values.target.origin }
    /// The header fields in their order, with `…` as the value of a secret. Those that the transport itself adds, such as
    /// `Host`, are missing.
    public var headerFields: HTTPFields { redaction.shown(parts.values.fields) }
    /// The bytes of the URL, without its origin, and of the header fields.
    package var size: Int {
        parts.values.target.target.utf8.count + parts.values.fields.size
    }
    /// The method and the URL.
    public var description: String { "\(method.rawValue) \(url)" }
    /// The properties for debuggers and `dump`, also without secrets.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["method": method.rawValue, "url": url, "headerFields": headerFields.map(\.name.rawName)])
    }
}

/// An attempt that is about to be signed and sent, as observers that add fields see it.
///
/// ```swift
/// func fields(of attempt: ObservedAttempt) -> HTTPFields {
///     attempt.isOfEnvironment ? [traceID: attempt.call.id.description] : [:]
/// }
/// ```
public struct ObservedAttempt: Sendable {
    /// The call.
    public let call: RequestCall
    /// The number of the attempt, from 1.
    public let number: Int
    /// The request without signatures and without what observers add.
    public let request: ObservedRequest
    /// Whether the attempt goes to the origin of the call's environment. It does not after a redirect to another origin, and
    /// not if an interceptor has changed the origin.
    public let isOfEnvironment: Bool
}

/// A response as observers see it: without secrets, and without its body.
///
/// ```swift
/// if case .head(let response) = event.kind { print(response.status.code, response.metrics.firstByte ?? .zero) }
/// ```
public struct ObservedResponse: Sendable, CustomStringConvertible, CustomReflectable {
    let response: TransportResponse
    private let shownBy: Shared<Redaction>
    /// Whether the body is yet to come.
    public let isStreamed: Bool

    init(_ response: TransportResponse, _ redaction: Shared<Redaction>, isStreamed: Bool? = nil) {
        self.isStreamed = isStreamed ?? !response.body.isWhole
        self.response = response.withoutBody
        shownBy = redaction
    }

    package var redaction: Redaction { shownBy.values }
    /// The status.
    public var status: HTTPResponse.Status { response.status }
    /// The header fields in order of arrival, with `…` as the value of a secret.
    public var headerFields: HTTPFields { redaction.shown(response.headerFields) }
    /// The times and byte counts. Those of a streamed body are not complete.
    public var metrics: TransportMetrics { response.metrics }
    /// The connection, with what is known about the trust in it.
    public var connection: ConnectionFacts { response.connection }
    /// The bytes of the header fields.
    package var size: Int { response.headerFields.size }
    /// The status, and whether the body is streamed.
    public var description: String { "\(response.statusCode)\(isStreamed ? ", streamed" : "")" }
    /// The properties for debuggers and `dump`, also without secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": response.statusCode, "headerFields": headerFields.map(\.name.rawName),
                "isStreamed": isStreamed,
            ])
    }
}

/// A redirect as observers see it.
public struct ObservedRedirect: Sendable, Hashable {
    /// The status of the redirect.
    public let status: HTTPResponse.Status
    /// The URL that was redirected, as the redaction shows it.
    public let from: String
    /// The URL that follows, as the redaction shows it.
    public let to: String
    /// The method that follows.
    public let method: HTTPRequest.Method
    /// Whether the redirect leads to another origin, so that credentials are left out from here on.
    public let leavesOrigin: Bool

    init(_ hop: RedirectHop, _ redaction: Redaction) {
        (status, method, leavesOrigin) = (hop.status, hop.method, hop.leavesOrigin)
        (from, to) = (redaction.text(of: hop.from), redaction.text(of: hop.to))
    }
}

extension HTTPFields {
    /// The bytes of the names and values.
    fileprivate var size: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
}
