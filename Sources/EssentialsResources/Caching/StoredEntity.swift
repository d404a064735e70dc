public import EssentialsHTTP
public import FoundationEssentials

/// An entity as a cache stores it: the bytes after a stage of the pipeline, with what is known about them.
///
/// ```swift
/// let entity = StoredEntity(body: data, mediaType: "application/json", date: clock.date)
/// ```
public struct StoredEntity: Sendable, Hashable {
    /// The maximum size of the head that ``init(head:body:)`` reads: all that is stored beside the body.
    static let maximumHead = 256 << 10

    /// The bytes.
    public var body: Data
    /// The media type as the value of `Content-Type`; `nil` if there was none.
    public var mediaType: String?
    /// The status of the response.
    public var status: Int
    /// The header fields that are kept, with repeated ones.
    public var headerFields: HTTPFields
    /// When the response was received or confirmed, by the wall clock, because the entity outlives the process.
    public var date: Date
    /// The age that the response had then, because a cache had stored it.
    public var age: Duration

    /// Creates an entity.
    public init(
        body: Data, mediaType: String? = nil, status: Int = 200, headerFields: HTTPFields = [:], date: Date,
        age: Duration = .zero
    ) {
        self.body = body
        self.mediaType = mediaType
        self.status = status
        self.headerFields = headerFields
        self.date = date
        self.age = age
    }

    /// The entity after the server has confirmed it.
    public func revalidated(by confirmation: EntityConfirmation) -> StoredEntity {
        var entity = self
        for name in Set(confirmation.headerFields.map(\.name)) {
            entity.headerFields[fields: name] = confirmation.headerFields[fields: name]
        }
        entity.date = confirmation.date
        entity.age = confirmation.age
        return entity
    }

    /// The approximate size in memory.
    public var byteCount: Int {
        headerFields.reduce(body.count + (mediaType?.utf8.count ?? 0) + 128) {
            $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 32
        }
    }
}

/// The confirmation that a stored entity has not changed (304): new times, and the header fields that replace those of
/// the same name ([RFC 9111, 3.2](https://www.rfc-editor.org/rfc/rfc9111#section-3.2)).
///
/// ```swift
/// try await cache.revalidated(key, by: EntityConfirmation(date: clock.date))
/// ```
public struct EntityConfirmation: Sendable, Hashable {
    /// The header fields.
    public var headerFields: HTTPFields
    /// When the confirmation was received.
    public var date: Date
    /// The age that it had then.
    public var age: Duration

    /// Creates a confirmation.
    public init(headerFields: HTTPFields = [:], date: Date, age: Duration = .zero) {
        self.headerFields = headerFields
        self.date = date
        self.age = age
    }
}

extension StoredEntity: CustomReflectable {
    /// The properties for debuggers and `dump`, without the values of header fields and the bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "body": body.count, "mediaType": mediaType as Any, "status": status,
                "headerFields": headerFields.map(\.name.rawName), "date": date, "age": age,
            ])
    }
}

extension EntityConfirmation: CustomReflectable {
    /// The properties for debuggers and `dump`, with the names of header fields only.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["headerFields": RedactedText.names(of: headerFields), "date": date, "age": age])
    }
}
