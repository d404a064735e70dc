public import EssentialsHTTP
public import FoundationEssentials

/// The metadata of a resource's content: its media type, header fields, validators and times.
///
/// ```swift
/// let entity = user.state.entity
/// print(entity?.mediaType ?? "unknown", entity?.headerFields[.eTag] ?? "no tag")
/// ```
public struct Entity: Sendable {
    private final class Storage: Sendable {
        let mediaType: MediaType?
        let headerFields: HTTPFields
        let date: Date
        let byteCount: Int

        init(_ mediaType: MediaType?, _ headerFields: HTTPFields, _ date: Date, _ byteCount: Int) {
            self.mediaType = mediaType
            self.headerFields = headerFields
            self.date = date
            self.byteCount = byteCount
        }
    }

    private let storage: Storage

    /// Creates an entity.
    ///
    /// - Parameters:
    ///   - mediaType: The media type of the content.
    ///   - headerFields: The header fields of the response, including repeated ones.
    ///   - date: When the content was received or set.
    ///   - byteCount: The size of the body in bytes, which counts against the limit of the service's memory.
    public init(mediaType: MediaType?, headerFields: HTTPFields = [:], date: Date, byteCount: Int = 0) {
        storage = Storage(mediaType, headerFields, date, byteCount)
    }

    /// The media type; `nil` if the response had no `Content-Type`, or an invalid one.
    public var mediaType: MediaType? { storage.mediaType }
    /// The header fields of the response, including repeated ones. A 304 changes the fields that it contains
    /// ([RFC 9111, 3.2](https://www.rfc-editor.org/rfc/rfc9111#section-3.2)).
    public var headerFields: HTTPFields { storage.headerFields }
    /// When the content was received, confirmed or set, by the wall clock.
    public var date: Date { storage.date }
    /// The size of the body in bytes.
    public var byteCount: Int { storage.byteCount }
    /// The entity tag, byte for byte as the server sent it.
    public var entityTag: String? { headerFields[.eTag] }
    /// The value of `Last-Modified`.
    public var lastModified: String? { headerFields[.lastModified] }

    /// The entity after a 304 response. The fields of the response replace those of the same name, except fields that
    /// describe a body, because none was sent.
    func revalidated(by fields: HTTPFields, date: Date) -> Entity {
        let merged = headerFields.merged(with: fields) { HTTPFields.ofBody.contains($0) }
        return Entity(mediaType: mediaType, headerFields: merged, date: date, byteCount: byteCount)
    }

    /// The header field that makes a request conditional; `nil` without a validator.
    ///
    /// The entity tag is used if there is one, because dates have a resolution of one second
    /// ([RFC 9110, 13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1)).
    var condition: (name: HTTPField.Name, value: String)? { headerFields.condition }
}

extension Entity: CustomReflectable {
    /// The properties for debuggers and `dump`, with the names of header fields only.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "mediaType": mediaType as Any, "headerFields": headerFields.map(\.name.rawName), "date": date,
                "byteCount": byteCount,
            ])
    }
}
