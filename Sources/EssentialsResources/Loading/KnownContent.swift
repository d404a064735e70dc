import EssentialsHTTP
import EssentialsTools

/// What a load knows about the content that is here, so that the body of an unchanged one is not read again. A response
/// without a body names what it confirms in the same way.
enum KnownContent: Sendable {
    /// The header field that asks the server whether the content has changed.
    case validator(name: HTTPField.Name, value: String)
    /// The name that the response cache has given to the body. The cache validates what it has stored by itself.
    case body(UInt64)

    /// The condition of a request that was sent; `nil` if it has none. An entity tag wins over a date
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

/// The body of a resource's content, as a response cache names it. It is an object, so that it takes little space in the
/// resources without one.
final class KnownBody: Sendable {
    let body: UInt64
    /// The version of the content that was read from the body. Later content came from elsewhere.
    let contentVersion: UInt64

    init(body: UInt64, contentVersion: UInt64) { (self.body, self.contentVersion) = (body, contentVersion) }
}

extension ResourceCore {
    /// What the next request may say about the content; `nil` unless the server's content is here for all views. With a
    /// condition, a 304 would otherwise confirm content that the server has never sent.
    func knownContent(hasResponseCache: Bool) -> KnownContent? {
        contents.withLock { contents -> KnownContent? in
            guard contents.isKnownToViews, !contents.views.isEmpty else { return nil }
            return hasResponseCache ? contents.body.map { .body($0) } : contents.validator
        }
    }
}

extension ResourceCore.Contents {
    /// Whether the server's content is here for all views. It is also here for a view that could not read it, because an
    /// unchanged body could not be read the next time either.
    var isKnownToViews: Bool { facts.isOfServer && views.allSatisfy(\.snapshot.isRead) }

    /// The validator of the content.
    fileprivate var validator: KnownContent? {
        facts.entity?.condition.map { .validator(name: $0.name, value: $0.value) }
    }

    /// The body of the content, as a response cache names it.
    fileprivate var body: UInt64? {
        knownBody.flatMap { $0.contentVersion == facts.contentVersion ? $0.body : nil }
    }

    /// Whether a response without a body confirms the present content: the validator that was sent is still that of the
    /// content, and the response has no other strong one
    /// ([RFC 9111, 4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)). Anything else may have become the
    /// content since the request was sent.
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
    /// Whether header fields have a strong entity tag, and the entity has another one. A server that compresses bodies often
    /// makes the tag of a whole response weak and leaves that of a 304 as it was, so `W/` makes no difference.
    fileprivate func hasOtherTag(than fields: HTTPFields) -> Bool {
        guard let entityTag, let other = fields[.eTag], !other.hasPrefix("W/") else { return false }
        return (entityTag.hasPrefix("W/") ? String(entityTag.dropFirst(2)) : entityTag) != other
    }
}
