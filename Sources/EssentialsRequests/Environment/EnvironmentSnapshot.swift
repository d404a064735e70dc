public import EssentialsHTTP

/// An environment at one moment.
///
/// ```swift
/// let staging = EnvironmentSnapshot(name: "staging", baseURL: try RequestURL("https://staging.example.com/v1/"))
/// ```
public struct EnvironmentSnapshot: Sendable, Hashable {
    /// What people call it, such as `staging`; empty where there is only one.
    public var name: String
    /// The URL under which a request's path is joined. Its query is not used.
    public var baseURL: RequestURL
    /// Fields for the request; a request's own fields win.
    public var headerFields: HTTPFields
    /// By what the server is judged; nil leaves it to the service's transport.
    public var trust: TrustPolicy?

    /// Makes one from its parts.
    public init(name: String = "", baseURL: RequestURL, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil) {
        self.name = name
        self.baseURL = baseURL
        self.headerFields = headerFields
        self.trust = trust
    }
}
