/// A request as a transport sends it, with a full URL and all header fields.
///
/// ```swift
/// var request = TransportRequest(.post, try RequestURL("https://example.com/notes"))
/// request.headerFields[.contentType] = "text/plain"
/// request.body = .bytes(Data("hello".utf8))
/// let response = try await transport.send(request)
/// ```
public struct TransportRequest: Sendable {
    /// The method; any token (RFC 9110, 9).
    public var method: HTTPRequest.Method
    /// The URL that the request goes to.
    public var url: RequestURL
    /// The header fields. The transport sets `Host`, `Content-Length` and `Transfer-Encoding` itself.
    public var headerFields: HTTPFields
    /// The body.
    public var body: RequestBody
    /// Deadlines, limits, protocol and trust.
    public var options: TransportOptions
    /// The responses whose bodies are delivered as a stream even if the request collects its body.
    package var unwantedBodies: UnwantedBodies = []
    /// Whether processing the request twice has the same effect as once, so that the transport may repeat it on its own.
    /// `nil` means that the method decides (RFC 9110, 9.2.2).
    package var isIdempotent: Bool?
    /// Whether the request must not use a connection that another request has used.
    package var needsFreshConnection = false
    /// Whether the request goes to any server, so that no client certificate may be sent with it.
    package var isForAnyServer = false
    /// Raises the priority of the options while the request waits; `nil` if nobody does.
    package var raisablePriority: RaisablePriority?

    /// The host that the request goes to, for failures.
    package var hostText: String { url.origin.host.text }

    /// Creates a request.
    public init(
        _ method: HTTPRequest.Method = .get, _ url: RequestURL, headerFields: HTTPFields = HTTPFields(),
        body: RequestBody = .none, options: TransportOptions = TransportOptions()
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.options = options
    }

    /// Creates a request from an `HTTPRequest`.
    ///
    /// - Throws: `invalidRequest` if scheme or authority is missing, or if scheme, authority or path is invalid.
    public init(
        _ head: HTTPRequest, body: RequestBody = .none, options: TransportOptions = TransportOptions()
    )
        throws(RequestFailure)
    {
        guard let scheme = head.scheme, let authority = head.authority else {
            throw RequestFailure(
                .invalidRequest, "The request has no scheme or no authority.",
                remedy: "Set scheme, authority and path of the HTTPRequest.")
        }
        guard let known = Origin.Scheme(rawValue: scheme.lowercased()) else {
            throw RequestFailure(
                .invalidRequest, "The request's scheme “\(RequestFailure.shown(scheme))” is not supported.",
                remedy: "Use http or https, without “://”.")
        }
        let path = head.path ?? ""
        // Each part is parsed separately. In a joined text, the end of one part could become the beginning of the next.
        guard !authority.utf8.contains(where: { "/?#".utf8.contains($0) }), path.isEmpty || path.utf8.first == 0x2f
        else {
            throw RequestFailure(
                .invalidRequest, "The request's authority contains a path, or its path does not begin with “/”.",
                remedy: "Write the authority as host:port and the path as /path?query.")
        }
        let url = try RequestURL(origin: RequestURL("\(known.rawValue)://\(authority)").origin, path: path)
        self.init(head.method, url, headerFields: head.headerFields, body: body, options: options)
    }

    /// The request as an `HTTPRequest`, without body and options.
    public var head: HTTPRequest {
        HTTPRequest(
            method: method, scheme: url.origin.scheme.rawValue, authority: url.origin.authority, path: url.target,
            headerFields: headerFields)
    }
}

extension TransportRequest: CustomReflectable {
    /// The properties for debuggers and `dump`, with field names instead of values, without query and body bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": url.redacted, "headerFields": RedactedText.names(of: headerFields),
                "body": body, "options": options,
            ])
    }
}

/// Responses whose bodies the stage that sent the request may not want, because it acts on the status alone.
///
/// A transport may deliver these bodies as a stream although the request collects its body. The stage then collects a
/// body that it wants and drains any other. The length, pace and coding of a drained body do not matter.
package struct UnwantedBodies: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Redirects that can be followed: 301, 302, 303, 307 and 308.
    package static let ofRedirects = UnwantedBodies(rawValue: 1)
    /// Challenges: 401.
    package static let ofChallenges = UnwantedBodies(rawValue: 2)
    /// Refusals after which a request can be retried: 408, 421, 425, 429, 500, 502, 503 and 504.
    package static let ofRetries = UnwantedBodies(rawValue: 4)

    /// Whether the body of a response with this status may be unwanted.
    package func includes(status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: contains(.ofRedirects)
        case 401: contains(.ofChallenges)
        case 408, 421, 425, 429, 500, 502, 503, 504: contains(.ofRetries)
        default: false
        }
    }
}
