import EssentialsHTTP
import Synchronization

/// What a load knows about the content that is here, so that the body of an unchanged one is not read again.
enum KnownContent: Sendable {
    /// The header field that asks the server whether the content has changed.
    case validator(name: HTTPField.Name, value: String)
    /// The name that the response cache has given to the body. The cache validates what it has stored by itself.
    case body(UInt64)

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
        contents.withLock { contents in
            guard contents.facts.isOfServer, contents.views.allSatisfy(\.snapshot.hasContent), !contents.views.isEmpty
            else { return nil }
            guard hasResponseCache else {
                return contents.facts.entity?.condition.map { .validator(name: $0.name, value: $0.value) }
            }
            guard let known = contents.knownBody, known.contentVersion == contents.facts.contentVersion else {
                return nil
            }
            return .body(known.body)
        }
    }
}
