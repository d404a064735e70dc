public import EssentialsHTTP
import FoundationEssentials

/// A request as observers see it: without secrets.
///
/// ```swift
/// if case .sent(let request) = event.kind { print(request.method, request.url) }
/// ```
public struct ObservedRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The size of the body in bytes, 0 without one; `nil` if it is not known before it is sent.
    public let bodySize: Int?
    /// Whether there is a body, which can be empty.
    let hasBody: Bool
    /// The path with its values replaced; see ``DataRequest/urlTemplate``. `nil` if the request has none, and after a redirect.
    public let urlTemplate: String?
    private let target: RequestURL
    private let fields: HTTPFields
    package let redaction: Redaction

    /// The request without its body, which is not kept alive.
    init(_ request: TransportRequest, _ redaction: Redaction, urlTemplate: String? = nil) {
        self.urlTemplate = urlTemplate
        (method, target, fields) = (request.method, request.url, request.headerFields)
        hasBody = !request.body.isEmpty
        switch request.body.content {
        case .none: bodySize = 0
        case .bytes(let data): bodySize = data.count
        case .stream(let length, _, _): bodySize = length
        }
        self.redaction = redaction
    }

    /// The URL as the redaction shows it.
    public var url: String { redaction.text(of: target) }
    /// The origin.
    public var origin: Origin { target.origin }
    /// The header fields in their order, with `…` as the value of a secret. Those that the transport itself adds, such as
    /// `Host`, are missing.
    public var headerFields: HTTPFields { redaction.shown(fields) }
    /// The bytes of the URL, without its origin, and of the header fields.
    package var size: Int { target.path.utf8.count + (target.query?.utf8.count ?? 0) + fields.size }
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
    package let redaction: Redaction
    /// Whether the body is yet to come.
    public let isStreamed: Bool

    init(_ response: TransportResponse, _ redaction: Redaction, isStreamed: Bool? = nil) {
        self.isStreamed = isStreamed ?? !response.body.isWhole
        self.response = response.withoutBody
        self.redaction = redaction
    }

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
