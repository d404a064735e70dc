public import EssentialsHTTP

/// The result of a write: the head of the response, and the resource that it has created.
///
/// ```swift
/// let outcome = try await shop.orders.post(order)
/// let receipt = try outcome.content(as: Receipt.self)
/// let created: Resource<Order>? = outcome.location?.resource()
/// ```
public struct WriteOutcome: Sendable {
    private let value: LoadedValue
    private let codecs: CodecRegistry
    /// The resource at the `Location` of the response, which is usually the one that the write has created
    /// ([RFC 9110, 10.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.2)); `nil` without the field.
    public let location: AnyResource?

    init(_ value: LoadedValue, location: AnyResource?, _ codecs: CodecRegistry) {
        (self.value, self.location, self.codecs) = (value, location, codecs)
    }

    /// The status.
    public var status: HTTPResponse.Status { value.head.status }
    /// The header fields of the response.
    public var headerFields: HTTPFields { value.head.headerFields }

    /// Reads the body of the response, on the calling thread.
    ///
    /// - Throws: `decoding` if it cannot be read as the type, and `emptyBody` if there is none.
    public func content<Content: Sendable>(as type: Content.Type = Content.self) throws(RequestFailure) -> Content {
        guard let content = value.content(of: type, codecs) else {
            throw RequestFailure(
                .decoding, "The response is not a \(type).", remedy: "Read it as the type that it has.")
        }
        return try content.get()
    }
}

extension WriteOutcome: CustomReflectable {
    /// The properties for debuggers, `print` and `dump`. They contain only the names of header fields, no queries, and
    /// no bytes of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status, "headerFields": RedactedText.names(of: headerFields),
                "location": location?.description as Any, "body": value.body.map(RedactedText.size(of:)) as Any,
            ], displayStyle: .struct)
    }
}
