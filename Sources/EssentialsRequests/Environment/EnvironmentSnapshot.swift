public import EssentialsHTTP
import EssentialsTools

/// An environment at one moment.
///
/// ```swift
/// let staging = EnvironmentSnapshot(name: "staging", baseURL: try RequestURL("https://staging.example.com/v1/"))
/// ```
public struct EnvironmentSnapshot: Sendable, Hashable {
    /// All properties. They lie behind one reference, because every request carries its environment.
    private struct Content: Sendable, Hashable {
        var name: String
        var baseURL: RequestURL
        var headerFields: HTTPFields
        var trust: TrustPolicy?
        var stages: StageSettings
    }

    private var content: CopyOnWrite<Content>

    /// The environment's name, such as `staging`; empty if there is only one environment.
    public var name: String {
        _read { yield content.value.name }
        _modify { yield &content.value.name }
    }
    /// The URL under which the path of every request is joined. Definitions keep its query; other requests ignore it.
    public var baseURL: RequestURL {
        _read { yield content.value.baseURL }
        _modify { yield &content.value.baseURL }
    }
    /// Header fields for every request; a request's own fields win.
    public var headerFields: HTTPFields {
        _read { yield content.value.headerFields }
        _modify { yield &content.value.headerFields }
    }
    /// The policy that verifies the servers. The default is `nil`, which means the policy of the service's transport.
    public var trust: TrustPolicy? {
        _read { yield content.value.trust }
        _modify { yield &content.value.trust }
    }
    /// The settings of the stages, such as the retry policy. The default is empty, which means the service's settings.
    public var stages: StageSettings {
        _read { yield content.value.stages }
        _modify { yield &content.value.stages }
    }

    /// Creates a snapshot from its parts.
    public init(
        name: String = "", baseURL: RequestURL, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil,
        stages: StageSettings = StageSettings()
    ) {
        content = CopyOnWrite(
            Content(name: name, baseURL: baseURL, headerFields: headerFields, trust: trust, stages: stages))
    }

    /// Whether all properties are equal.
    public static func == (one: EnvironmentSnapshot, other: EnvironmentSnapshot) -> Bool {
        CopyOnWrite.shares(one.content, other.content) || one.content.value == other.content.value
    }

    /// Hashes all properties.
    public func hash(into hasher: inout Hasher) { hasher.combine(content.value) }
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
