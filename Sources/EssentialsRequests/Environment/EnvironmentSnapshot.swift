public import EssentialsHTTP

/// An environment at one moment.
///
/// ```swift
/// let staging = EnvironmentSnapshot(name: "staging", baseURL: try RequestURL("https://staging.example.com/v1/"))
/// ```
public struct EnvironmentSnapshot: Sendable, Hashable {
    /// The environment's name, such as `staging`; empty if there is only one environment.
    public var name: String
    /// The URL under which the path of every request is joined. Definitions keep its query; other requests ignore it.
    public var baseURL: RequestURL
    /// Header fields for every request; a request's own fields win.
    public var headerFields: HTTPFields
    /// The policy that verifies the servers. The default is `nil`, which means the policy of the service's transport.
    public var trust: TrustPolicy?
    /// How requests are sent, such as the retry policy. The default is empty, which means the service's settings.
    public var settings: RequestSettings

    /// Creates a snapshot from its parts.
    public init(
        name: String = "", baseURL: RequestURL, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil,
        settings: RequestSettings = RequestSettings()
    ) {
        self.name = name
        self.baseURL = baseURL
        self.headerFields = headerFields
        self.trust = trust
        self.settings = settings
    }
}

extension EnvironmentSnapshot: CustomReflectable {
    /// The properties for debuggers and `dump`, with field names instead of values and without the base URL's query.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "baseURL": baseURL.redacted, "headerFields": RedactedText.names(of: headerFields),
                "trust": trust as Any,
            ])
    }
}
