import EssentialsHTTP
import EssentialsTools

/// The use of a token source by one service for one origin, from setting the credentials to clearing or replacing them.
final class TokenSession: Sendable {
    let source: TokenSource
    /// The session's number in its source.
    let number: Int
    /// The session that has replaced this one.
    private let replacement = Mutex<TokenSession?>(nil)

    init(_ source: TokenSource) {
        self.source = source
        number = source.attach()
    }

    deinit { source.end(number) }

    /// The session that has replaced this one because the same credentials were set again; `nil` if this one is in use, or
    /// if the credentials were cleared or replaced by others.
    var successor: TokenSession? { replacement.withLock { $0 } }

    /// Ends the session: its waiters go to the new session, or fail if there is none.
    func end(replacedBy new: TokenSession? = nil) {
        replacement.withLock { $0 = new }
        source.end(number)
    }
}
