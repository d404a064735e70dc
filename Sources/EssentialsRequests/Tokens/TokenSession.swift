import EssentialsHTTP
import Synchronization

/// The use of a token source by one service for one origin, from setting the credentials to clearing or replacing them.
final class TokenSession: Sendable {
    let source: TokenSource
    /// The session's number in its source.
    let number: Int
    /// The credentials that have replaced these.
    private let replacement = Mutex<AuthorizationStore.Content?>(nil)

    init(_ source: TokenSource) {
        self.source = source
        number = source.attach()
    }

    deinit { source.end(number) }

    /// The credentials that have replaced these while requests waited for a token; `nil` if they are in use or were
    /// cleared.
    var successor: AuthorizationStore.Content? { replacement.withLock { $0 } }

    /// Ends the session: its waiters resume with the new credentials, or fail if there are none.
    func end(replacedBy new: AuthorizationStore.Content? = nil) {
        replacement.withLock { $0 = new }
        source.end(number)
    }
}
