/// One step of a chain of redirects.
///
/// ```swift
/// for hop in redirected.history { print(hop) }      // "301 https://example.com/old → GET https://example.com/new"
/// ```
public struct RedirectHop: Sendable, Hashable {
    /// The URL that was answered with the redirect.
    public let from: RequestURL
    /// The redirect's status.
    public let status: HTTPResponse.Status
    /// The URL that it leads to.
    public let to: RequestURL
    /// The method with which that URL is requested.
    public let method: HTTPRequest.Method

    /// Makes a hop.
    public init(from: RequestURL, status: HTTPResponse.Status, to: RequestURL, method: HTTPRequest.Method) {
        self.from = from
        self.status = status
        self.to = to
        self.method = method
    }

    /// Whether scheme, host or port change, so that no credentials go along.
    public var leavesOrigin: Bool { from.origin != to.origin }
}

extension RedirectHop: CustomStringConvertible {
    /// The text that logs show; queries are hidden.
    public var description: String { "\(status.code) \(from.redacted) → \(method.rawValue) \(to.redacted)" }
}

extension RedirectHop: CustomReflectable {
    /// The properties above, for debuggers and `dump`; queries are hidden.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["from": from.redacted, "status": status, "to": to.redacted, "method": method])
    }
}
