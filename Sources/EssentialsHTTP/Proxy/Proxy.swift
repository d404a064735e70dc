/// A server that passes requests on: HTTP (RFC 9110, 7.3) or SOCKS 5 (RFC 1928).
///
/// ```swift
/// let proxy = try Proxy("http://user:secret@proxy.example.com:3128")
/// configuration.proxy = .fixed(proxy, except: ProxyBypass("localhost, .example.com, 10.0.0.0/8"))
/// ```
///
/// Requests for `https` go through a tunnel (CONNECT), so that the proxy sees the host and nothing else; the trust policy
/// judges the server at the tunnel's other end. A plain `http` request is read by an HTTP proxy.
public struct Proxy: Sendable, Hashable {
    /// What a proxy speaks.
    public enum Kind: String, Sendable, Hashable {
        /// HTTP; tunnels for `https`.
        case http
        /// SOCKS 5; names are resolved here.
        case socks5
        /// SOCKS 5; names are resolved by the proxy.
        case socks5h
    }

    /// What it speaks.
    public let kind: Kind
    /// Where it is.
    public let host: HostName
    /// Where it listens.
    public let port: UInt16
    /// Who asks, for Basic authentication (RFC 7617) or SOCKS user names (RFC 1929); nil sends no credentials.
    public let user: String?
    /// The user's password.
    public let password: String?

    /// Makes a proxy.
    ///
    /// - Throws: `invalidRequest` for a user with a colon, or credentials with a control character.
    public init(
        _ kind: Kind = .http, host: HostName, port: UInt16, user: String? = nil, password: String? = nil
    ) throws(RequestFailure) {
        guard user?.contains(":") != true else {
            throw Self.invalid("The proxy's user name has a colon.", "No user name has one (RFC 7617, 2).")
        }
        for text in [user, password].compactMap({ $0 }) where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
            throw Self.invalid("The proxy's credentials have a control character.", "Check them; none is shown here.")
        }
        self.kind = kind
        self.host = host
        self.port = port
        self.user = user
        self.password = user == nil ? nil : password ?? ""
    }

    /// Reads a proxy as the environment names it: `http://user:password@host:port`, `socks5://…`, `socks5h://…`, or
    /// `host:port`, which is HTTP. Without a port, 80 for HTTP and 1080 for SOCKS. Credentials are percent-decoded.
    ///
    /// - Throws: `invalidRequest` with what is wrong. A path other than `/` is refused.
    public init(_ url: String) throws(RequestFailure) {
        let (kind, rest) = try Self.scheme(of: url)
        var authority = rest
        if let slash = rest.firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" }) {
            guard rest[slash...] == "/" else {
                throw Self.invalid("The proxy's URL has a path.", "Write it as http://host:port.")
            }
            authority = rest[..<slash]
        }
        var user: String?
        var password: String?
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = try Self.decoded(parts.first ?? "")
            password = parts.count > 1 ? try Self.decoded(parts[1]) : nil
            authority = authority[authority.index(after: at)...]
        }
        // Read as a URL of its own, so that host and port follow the same rules as everywhere.
        let hasPort = authority.lastIndex(of: ":").map { $0 > (authority.lastIndex(of: "]") ?? authority.startIndex) }
        let origin = try RequestURL("http://\(authority)").origin
        try self.init(
            kind, host: origin.host, port: hasPort == true ? origin.port : kind == .http ? 80 : 1080, user: user,
            password: password)
    }

    private static func scheme(of url: String) throws(RequestFailure) -> (Kind, Substring) {
        guard let mark = url.firstRange(of: "://") else { return (.http, url[...]) }
        let rest = url[mark.upperBound...]
        switch url[..<mark.lowerBound].lowercased() {
        case "http": return (.http, rest)
        case "socks5": return (.socks5, rest)
        case "socks5h": return (.socks5h, rest)
        case "https":
            throw invalid("Proxies that are spoken to over TLS are not supported.", "Use http:// or socks5://.")
        case let other:
            throw invalid("“\(RequestFailure.shown(other))” is no kind of proxy.", "Use http, socks5 or socks5h.")
        }
    }

    private static func decoded(_ text: Substring) throws(RequestFailure) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                throw invalid("The proxy's credentials have a “%” that starts no escape.", "Write % as %25.")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, message, remedy: remedy)
    }
}

extension Proxy: CustomStringConvertible {
    /// Kind, host and port; never credentials.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }
}
