import EssentialsHTTP
import Synchronization

/// Credentials by origin.
final class AuthorizationStore: Sendable {
    /// More than any application has environments; the oldest is forgotten.
    private static let limit = 64

    private let credentials = Mutex<[(origin: Origin, credentials: Credentials)]>([])

    func set(_ new: Credentials, for origin: Origin) {
        credentials.withLock { stored in
            stored.removeAll { $0.origin == origin }
            stored.append((origin, new))
            if stored.count > Self.limit { stored.removeFirst() }
        }
    }

    func clear(_ origin: Origin) {
        credentials.withLock { stored in stored.removeAll { $0.origin == origin } }
    }

    func value(for origin: Origin) -> Credentials? {
        credentials.withLock { stored in stored.first { $0.origin == origin }?.credentials }
    }
}
