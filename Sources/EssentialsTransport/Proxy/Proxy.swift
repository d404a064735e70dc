/// A proxy server: HTTP (RFC 9110, section 7.3) or SOCKS 5 (RFC 1928).
///
/// ```swift
/// let proxy = try Proxy("http://user:secret@proxy.example.com:3128")
/// configuration.proxy = .fixed(proxy, except: ProxyBypass("localhost, .example.com, 10.0.0.0/8"))
/// ```
///
/// Requests for `https` use a tunnel (CONNECT), so the proxy sees only the host. The trust policy applies to the server
/// at the other end of the tunnel. An HTTP proxy reads plain `http` requests.
public struct Proxy: Sendable, Hashable {
    /// The protocol of a proxy.
    public enum Kind: String, Sendable, Hashable {
        /// HTTP, with tunnels for `https`.
        case http
        /// HTTP over TLS, with tunnels for `https`. The transport's `proxyTrust` verifies the proxy.
        case https
        /// SOCKS 5; host names are resolved on this machine.
        case socks5
        /// SOCKS 5; host names are resolved by the proxy.
        case socks5h

        /// Whether the protocol is HTTP.
        package var isHTTP: Bool { self == .http || self == .https }
    }

    /// The protocol.
    public let kind: Kind
    /// The host.
    public let host: HostName
    /// The port.
    public let port: UInt16
    /// The user name for Basic authentication (RFC 7617) or SOCKS (RFC 1929). With `nil` no credentials are sent.
    public let user: String?
    /// The user's password.
    public let password: String?

    /// Creates a proxy.
    ///
    /// - Throws: `invalidRequest` for port 0, a user name with a colon, or credentials with a control character.
    public init(
        _ kind: Kind = .http, host: HostName, port: UInt16, user: String? = nil, password: String? = nil
    ) throws(RequestFailure) {
        guard port > 0 else { throw Self.invalid("The proxy's port is 0.", "Use a number from 1 to 65535.") }
        guard user?.utf8.contains(UInt8(ascii: ":")) != true else {
            throw Self.invalid("The proxy's user name has a colon.", "A user name cannot have one (RFC 7617, 2).")
        }
        for text in [user, password].compactMap({ $0 }) where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
            throw Self.invalid(
                "The proxy's credentials have a control character.", "Check them; they are not shown here.")
        }
        self.kind = kind
        self.host = host
        self.port = port
        self.user = user
        self.password = user == nil ? nil : password ?? ""
    }

    /// Parses a proxy as written in environment variables: `http://user:password@host:port`, `https://…`, `socks5://…`,
    /// `socks5h://…`, or `host:port` for HTTP. The default ports are 80 for HTTP, 443 for HTTP over TLS, and 1080 for
    /// SOCKS. Credentials are percent-decoded.
    ///
    /// - Throws: `invalidRequest` if the text is not valid, for example if it has a path other than `/`. The message
    ///   contains nothing of the text, because a part of it may be a password.
    public init(_ url: String) throws(RequestFailure) {
        let (kind, rest) = try Self.scheme(of: url)
        var authority = rest
        if let slash = rest.utf8.firstIndex(where: { "/?#".utf8.contains($0) }) {
            guard rest[slash...] == "/" else {
                throw Self.invalid(
                    "The proxy's URL has a path or a query.",
                    "Write it as http://host:port, and / in credentials as %2F.")
            }
            authority = rest[..<slash]
        }
        var user: String?
        var password: String?
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let parts = authority.utf8[..<at].split(
                separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            user = try Self.decoded(parts.first ?? ""[...].utf8)
            password = parts.count > 1 ? try Self.decoded(parts[1]) : nil
            authority = authority[authority.utf8.index(after: at)...]
        }
        let (host, port) = try Self.place(authority)
        let usualPort: UInt16 = kind == .http ? 80 : kind == .https ? 443 : 1080
        try self.init(kind, host: host, port: port ?? usualPort, user: user, password: password)
    }

    /// Parses the host and the port by the rules for URLs. The port is `nil` if none is given.
    private static func place(_ authority: Substring) throws(RequestFailure) -> (HostName, UInt16?) {
        guard let origin = try? RequestURL("http://\(authority)").origin else {
            throw invalid(
                "The proxy's host or port is invalid.",
                "Write it as http://host:port, an IPv6 address in brackets, and in credentials @ as %40 and / as %2F.")
        }
        let afterHost = authority.lastIndex(of: "]") ?? authority.startIndex
        let hasPort = authority[afterHost...].lastIndex(of: ":").map { authority.index(after: $0) < authority.endIndex }
        return (origin.host, hasPort == true ? origin.port : nil)
    }

    private static func scheme(of url: String) throws(RequestFailure) -> (Kind, Substring) {
        guard let mark = url.firstRange(of: "://") else { return (.http, url[...]) }
        let rest = url[mark.upperBound...]
        switch url[..<mark.lowerBound].lowercased() {
        case "http": return (.http, rest)
        case "socks5": return (.socks5, rest)
        case "socks5h": return (.socks5h, rest)
        case "https": return (.https, rest)
        case "ftp", "socks", "socks4", "socks4a":
            throw invalid("Proxies of this kind are not supported.", "Use http, https, socks5 or socks5h.")
        default:
            throw invalid("The text before :// is not a kind of proxy.", "Use http, https, socks5 or socks5h.")
        }
    }

    private static func decoded(_ text: Substring.UTF8View) throws(RequestFailure) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap(\.hexDigitValue)
            guard digits.count == 2 else {
                throw invalid("The proxy's credentials have a “%” that starts no escape.", "Write % as %25.")
            }
            bytes.append(digits[0] << 4 | digits[1])
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw invalid("The proxy's credentials are not UTF-8.", "Percent-encode their UTF-8 form.")
        }
        return text
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, message, remedy: remedy)
    }
}

extension Proxy: CustomStringConvertible {
    /// The protocol, host and port, without credentials.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }
}

extension Proxy: CustomDebugStringConvertible, CustomReflectable {
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The protocol, host and port, so that a dump of a configuration shows no credentials.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind, "host": host, "port": port]) }
}
