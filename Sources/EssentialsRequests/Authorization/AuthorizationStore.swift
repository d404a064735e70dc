import EssentialsHTTP
import Synchronization

/// Credentials by origin.
final class AuthorizationStore: Sendable {
    /// What belongs to one origin.
    enum Content: Sendable {
        case field(String)
        case digest(DigestSession)
    }

    private struct Entry {
        let origin: Origin
        let content: Content
    }

    /// More than any application has environments; the oldest is forgotten.
    private static let limit = 64

    private let entries = Mutex<[Entry]>([])
    /// Replaces the credentials of an origin, and what its server has said about the former ones.
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
