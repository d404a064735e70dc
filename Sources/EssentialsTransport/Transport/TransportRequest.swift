/// One request as a transport sends it: a full URL, nothing left to be filled in.
///
/// ```swift
/// var request = TransportRequest(.post, try RequestURL("https://example.com/notes"))
/// request.headerFields[.contentType] = "text/plain"
/// request.body = .bytes(Data("hello".utf8))
/// let response = try await transport.send(request)
/// ```
public struct TransportRequest: Sendable {
    private struct Parts {
        var method: HTTPRequest.Method
        var url: RequestURL
        var headerFields: HTTPFields
        var body: RequestBody
        var options: TransportOptions
        var unwantedBodies: UnwantedBodies = []
    }

    /// Every stage hands the request on, so that copies share what it is made of.
    private var parts: CopyOnWrite<Parts>

    /// The method; any token (RFC 9110, 9).
    public var method: HTTPRequest.Method {
        get { parts.value.method }
        _modify { yield &parts.value.method }
    }

    /// The host that it goes to, for failures.
    package var hostText: String { parts.value.url.origin.host.text }

    /// Where it goes.
    public var url: RequestURL {
        get { parts.value.url }
        _modify { yield &parts.value.url }
    }

    /// Its header fields. `Host`, `Content-Length` and `Transfer-Encoding` are the transport's.
    public var headerFields: HTTPFields {
        get { parts.value.headerFields }
        _modify { yield &parts.value.headerFields }
    }

    /// Its body.
    public var body: RequestBody {
        get { parts.value.body }
        _modify { yield &parts.value.body }
    }

    /// Deadlines, limits and protocol.
    public var options: TransportOptions {
        get { parts.value.options }
        _modify { yield &parts.value.options }
    }

    /// Which bodies come as a stream although the request collects them.
    package var unwantedBodies: UnwantedBodies {
        get { parts.value.unwantedBodies }
        _modify { yield &parts.value.unwantedBodies }
    }

    /// Makes a request.
    public init(
        _ method: HTTPRequest.Method = .get, _ url: RequestURL, headerFields: HTTPFields = HTTPFields(),
        body: RequestBody = .none, options: TransportOptions = TransportOptions()
    ) {
        parts = CopyOnWrite(
            Parts(method: method, url: url, headerFields: headerFields, body: body, options: options))
    }

    package init(
        _ method: HTTPRequest.Method, _ url: RequestURL, headerFields: HTTPFields, options: TransportOptions,
        unwantedBodies: UnwantedBodies
    ) {
        parts = CopyOnWrite(
            Parts(
                method: method, url: url, headerFields: headerFields, body: .none, options: options,
                unwantedBodies: unwantedBodies))
    }

    /// Makes a request from HTTPTypes' value.
    ///
    /// - Throws: `invalidRequest` when scheme or authority is missing, or one of scheme, authority and path is wrong.
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
                remedy: "Use http or https, without “://” and what follows it.")
        }
        let path = head.path ?? ""
        // Each is read by itself: joined as text, the end of one could become the beginning of the other.
        guard !authority.utf8.contains(where: { "/?#".utf8.contains($0) }), path.isEmpty || path.utf8.first == 0x2f
        else {
            throw RequestFailure(
                .invalidRequest, "The request's authority holds a path, or its path does not begin with “/”.",
                remedy: "Write the authority as host:port and the path as /path?query.")
        }
        let url = try RequestURL(origin: RequestURL("\(known.rawValue)://\(authority)").origin, path: path)
        self.init(head.method, url, headerFields: head.headerFields, body: body, options: options)
    }

    /// The same as HTTPTypes' value.
    public var head: HTTPRequest {
        HTTPRequest(
            method: method, scheme: url.origin.scheme.rawValue, authority: url.origin.authority, path: url.target,
            headerFields: headerFields)
    }
}

extension TransportRequest: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields, without the query and the body's bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": url.redacted, "headerFields": RedactedText.names(of: headerFields),
                "body": body, "options": options,
            ])
    }
}
