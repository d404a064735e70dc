/// One redirect in a chain of redirects.
///
/// ```swift
/// for hop in redirected.history { print(hop) }      // "301 https://example.com/old → GET https://example.com/new"
/// ```
public struct RedirectHop: Sendable, Hashable {
    /// The URL whose response is the redirect.
    public let from: RequestURL
    /// The status of the redirect.
    public let status: HTTPResponse.Status
    /// The target of the redirect.
    public let to: RequestURL
    /// The method of the request to the target.
    public let method: HTTPRequest.Method

    /// Creates a hop.
    public init(from: RequestURL, status: HTTPResponse.Status, to: RequestURL, method: HTTPRequest.Method) {
        self.from = from
        self.status = status
        self.to = to
        self.method = method
    }

    /// Whether scheme, host or port change, so that credentials are removed.
    public var leavesOrigin: Bool { from.origin != to.origin }
}

extension RedirectHop: CustomStringConvertible {
    /// A text for logs, without the queries.
    public var description: String { "\(status.code) \(from.redacted) → \(method.rawValue) \(to.redacted)" }
}

extension RedirectHop: CustomReflectable {
    /// The properties for debuggers and `dump`, without the queries.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["from": from.redacted, "status": status, "to": to.redacted, "method": method])
    }
}
