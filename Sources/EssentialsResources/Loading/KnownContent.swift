import EssentialsHTTP

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
