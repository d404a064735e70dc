public import EssentialsHTTP

/// An environment at one moment.
///
/// ```swift
/// let staging = EnvironmentSnapshot(name: "staging", baseURL: try RequestURL("https://staging.example.com/v1/"))
/// ```
public struct EnvironmentSnapshot: Sendable, Hashable {
    private struct Parts: Hashable {
        var name: String
        var baseURL: RequestURL
        var headerFields: HTTPFields
        var trust: TrustPolicy?
    }

    /// Every request copies the environment that it goes to, so that copies share what it is made of.
    private var parts: CopyOnWrite<Parts>

    /// What people call it, such as `staging`; empty where there is only one.
    public var name: String {
        get { parts.value.name }
        _modify { yield &parts.value.name }
    }

    /// The URL under which a request's path is joined. Its query is not used.
    public var baseURL: RequestURL {
        get { parts.value.baseURL }
        _modify { yield &parts.value.baseURL }
    }

    /// The URL of a path, where that is plain; see `RequestURL`. Without a copy of the base URL.
    func joining(plainPath path: String) -> RequestURL? { parts.value.baseURL.joining(plainPath: path) }

    /// Fields for the request; a request's own fields win.
    public var headerFields: HTTPFields {
        get { parts.value.headerFields }
        _modify { yield &parts.value.headerFields }
    }

    /// By what the server is judged; nil leaves it to the service's transport.
    public var trust: TrustPolicy? {
        get { parts.value.trust }
        _modify { yield &parts.value.trust }
    }

    /// Makes one from its parts.
    public init(name: String = "", baseURL: RequestURL, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil) {
        parts = CopyOnWrite(Parts(name: name, baseURL: baseURL, headerFields: headerFields, trust: trust))
    }
}

extension EnvironmentSnapshot: CustomReflectable {
    /// The properties above, for debuggers and `dump`: the names of fields, without the base URL's query.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "baseURL": baseURL.redacted, "headerFields": RedactedText.names(of: headerFields),
                "trust": trust as Any,
            ])
    }
}
