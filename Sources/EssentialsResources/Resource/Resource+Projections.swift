public import EssentialsHTTP

extension Resource {
    /// The content as text, in the charset of its media type, or else in that of its byte order mark or UTF-8.
    ///
    /// ```swift
    /// let report: Resource<Report> = service.resource("report")
    /// let words = report.text.content?.split(separator: " ")
    /// let title = report.json.content?["title"]?.string
    /// ```
    ///
    /// It is a view like those of ``resource(as:)``: it shares the state and the loads, has its own failure, and sends
    /// nothing by itself. If it is used for the first time after a load, it has content if the body has at most 16 KiB.
    /// Otherwise it has none, and its next load asks the server without a condition.
    ///
    /// An unknown charset is a failure with the reason `decoding`, which says what to try.
    public var text: Resource<String> { resource() }

    /// The content as any JSON: another view, like ``text``.
    ///
    /// Other media types give a failure with the reason `decoding`, except forms, which become objects of texts.
    public var json: Resource<JSONValue> { resource() }

    /// The format and the size of an image: another view, like ``text``. The bytes decide, whatever the media type is.
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
