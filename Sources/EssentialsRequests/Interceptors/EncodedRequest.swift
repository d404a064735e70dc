public import EssentialsHTTP
public import FoundationEssentials

/// A request as it is about to travel: its body encoded, with all of its fields. What a signature is made of.
///
/// ```swift
/// func sign(_ request: inout EncodedRequest) async throws {
///     let payload = if case .bytes(let bytes) = request.content { sha256(bytes) } else { "UNSIGNED-PAYLOAD" }
///     let canonical = [request.method.rawValue, String(request.url.path), request.host, payload]
///     request.headerFields[.authorization] = try key.signature(of: canonical.joined(separator: "\n"))
/// }
/// ```
///
/// Not among the fields yet are those that the transport makes: `Host` (``host``), `Content-Length` (``content``) and
/// `Accept-Encoding`; and the `Authorization` of Digest, which is made of the URL after it was signed.
public struct EncodedRequest: Sendable {
    /// The body, as far as it can be seen without reading what is read only while it is sent.
    public enum Content: Sendable, Hashable {
        /// There is no body.
        case none
        /// These bytes, as they travel.
        case bytes(Data)
        /// A file, a stream or parts. Nil where nobody knows how many bytes there will be.
        case stream(length: Int?)
    }

    /// The method; after a redirect it may be another than the request was submitted with.
    public let method: HTTPRequest.Method
    /// The final URL. After a redirect within the origin, where that leads.
    public private(set) var url: RequestURL
    /// All fields of the request, credentials, the environment's and the service's included. What is changed here is sent
    /// in this hop alone: not after a redirect, not when a download is resumed.
    public var headerFields: HTTPFields
    /// The body.
    public let content: Content
    /// The environment that the request was submitted to.
    public let environment: EnvironmentSnapshot

    /// Makes one, for tests of what signs.
    public init(
        _ method: HTTPRequest.Method, _ url: RequestURL, headerFields: HTTPFields = [:], content: Content = .none,
        environment: EnvironmentSnapshot
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.content = content
        self.environment = environment
    }

    /// What the `Host` field will say (RFC 9110, 7.2), or `:authority` over HTTP/2.
    public var host: String { url.origin.authority }

    /// Adds to the query, at its end, for signatures that stand there.
    public mutating func append(query: QueryItems) {
        let text = query.encodedQuery
        if !text.isEmpty { url = url.appending(encodedQuery: text) }
    }
}

extension EncodedRequest.Content {
    init(_ body: RequestBody) {
        self =
            switch body.content {
            case .none: .none
            case .bytes(let bytes): .bytes(bytes)
            case .stream(let length, _, _): .stream(length: length)
            }
    }
}

extension EncodedRequest: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields, without the query and the body's bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": url.redacted, "headerFields": RedactedText.names(of: headerFields),
                "content": content, "environment": environment,
            ])
    }
}

extension EncodedRequest.Content: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body and its size, never its bytes.
    public var description: String {
        switch self {
        case .none: "no body"
        case .bytes(let bytes): RedactedText.size(of: bytes)
        case .stream(let length): length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Nothing, because ``description`` says all that may be shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
