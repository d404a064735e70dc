/// How a write is sent.
///
/// ```swift
/// try await article.put(edited, .ifUnchanged)
/// try await photos.post(body: .data(bytes, type: MediaType("image/jpeg")), [.concurrent, .returningContent])
/// ```
public struct WriteOptions: OptionSet, Sendable, Hashable {
    /// The options as bits.
    public let rawValue: UInt8

    /// Creates options from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The server carries out the write only if no other client has changed the resource (`If-Match`,
    /// [RFC 9110, 13.1.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.1)).
    ///
    /// The content must have a strong entity tag. Otherwise the write fails as `invalidRequest` and sends nothing. The
    /// tag is that of the content at the call. If an earlier waiting write of the resource has changed the tag since,
    /// the new tag is sent. If another client has changed the resource, the write fails as `status` with the status
    /// 412, and a load of the resource is started.
    public static let ifUnchanged = WriteOptions(rawValue: 1)
    /// The write does not wait for earlier writes of the resource, and later ones do not wait for it.
    public static let concurrent = WriteOptions(rawValue: 2)
    /// Requests the new representation (`Prefer: return=representation`,
    /// [RFC 7240, 4.2](https://www.rfc-editor.org/rfc/rfc7240#section-4.2)), and takes the body of a 200 or 201
    /// response to PUT or PATCH as the new content, unless the response says otherwise.
    public static let returningContent = WriteOptions(rawValue: 4)
}
