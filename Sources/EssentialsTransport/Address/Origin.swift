/// Scheme, host and port (RFC 6454). Connections, credentials and cookies are bound to an origin.
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

        /// The default port of the scheme: 80 or 443.
        public var defaultPort: UInt16 { self == .https ? 443 : 80 }
    }

    /// `http` or `https`.
    public let scheme: Scheme
    /// The normalized host.
    public let host: HostName
    /// The port. The default is the scheme's default port.
    public let port: UInt16

    /// Creates an origin. Without a port it uses the scheme's default port.
    public init(scheme: Scheme, host: HostName, port: UInt16? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
    }

    /// The value of the `Host` field: the host, and the port if it is not the default (RFC 9110, section 7.2).
    public var authority: String {
        var text = host.description
        appendPort(to: &text)
        return text
    }

    /// The origin as `https://host:port`, without the port if it is the default.
    public var description: String { text(before: "") }

    /// The origin, followed by other text.
    func text(before rest: Substring, _ end: String = "") -> String {
        let host = host.description
        var text = ""
        text.reserveCapacity(host.utf8.count + rest.utf8.count + end.utf8.count + 14)
        text += scheme == .https ? "https://" : "http://"
        text += host
        appendPort(to: &text)
        text += rest
        text += end
        return text
    }

    private func appendPort(to text: inout String) {
        guard port != scheme.defaultPort else { return }
        text += ":"
        text += String(port)
    }
}
