import EssentialsTools

/// Keeps tokens in memory.
///
/// ```swift
/// let store = MemoryTokenStore(StoredTokens(refreshToken: refreshToken))
/// ```
public final class MemoryTokenStore: TokenStore {
    private let updates = UpdateQueue()
    private let tokens: Mutex<StoredTokens?>

    /// Creates a store.
    ///
    /// - Parameter tokens: The tokens at the beginning. The default is none.
    public init(_ tokens: StoredTokens? = nil) { self.tokens = Mutex(tokens) }

    /// Replaces the tokens; see the protocol.
    @discardableResult
    public func update(
        _ change: @Sendable (StoredTokens?) async throws -> StoredTokens?
    ) async throws -> StoredTokens? {
        try await updates.run {
            let new = try await change(tokens.withLock { $0 })
            tokens.withLock { $0 = new }
            return new
        }
    }
}
