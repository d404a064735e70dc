public import EssentialsHTTP
public import FoundationEssentials

/// An entity as a cache stores it: the bytes after a stage of the pipeline, with what is known about them.
///
/// ```swift
/// let entity = StoredEntity(body: data, mediaType: "application/json", date: clock.date)
/// ```
public struct StoredEntity: Sendable, Hashable {
    /// The maximum size of the head that ``init(head:body:)`` reads: all that is stored beside the body.
    package static let maximumHead = 256 << 10

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

    /// The entity after the server has confirmed it. A confirmation of another entity changes nothing.
    public func revalidated(by confirmation: EntityConfirmation) -> StoredEntity {
        guard confirmation.confirms(headerFields) else { return self }
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
/// try await cache.revalidated(key, by: EntityConfirmation(date: clock.date, entityTag: "\"7\""))
/// ```
///
/// It names the entity that the server has confirmed by its validator
/// ([RFC 9111, 4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)), because another program can have stored a
/// later one meanwhile. ``StoredEntity/revalidated(by:)`` compares it.
public struct EntityConfirmation: Sendable, Hashable {
    /// The header fields.
    public var headerFields: HTTPFields
    /// When the confirmation was received.
    public var date: Date
    /// The age that it had then.
    public var age: Duration
    /// The entity tag of the entity that was confirmed; `nil` if it had none.
    public var entityTag: String?
    /// The value of `Last-Modified` of the entity that was confirmed, which counts for one without an entity tag. `nil` for
    /// both confirms the entity that is stored, whatever it is.
    public var lastModified: String?

    /// Creates a confirmation.
    public init(
        headerFields: HTTPFields = [:], date: Date, age: Duration = .zero, entityTag: String? = nil,
        lastModified: String? = nil
    ) {
        self.headerFields = headerFields
        self.date = date
        self.age = age
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Whether it confirms an entity with these header fields.
    func confirms(_ fields: HTTPFields) -> Bool {
        if let entityTag { return fields[.eTag] == entityTag }
        if let lastModified { return fields[.eTag] == nil && fields[.lastModified] == lastModified }
        return true
    }

    /// The sum of the confirmation and a later one. A later one of another entity is known better.
    package func adding(_ later: EntityConfirmation) -> EntityConfirmation {
        var confirmed = HTTPFields()
        confirmed[.eTag] = headerFields[.eTag] ?? entityTag
        confirmed[.lastModified] = headerFields[.lastModified] ?? lastModified
        guard later.confirms(confirmed) else { return later }
        var sum = later
        sum.headerFields = headerFields
        for name in Set(later.headerFields.map(\.name)) {
            sum.headerFields[fields: name] = later.headerFields[fields: name]
        }
        (sum.entityTag, sum.lastModified) = (entityTag, lastModified)
        return sum
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
