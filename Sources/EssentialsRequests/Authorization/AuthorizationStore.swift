import EssentialsHTTP
import Synchronization

/// Stores credentials by origin.
final class AuthorizationStore: Sendable {
    /// The credentials of one origin, as the stages use them.
    enum Content: Sendable {
        case field(String)
        case digest(DigestSession)
    }

    private struct Entry {
        let origin: Origin
        let content: Content
    }

    /// More origins than any application has environments. When it is exceeded, the oldest entry is removed.
    private static let limit = 64

    private let entries = Mutex<[Entry]>([])

    /// Replaces the credentials of an origin, together with the nonces that belong to the former ones.
    func set(_ new: Credentials, for origin: Origin) {
        let content: Content =
            switch new.content {
            case .field(let value): .field(value)
            case .digest(let account): .digest(DigestSession(account, for: origin))
            }
        entries.withLock { entries in
            entries.removeAll { $0.origin == origin }
            entries.append(Entry(origin: origin, content: content))
            if entries.count > Self.limit { entries.removeFirst() }
        }
    }

    func clear(_ origin: Origin) {
        entries.withLock { entries in entries.removeAll { $0.origin == origin } }
    }

    func value(for origin: Origin) -> Content? {
        entries.withLock { entries in entries.first { $0.origin == origin }?.content }
    }
}
