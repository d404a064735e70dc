public import EssentialsHTTP

extension Resource {
    /// The content as text. The charset is that of its media type, otherwise that of its byte order mark, otherwise
    /// UTF-8.
    ///
    /// ```swift
    /// let report: Resource<Report> = service.resource("report")
    /// let words = report.text.content?.split(separator: " ")
    /// let title = report.json.content?["title"]?.string
    /// ```
    ///
    /// It is a view like those of ``resource(as:)``: it shares the state and the loads, has its own failure, and sends
    /// nothing by itself. If it is first used after a load, it has content only if the body has at most 16 KiB.
    /// Otherwise it has no content, and its next load is sent without a condition.
    ///
    /// An unknown charset is a failure with the reason `decoding` and a remedy.
    public var text: Resource<String> { resource() }

    /// The content as any JSON: another view, like ``text``.
    ///
    /// Other media types give a failure with the reason `decoding`, except forms, which become objects of texts.
    public var json: Resource<JSONValue> { resource() }

    /// The format and the size of an image: another view, like ``text``. The bytes decide, regardless of the media
    /// type.
    ///
    /// ```swift
    /// let header = try await service.resource("logo", as: Data.self).imageHeader.loadIfNeeded()
    /// show("\(header.format), \(header.width) × \(header.height)")
    /// ```
    public var imageHeader: Resource<ImageHeader> { resource() }
}

extension AnyResource {
    /// The content as text; see ``Resource/text``.
    public var text: Resource<String> { resource() }

    /// The content as any JSON; see ``Resource/json``.
    public var json: Resource<JSONValue> { resource() }

    /// The format and the size of an image; see ``Resource/imageHeader``.
    public var imageHeader: Resource<ImageHeader> { resource() }
}
