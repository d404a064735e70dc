import EssentialsHTTP
import Synchronization

/// Stores credentials by origin.
final class AuthorizationStore: Sendable {
    /// The credentials of one origin, as the stages use them.
    enum Content: Sendable {
        case field(String)
        case digest(DigestSession)
        case tokens(TokenSession)

        /// Tells the former credentials of an origin that they are no longer in use.
        func end(replacedBy new: Content?) {
            if case .tokens(let session) = self { session.end(replacedBy: new) }
        }
    }

    private struct Entry {
        let origin: Origin
        let content: Content
    }

    /// More origins than any application has environments. When it is exceeded, the oldest entry is removed.
    static let limit = 64

    private let entries = Mutex<[Entry]>([])

    /// Replaces the credentials of an origin, together with the nonces that belong to the former ones.
    func set(_ new: Credentials, for origin: Origin) {
        let content: Content =
            switch new.content {
            case .field(let value): .field(value)
            case .digest(let account): .digest(DigestSession(account, for: origin))
            case .tokens(let source): .tokens(TokenSession(source))
            }
        let (former, oldest) = entries.withLock { entries -> (Content?, Content?) in
            let former = Self.remove(origin, &entries)
            entries.append(Entry(origin: origin, content: content))
            return (former, entries.count > Self.limit ? entries.removeFirst().content : nil)
        }
        // Without the lock, because waiting requests continue.
        former?.end(replacedBy: content)
        oldest?.end(replacedBy: nil)
    }

    func clear(_ origin: Origin) {
        entries.withLock { Self.remove(origin, &$0) }?.end(replacedBy: nil)
    }

    /// Ends the refreshes of the service. Its requests have ended.
    func close() {
        for content in entries.withLock({ $0.map(\.content) }) { content.end(replacedBy: nil) }
    }

    private static func remove(_ origin: Origin, _ entries: inout [Entry]) -> Content? {
        entries.firstIndex { $0.origin == origin }.map { entries.remove(at: $0).content }
    }

    func value(for origin: Origin) -> Content? {
        entries.withLock { entries in entries.first { $0.origin == origin }?.content }
    }
}
