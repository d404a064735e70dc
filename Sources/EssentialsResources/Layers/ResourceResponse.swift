public import EssentialsHTTP

/// The result of a resource's request: the content, and the head of the response.
///
/// ```swift
/// let request: ResourceRequest<Receipt> = cart.request(.post, body: .model(order))
/// let response = try await request.start().response
/// print(response.status, response.headerFields[.location] ?? "none")
/// ```
public struct ResourceResponse<Content: Sendable>: Sendable {
    /// The content.
    public var content: Content
    /// The status. With 304, the content is the content that already existed.
    public var status: HTTPResponse.Status
    /// The header fields of the response.
    public var headerFields: HTTPFields

    /// Creates a response.
    public init(_ content: Content, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:]) {
        self.content = content
        self.status = status
        self.headerFields = headerFields
    }

    /// Whether the server has confirmed the existing content.
    public var isNotModified: Bool { status == .notModified }
}

extension ResourceResponse: CustomReflectable {
    /// The properties for debuggers, `print` and `dump`, with the names of header fields only.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["content": content, "status": status, "headerFields": RedactedText.names(of: headerFields)],
            displayStyle: .struct)
    }
}

extension LoadOutcome {
    /// The outcome as the result of a request for content of a type.
    func result<Content: Sendable>(
        of type: Content.Type, _ codecs: CodecRegistry
    ) -> Result<ResourceResponse<Content>, RequestFailure> {
        Result { () throws(RequestFailure) in
            let content = try content(of: type, codecs)
            switch self {
            case .failed(let failure): throw failure
            case .notModified(_, let fields):
                return ResourceResponse(content, status: .notModified, headerFields: fields)
            case .loaded(let value, _):
                return ResourceResponse(content, status: value.head.status, headerFields: value.head.headerFields)
            }
        }
    }
}
