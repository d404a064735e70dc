public import EssentialsHTTP
public import FoundationEssentials

/// A request with its encoded body and all of its header fields, from which an interceptor computes a signature.
///
/// ```swift
/// func sign(_ request: inout EncodedRequest) async throws {
///     let payload = if case .bytes(let bytes) = request.content { sha256(bytes) } else { "UNSIGNED-PAYLOAD" }
///     let canonical = [request.method.rawValue, String(request.url.path), request.host, payload]
///     request.headerFields[.authorization] = try key.signature(of: canonical.joined(separator: "\n"))
/// }
/// ```
///
/// The fields do not yet contain those that the transport adds: `Host` (see ``host``), `Content-Length` (see
/// ``content``) and `Accept-Encoding`. They do not contain the `Authorization` of Digest either, which is computed from
/// the signed URL.
public struct EncodedRequest: Sendable {
    /// The body. Bodies that are read only while they are sent show only their length.
    public enum Content: Sendable, Hashable {
        /// There is no body.
        case none
        /// The bytes that are sent.
        case bytes(Data)
        /// A file, a stream or a multipart body. The length is `nil` if it is unknown.
        case stream(length: Int?)
    }

    /// The method, which a redirect may have changed.
    public let method: HTTPRequest.Method
    /// The complete URL. After a redirect within the origin it is the target of the redirect.
    public private(set) var url: RequestURL
    /// All fields of the request, including the credentials and the fields of the environment and the service.
    ///
    /// Changes apply to this hop only, neither to the hop after a redirect nor to the resumption of a download.
    public var headerFields: HTTPFields
    /// The body.
    public let content: Content
    /// The environment at the time when the request was submitted.
    public let environment: EnvironmentSnapshot

    /// Creates a request, for tests of interceptors that sign.
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

    /// The value of the `Host` field (RFC 9110, 7.2), or of `:authority` in HTTP/2.
    public var host: String { url.origin.authority }

    /// Appends items to the query, for signatures that belong there.
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
    /// The properties for debuggers and `dump`, with field names instead of values, without query and body bytes.
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
    /// The kind and the size of the body, without its bytes.
    public var description: String {
        switch self {
        case .none: "no body"
        case .bytes(let bytes): RedactedText.size(of: bytes)
        case .stream(let length): length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Empty, so that the bytes are not shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
