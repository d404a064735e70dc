/// Scheme, host and port (RFC 6454): what connections, credentials and cookies are bound to.
///
/// ```swift
/// try RequestURL("https://API.example.com/v1").origin == Origin(scheme: .https, host: HostName("api.example.com"))
/// ```
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// The schemes that requests may use.
    public enum Scheme: String, Sendable, Hashable {
        /// Without TLS.
        case http
        /// With TLS.
        case https

        /// 80 or 443.
        public var defaultPort: UInt16 { self == .https ? 443 : 80 }
    }

    /// `http` or `https`.
    public let scheme: Scheme
    /// The normalised host.
    public let host: HostName
    /// The port, the scheme's own where the URL names none.
    public let port: UInt16

    /// Makes an origin; without a port, the scheme's own.
    public init(scheme: Scheme, host: HostName, port: UInt16? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
    }

    /// Host, and the port where it is not the scheme's own: the `Host` field's value (RFC 9110, 7.2).
    public var authority: String { port == scheme.defaultPort ? "\(host)" : "\(host):\(port)" }

    /// `https://host:port`, without the port where it is the scheme's own.
    public var description: String { "\(scheme.rawValue)://\(authority)" }
}
