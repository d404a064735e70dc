import EssentialsHTTP
public import FoundationEssentials

/// The tokens of one login, which a ``TokenStore`` keeps.
///
/// ```swift
/// try await tokens.save(StoredTokens(refreshToken: reply.refreshToken))
/// ```
///
/// No description shows a token.
public struct StoredTokens: Sendable, Hashable {
    /// The access token; `nil` if there is none yet.
    public var accessToken: String?
    /// The date on which the access token expires; `nil` if that is not known.
    public var expiresAt: Date?
    /// The token that gets new access tokens (RFC 6749, 1.5); `nil` if there is none.
    public var refreshToken: String?

    /// Creates a value.
    public init(accessToken: String? = nil, expiresAt: Date? = nil, refreshToken: String? = nil) {
        self.accessToken = accessToken
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
    }
}

extension StoredTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text without the tokens.
    public var description: String { "StoredTokens …" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Empty, so that no secret is shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
