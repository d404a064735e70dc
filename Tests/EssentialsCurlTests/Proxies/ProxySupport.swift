import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials

/// Credentials that only their proxy may see.
let proxyUser = "agent-7"
let proxyPassword = "s3cret pass"
/// The user and the password as Basic authentication sends them (RFC 7617, 2).
let proxyAuthorization = "Basic " + Data("\(proxyUser):\(proxyPassword)".utf8).base64EncodedString()

extension HTTPTestProxy {
    /// This proxy as a transport uses it.
    func proxy(user: String? = nil, password: String? = nil) throws -> Proxy {
        try Proxy(.http, host: HostName("127.0.0.1"), port: port, user: user, password: password)
    }
}

extension SOCKSTestProxy {
    /// This proxy as a transport uses it.
    func proxy(_ kind: Proxy.Kind = .socks5h, user: String? = nil, password: String? = nil) throws -> Proxy {
        try Proxy(kind, host: HostName("127.0.0.1"), port: port, user: user, password: password)
    }
}

/// A transport with a rule for proxies.
func transport(
    _ proxies: ProxyPolicy, trust: TrustPolicy = .system,
    configure: (inout CurlTransport.Configuration) -> Void = { _ in }
) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    configuration.proxy = proxies
    configure(&configuration)
    return try CurlTransport(trust: trust, configuration: configuration)
}

/// A port without a listener.
func deadPort() throws -> UInt16 {
    let service = try SocketService { _ in }
    defer { service.stop() }
    return service.port
}

extension Authority {
    /// An authority whose certificate is for `origin.test`.
    static func originTest() throws -> Authority {
        try Authority(.init(commonName: "origin.test", dnsNames: ["origin.test"], ipAddresses: []))
    }

    /// A policy that trusts only this authority.
    func policy(pins: [Pin] = []) throws -> TrustPolicy {
        try pins.isEmpty ? TrustPolicy(anchors: anchors) : TrustPolicy(pins: pins, anchors: anchors)
    }
}

extension RequestFailure {
    /// All texts of the failure and of its underlying error.
    var allText: String { "\(self) \(message) \(remedy ?? "") \(underlying.map { "\($0)" } ?? "")" }

    /// Whether nothing of the proxy's credentials is shown.
    var showsNoCredentials: Bool {
        ![proxyUser, proxyPassword, "s3cret", proxyAuthorization].contains { allText.contains($0) }
    }
}
