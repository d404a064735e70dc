import EssentialsHTTP

/// A host outside the environment's base URL from which resources may be loaded.
///
/// ```swift
/// configuration.foreignHosts = ["cdn.example.com"]
/// ```
///
/// Resources of such a host are loaded without credentials, cookies, header fields of the environment, interceptors or a client
/// certificate. Without the host in the list their loads fail as `hostRefused`, so that a URL in
/// a response cannot make the program send requests to any server.
public struct ForeignHost: Sendable, Hashable {
    /// The host's name or address, in the form of a URL.
    public var name: String
    /// Whether resources of the environment's own origin, outside its base path, are loaded by the data-request service
    /// and so with the origin's credentials. For other origins it makes no difference. The default is `false`.
    public var sendsCredentials: Bool

    /// Creates an entry of the list.
    public init(_ name: String, sendsCredentials: Bool = false) {
        self.name = name
        self.sendsCredentials = sendsCredentials
    }

    /// Whether the entry names a host. Names are compared in their normalized form.
    package func names(_ host: HostName) -> Bool {
        guard let normalized = try? HostName(name[...]) else { return false }
        return normalized == host
    }
}

extension ForeignHost: ExpressibleByStringLiteral {
    /// Creates an entry without credentials.
    public init(stringLiteral name: String) { self.init(name) }
}
