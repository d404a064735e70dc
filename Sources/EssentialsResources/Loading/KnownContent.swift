import EssentialsHTTP
import EssentialsTools

/// The content that a load already has, so that an unchanged body is not read again. A response without a body names
/// the content that it confirms in the same form.
enum KnownContent: Sendable {
    /// A validator of the content, which is sent as a conditional header field.
    case validator(name: HTTPField.Name, value: String)
    /// The response cache's name for the body. The cache validates its stored responses by itself.
    case body(UInt64)

    /// The condition of a request that was sent; `nil` if it has none. An entity tag takes precedence over a date
    /// ([RFC 9110, 13.1.3](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.3)).
    init?(sent fields: HTTPFields) {
        guard
            let name = [HTTPField.Name.ifNoneMatch, .ifModifiedSince].first(where: { fields[$0] != nil }),
            let value = fields[name]
        else { return nil }
        self = .validator(name: name, value: value)
    }

    /// The header field that makes the request conditional.
    var condition: (name: HTTPField.Name, value: String)? {
        if case .validator(let name, let value) = self { (name, value) } else { nil }
    }

    /// The body that need not be read again.
    var body: UInt64? {
        if case .body(let body) = self { body } else { nil }
    }
}

/// The response cache's name for the body of a resource's content. This is an object, so that resources without one
/// take little space.
final class KnownBody: Sendable {
    let body: UInt64
    /// The version of the content that was read from the body. Later content has another source.
    let contentVersion: UInt64

    init(body: UInt64, contentVersion: UInt64) { (self.body, self.contentVersion) = (body, contentVersion) }
}

extension ResourceCore {
    /// The content that the next request may name in a condition; `nil` unless all views have the server's content.
    /// Otherwise a 304 could confirm content that the server has never sent.
    func knownContent(hasResponseCache: Bool) -> KnownContent? {
        contents.withLock { contents -> KnownContent? in
            guard contents.isKnownToViews, !contents.views.isEmpty else { return nil }
            return hasResponseCache ? contents.body.map { .body($0) } : contents.validator
        }
    }
}

extension ResourceCore.Contents {
    /// Whether all views have the server's content. A view that could not read it counts as well, because it could not
    /// read an unchanged body the next time either.
    var isKnownToViews: Bool { facts.isOfServer && views.allSatisfy(\.snapshot.isRead) }

    /// The validator of the content.
    fileprivate var validator: KnownContent? {
        facts.entity?.condition.map { .validator(name: $0.name, value: $0.value) }
    }

    /// The response cache's name for the body of the content.
    fileprivate var body: UInt64? {
        knownBody.flatMap { $0.contentVersion == facts.contentVersion ? $0.body : nil }
    }

    /// Whether a response without a body confirms the current content. The content must still have the validator that
    /// was sent, and the response must not have another strong entity tag
    /// ([RFC 9111, 4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)). Otherwise the content may have
    /// changed since the request was sent.
    func isConfirmed(by confirmation: ResourceExchange.Confirmation) -> Bool {
        guard isKnownToViews else { return false }
        switch confirmation.subject {
        case .body(let body): return body == self.body
        case .validator(let name, let value):
            guard let present = validator?.condition, present == (name, value) else { return false }
            return facts.entity?.hasOtherTag(than: confirmation.headerFields) == false
        case nil: return false
        }
    }
}

extension Entity {
    /// Whether header fields have a strong entity tag that differs from the entity's. The `W/` of the entity's tag is
    /// ignored: servers that compress bodies often make the tag of the whole response weak, but not that of a 304.
    fileprivate func hasOtherTag(than fields: HTTPFields) -> Bool {
        guard let entityTag, let other = fields[.eTag], !other.hasPrefix("W/") else { return false }
        return (entityTag.hasPrefix("W/") ? String(entityTag.dropFirst(2)) : entityTag) != other
    }
}
