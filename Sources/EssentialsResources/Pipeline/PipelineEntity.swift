public import EssentialsHTTP

/// A value on its way through the pipeline, with its metadata.
///
/// ```swift
/// $0.pipeline.transformEntity(at: .raw) { (entity: PipelineEntity<Data>) in
///     var entity = entity
///     entity.content = try decrypt(entity.content)
///     entity.mediaType = .json
///     return entity
/// }
/// ```
public struct PipelineEntity<Value: Sendable>: Sendable {
    /// The value.
    public var content: Value
    /// The media type. A response without one counts as `application/octet-stream`
    /// ([RFC 9110, 8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.3)).
    public var mediaType: MediaType
    /// The header fields of the response. Changed ones become part of the resource's ``Entity``.
    public var headerFields: HTTPFields
    /// The status of the response.
    public let status: HTTPResponse.Status

    /// The entity with another value.
    public func with<Other: Sendable>(_ content: Other) -> PipelineEntity<Other> {
        PipelineEntity<Other>(content: content, mediaType: mediaType, headerFields: headerFields, status: status)
    }
}

extension PipelineEntity: CustomReflectable {
    /// The properties for debuggers, `print` and `dump`, with the names of header fields only.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "content": content, "mediaType": mediaType, "headerFields": RedactedText.names(of: headerFields),
                "status": status,
            ])
    }
}
