/// Keeps the tokens of ``OAuth2Tokens``, for one process or for several.
///
/// ``MemoryTokenStore`` keeps them until the program ends, and ``FileTokenStore`` in a file that several processes may
/// share. A store for the key ring of a system implements this protocol.
///
/// ```swift
/// try await store.update { tokens in
///     try await renewed(tokens)
/// }
/// ```
public protocol TokenStore: Sendable {
    /// Replaces the tokens with the result of a closure.
    ///
    /// The closure receives the present tokens. Until it has returned and its result is stored, no other update begins,
    /// in this process or in another one that shares the store. A refresh token is therefore never spent twice.
    ///
    /// - Parameter change: Returns the new tokens; `nil` removes them. It may take as long as a request to a server.
    /// - Returns: The tokens that are now stored.
    /// - Throws: The error of the closure, after which the store is unchanged, and the store's own errors.
    @discardableResult
    func update(
        _ change: @Sendable (StoredTokens?) async throws -> StoredTokens?
    ) async throws -> StoredTokens?
}
