public import EssentialsTransport

/// The stored responses that are removed together.
public struct ResponseScope: Sendable {
    /// All responses.
    public static let everything = ResponseScope()

    /// Only those of an origin; `nil` means all origins.
    public var origin: Origin?
    /// Only those of accounts that the application has named; `nil` means those of all accounts, and those without one.
    public var accounts: Set<EntityPartition>?
    /// Only those of certain URLs; `nil` means all URLs. It is called on any thread.
    public var matches: (@Sendable (RequestURL) -> Bool)?

    /// Creates a scope. A response belongs to it if it fulfils all conditions.
    public init(
        origin: Origin? = nil, accounts: Set<EntityPartition>? = nil,
        matching matches: (@Sendable (RequestURL) -> Bool)? = nil
    ) {
        (self.origin, self.accounts, self.matches) = (origin, accounts, matches)
    }

    /// Whether the responses of a key belong to the scope.
    public func contains(_ key: ResponseKey) -> Bool { contains(key.url, account: key.account) }

    /// Whether the responses of a URL belong to the scope.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - account: The account that the application has named; `nil` without one.
    public func contains(_ url: RequestURL, account: EntityPartition?) -> Bool {
        if let origin, url.origin != origin { return false }
        if let accounts { guard let account, accounts.contains(account) else { return false } }
        return matches?(url) ?? true
    }
}
