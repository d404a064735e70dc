import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

/// An HTTP proxy with TLS and the name `other.test`, in front of an origin with the name `pin.test`.
private final class SecureProxy: Sendable {
    let inner: HTTPTestProxy
    let front: TLSFront

    /// - Parameters:
    ///   - chain: The chain that the proxy presents.
    ///   - origin: The server that every requested host leads to.
    init(
        _ chain: String = "leaf-other", origin: LoopbackServer, adjust: (inout ServerTLS) throws -> Void = { _ in }
    ) throws {
        inner = try HTTPTestProxy(ports: Dictionary(uniqueKeysWithValues: AttackBench.hosts.map { ($0, origin.port) }))
        let certificates = try Fixture.chain(chain)
        var tls = ServerTLS(certificate: try #require(certificates.first), chain: Array(certificates.dropFirst()))
        try adjust(&tls)
        front = try TLSFront(tls, to: inner.port)
    }

    /// A transport that uses this proxy.
    func transport(
        _ trust: TrustPolicy, proxyTrust: TrustPolicy, host: String = "other.test"
    ) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .fixed(try Proxy(.https, host: HostName(host), port: front.port))
        configuration.proxyTrust = proxyTrust
        configuration.addressOverrides = try AttackBench.hosts.map {
            try .init(host: HostName($0), port: front.port, address: HostName("127.0.0.1"))
        }
        return try CurlTransport(trust: trust, configuration: configuration)
    }

    /// Waits until the client's connections have ended here.
    func closed() async throws {
        let end = ContinuousClock.now + .seconds(20)
        while front.openConnectionCount > 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Expects that the proxy's own handshakes failed, and that it saw neither a request nor a client certificate.
    func expectNothingSeen(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(!front.handshakes.isEmpty, sourceLocation: sourceLocation)
        #expect(front.handshakes.allSatisfy { !$0.succeeded }, sourceLocation: sourceLocation)
        #expect(front.handshakes.allSatisfy { $0.clientCertificatePEM == nil }, sourceLocation: sourceLocation)
        #expect(front.applicationBytesReceived == 0, sourceLocation: sourceLocation)
        #expect(inner.lines.isEmpty, sourceLocation: sourceLocation)
    }
}

@Suite("A request through an HTTPS proxy", .serialized)
struct ProxyTrustAttacks {
    static let versions: [ServerTLS.Version] = [.tls12, .tls13]

    private static func originPolicy(identity: ClientIdentity? = nil) throws -> TrustPolicy {
        try AttackBench.policy([Fixture.key("leaf"), strangePin()], identity: identity)
    }

    private static func proxyPolicy(_ pin: String = "leaf-other", identity: ClientIdentity? = nil) throws -> TrustPolicy
    {
        try AttackBench.policy([Fixture.key(pin), strangePin()], host: "other.test", identity: identity)
    }

    @Test("A proxy is judged by its own policy, and the origin by the policy of the request", arguments: versions)
    func bothRight(version: ServerTLS.Version) async throws {
        let origin = try AttackBench.server { ($0.minimumVersion, $0.maximumVersion) = (version, version) }
        let proxy = try SecureProxy(origin: origin) { ($0.minimumVersion, $0.maximumVersion) = (version, version) }
        let transport = try proxy.transport(Self.originPolicy(), proxyTrust: Self.proxyPolicy())
        for _ in 0..<3 { try await AttackBench.expectSuccess(of: origin, by: transport) }
        #expect(proxy.inner.lines == ["CONNECT pin.test:\(origin.port) HTTP/1.1"])
        #expect(proxy.front.handshakes.map(\.serverName) == ["other.test"])
        #expect(origin.handshakes.map(\.serverName) == ["pin.test"])
        #expect(!proxy.inner.tunnelled.holds("secret"))
    }

    struct Impostor: Sendable, CustomTestStringConvertible {
        var chain: String
        var reason: RequestFailure.Reason
        var text: String?
        var testDescription: String { chain }
    }

    static let proxies = [
        Impostor(chain: "rogue-leaf", reason: .trustChain, text: "X.509 error 20"),
        Impostor(chain: "leaf", reason: .trustHost), Impostor(chain: "leaf-wrong-host", reason: .trustHost),
        Impostor(chain: "self-signed", reason: .trustChain, text: "X.509 error 18"),
    ]

    @Test("Nothing is sent to a wrong proxy, not even CONNECT", arguments: proxies, versions)
    func wrongProxy(_ impostor: Impostor, version: ServerTLS.Version) async throws {
        let origin = try AttackBench.server()
        let proxy = try SecureProxy(impostor.chain, origin: origin) {
            ($0.minimumVersion, $0.maximumVersion) = (version, version)
            $0.clientAuthentication = .request
        }
        let identity = try Fixture.identity("client-a")
        let transport = try proxy.transport(
            Self.originPolicy(identity: identity), proxyTrust: Self.proxyPolicy(impostor.chain, identity: identity))
        for scheme in ["https", "http"] {
            let host = scheme == "http" ? "localhost" : "pin.test"
            let sent = try AttackBench.request(origin, host: host, scheme: scheme)
            let open = try proxy.transport(
                TrustPolicy(anchors: Fixture.anchors("root"), identity: identity),
                proxyTrust: Self.proxyPolicy(impostor.chain, identity: identity))
            let found = await failure { try await (scheme == "http" ? open : transport).send(sent) }
            #expect(found?.reason == impostor.reason, "\(String(describing: found))")
            #expect(found?.host == "other.test")
            if let text = impostor.text { #expect(found?.message.contains(text) == true) }
            await open.shutdown()
        }
        await transport.shutdown()
        try await proxy.closed()
        proxy.expectNothingSeen()
        #expect(origin.connectionCount == 0)
    }

    @Test("Nothing is sent to a proxy that matches only the pins of the origin", arguments: versions)
    func wrongProxyPins(version: ServerTLS.Version) async throws {
        let origin = try AttackBench.server()
        let proxy = try SecureProxy(origin: origin) {
            ($0.minimumVersion, $0.maximumVersion) = (version, version)
            $0.clientAuthentication = .request
        }
        let identity = try Fixture.identity("client-a")
        // The proxy's own key is pinned for the origin, and the origin's for the proxy.
        let crossed = try AttackBench.policy([Fixture.key("leaf-other"), strangePin()])
        let transport = try proxy.transport(crossed, proxyTrust: Self.proxyPolicy("leaf", identity: identity))
        let sent = try AttackBench.request(origin)
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .pinMismatch, "\(String(describing: found))")
        #expect(found?.host == "other.test")
        #expect(try found?.chain.first?.publicKeyPin == Fixture.key("leaf-other"))
        await transport.shutdown()
        try await proxy.closed()
        proxy.expectNothingSeen()
        #expect(origin.connectionCount == 0)
    }

    static let origins = [
        Impostor(chain: "rogue-leaf", reason: .trustChain, text: "X.509 error 20"),
        Impostor(chain: "leaf-other", reason: .trustHost), Impostor(chain: "leaf-rekeyed", reason: .pinMismatch),
        Impostor(chain: "leaf-expired", reason: .trustChain, text: "X.509 error 10"),
    ]

    @Test("Proxy and origin are judged by their policies, whatever OpenSSL's configuration sets")
    func configuration() async throws {
        // The test runs in its own process, because OpenSSL reads its configuration once.
        await #expect(processExitsWith: .success) {
            let path = "/tmp/essentials-openssl-\(getpid()).cnf"
            let text = """
                openssl_conf = start
                [start]
                ssl_conf = modules
                [modules]
                system_default = defaults
                [defaults]
                Options = -EmptyFragments
                """
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            defer { unlink(path) }
            setenv("OPENSSL_CONF", path, 1)
            let origin = try AttackBench.server()
            let proxy = try SecureProxy(origin: origin)
            let transport = try proxy.transport(Self.originPolicy(), proxyTrust: Self.proxyPolicy())
            try await AttackBench.expectSuccess(of: origin, by: transport)
            #expect(origin.handshakes.map(\.serverName) == ["pin.test"])
            await transport.shutdown()
        }
    }

    @Test("Nothing is sent to a wrong origin behind the right proxy", arguments: origins, versions)
    func wrongOrigin(_ impostor: Impostor, version: ServerTLS.Version) async throws {
        let origin = try AttackBench.server(impostor.chain) {
            ($0.minimumVersion, $0.maximumVersion) = (version, version)
            $0.clientAuthentication = .request
        }
        let proxy = try SecureProxy(origin: origin)
        let identity = try Fixture.identity("client-a")
        let transport = try proxy.transport(Self.originPolicy(identity: identity), proxyTrust: Self.proxyPolicy())
        try await AttackBench.expectRefusal(impostor.reason, impostor.text, of: origin, by: transport)
        await transport.shutdown()
        try await AttackBench.closed(origin)
        #expect(origin.applicationBytesReceived == 0)
        #expect(origin.handshakes.allSatisfy { $0.clientCertificatePEM == nil && !$0.succeeded })
        #expect(proxy.front.handshakes.map(\.succeeded) == [true])
        #expect(!proxy.inner.tunnelled.holds("secret"))
    }

    @Test("Proxy and origin each see only their own certificate of the client", arguments: versions)
    func identities(version: ServerTLS.Version) async throws {
        let (first, second) = try (Fixture.identity("client-a"), Fixture.identity("client-b"))
        let texts = try (
            Fixture.certificate("client-a").certificatePEM, Fixture.certificate("client-b").certificatePEM
        )
        for (forOrigin, forProxy) in [(first, second), (first, nil), (nil, second), (nil, nil)] {
            let origin = try AttackBench.server {
                ($0.minimumVersion, $0.maximumVersion) = (version, version)
                $0.clientAuthentication = .request
            }
            let proxy = try SecureProxy(origin: origin) {
                ($0.minimumVersion, $0.maximumVersion) = (version, version)
                $0.clientAuthentication = .request
            }
            let transport = try proxy.transport(
                Self.originPolicy(identity: forOrigin), proxyTrust: Self.proxyPolicy(identity: forProxy))
            try await AttackBench.expectSuccess(of: origin, by: transport)
            #expect(origin.handshakes.map(\.clientCertificatePEM) == [forOrigin == nil ? nil : texts.0])
            #expect(proxy.front.handshakes.map(\.clientCertificatePEM) == [forProxy == nil ? nil : texts.1])
        }
    }

    @Test("The right proxy reads plain http, and a request to a pinned origin is refused before a connection")
    func plainHTTP() async throws {
        let origin = try LoopbackServer { _ in .response(body: "ok") }
        let proxy = try SecureProxy(origin: origin)
        let open = try proxy.transport(
            TrustPolicy(anchors: Fixture.anchors("rogue-root")), proxyTrust: Self.proxyPolicy())
        for _ in 0..<3 {
            let sent = try AttackBench.request(origin, scheme: "http")
            #expect(try await open.send(sent).text == "ok")
        }
        #expect(proxy.inner.lines == Array(repeating: "POST http://pin.test:\(origin.port)/ HTTP/1.1", count: 3))
        #expect(proxy.front.connectionCount == 1)
        let pinned = try proxy.transport(Self.originPolicy(), proxyTrust: Self.proxyPolicy())
        let sent = try AttackBench.request(origin, scheme: "http")
        #expect(await failure { try await pinned.send(sent) }?.reason == .plaintextRefused)
        #expect(proxy.front.connectionCount == 1)
    }

    @Test("Proxy and origin with the same name and different ports are kept apart", arguments: versions)
    func sameName(version: ServerTLS.Version) async throws {
        let origin = try AttackBench.server(
            "leaf", adjust: { ($0.minimumVersion, $0.maximumVersion) = (version, version) })
        let proxy = try SecureProxy("leaf-backup", origin: origin) {
            ($0.minimumVersion, $0.maximumVersion) = (version, version)
        }
        let originPolicy = try AttackBench.policy([Fixture.key("leaf")])
        let proxyPolicy = try AttackBench.policy([Fixture.key("leaf-backup")])
        let right = try proxy.transport(originPolicy, proxyTrust: proxyPolicy, host: "pin.test")
        for _ in 0..<2 { try await AttackBench.expectSuccess(of: origin, by: right) }
        #expect(proxy.inner.lines == ["CONNECT pin.test:\(origin.port) HTTP/1.1"])
        // Each policy in the place of the other refuses.
        let before = AttackBench.Sight(origin)
        let seen = proxy.front.applicationBytesReceived
        for (trust, proxyTrust) in [(proxyPolicy, proxyPolicy), (originPolicy, originPolicy)] {
            let crossed = try proxy.transport(trust, proxyTrust: proxyTrust, host: "pin.test")
            let sent = try AttackBench.request(origin)
            #expect(await failure { try await crossed.send(sent) }?.reason == .pinMismatch)
            await crossed.shutdown()
        }
        #expect(origin.requestCount == before.requests)
        #expect(origin.applicationBytesReceived == before.applicationBytes)
        #expect(proxy.inner.lines.count == 2)
        #expect(proxy.front.applicationBytesReceived > seen)
    }

    @Test(
        "A TLS session with a server as a proxy is not resumed with the server as an origin, nor the reverse",
        arguments: versions)
    func proxyAsOrigin(version: ServerTLS.Version) async throws {
        let origin = try AttackBench.server()
        let proxy = try SecureProxy("leaf-other", origin: origin) {
            ($0.minimumVersion, $0.maximumVersion) = (version, version)
            $0.clientAuthentication = .request
        }
        let port = proxy.front.port
        let way = try Proxy(.https, host: HostName("other.test"), port: port)
        var configuration = CurlTransport.Configuration()
        // The proxy itself is also an origin, which is reached directly.
        configuration.proxy = .deciding { $0.port == port ? nil : way }
        configuration.proxyTrust = try Self.proxyPolicy(identity: Fixture.identity("client-b"))
        configuration.addressOverrides = try AttackBench.hosts.map {
            try .init(host: HostName($0), port: port, address: HostName("127.0.0.1"))
        }
        let trust = try TrustPolicy(anchors: Fixture.anchors("root"), identity: Fixture.identity("client-a"))
        let transport = try CurlTransport(trust: trust, configuration: configuration)
        let direct = TransportRequest(.get, try RequestURL("https://other.test:\(port)/"))
        let through = try AttackBench.request(origin)
        for _ in 0..<2 {
            #expect(await failure { try await transport.send(direct) } == nil)
            #expect(try await transport.send(through).text == "ok")
        }
        let texts = try (
            Fixture.certificate("client-a").certificatePEM, Fixture.certificate("client-b").certificatePEM
        )
        let shown = proxy.front.handshakes.map(\.clientCertificatePEM)
        #expect(Set(shown) == [texts.0, texts.1])
        // The first handshake in either role is a full one.
        for text in [texts.0, texts.1] {
            #expect(proxy.front.handshakes.first { $0.clientCertificatePEM == text }?.resumed == false)
        }
    }

    @Test("The pins of a proxy can come from a policy file")
    func policyFile() async throws {
        let origin = try AttackBench.server()
        let (right, wrong) = try (Fixture.key("leaf-other").text, strangePin(1).text)
        for (pin, reason) in [(right, nil), (wrong, RequestFailure.Reason.pinMismatch)] {
            let proxy = try SecureProxy(origin: origin)
            let backup = try strangePin(2).text
            let proxyTrust = try TrustPolicy(
                json: """
                    {"anchors": ["root.pem"], "unlistedHosts": "refused",
                     "hosts": [{"host": "Other.TEST.", "pins": ["\(pin)", "\(backup)"]}]}
                    """, directory: Fixture.directory)
            let transport = try proxy.transport(Self.originPolicy(), proxyTrust: proxyTrust)
            let sent = try AttackBench.request(origin)
            #expect(await failure { try await transport.send(sent) }?.reason == reason)
            await transport.shutdown()
            try await proxy.closed()
            if reason != nil { proxy.expectNothingSeen() }
        }
        #expect(origin.requestCount == 1)
    }

    @Test("A request through an unlisted proxy is refused before a connection")
    func unlistedProxy() async throws {
        let origin = try AttackBench.server()
        let proxy = try SecureProxy(origin: origin)
        let transport = try proxy.transport(
            Self.originPolicy(), proxyTrust: AttackBench.policy([strangePin()], host: "elsewhere.test"))
        let sent = try AttackBench.request(origin)
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .hostRefused)
        #expect(found?.host == "other.test")
        #expect(proxy.front.connectionCount == 0)
        #expect(origin.connectionCount == 0)
    }

    @Test(
        "A kept connection to a proxy is refused once the proxy's rule has expired, if it then refuses",
        arguments: ["http", "https"])
    func proxyRuleExpires(scheme: String) async throws {
        let handler: @Sendable (ServerRequest) -> ServerReply = { _ in .response(body: "ok") }
        let (origin, proxy, transport, first) = try await outlived { end in
            let origin = try scheme == "http" ? LoopbackServer(handler: handler) : AttackBench.server(handler: handler)
            let proxy = try SecureProxy(origin: origin)
            let proxyTrust = try AttackBench.policy(
                [Fixture.key("leaf-other"), strangePin()], expires: end, onExpiry: .refuse, host: "other.test")
            let transport = try proxy.transport(
                TrustPolicy(anchors: Fixture.anchors("root")), proxyTrust: proxyTrust)
            let sent = try AttackBench.request(origin, scheme: scheme)
            return (origin, proxy, transport, await failure { try await transport.send(sent) })
        }
        #expect(first == nil)
        let (seen, served) = (proxy.front.applicationBytesReceived, origin.applicationBytesReceived)
        let sent = try AttackBench.request(origin, scheme: scheme)
        #expect(await failure { try await transport.send(sent) }?.reason == .hostRefused)
        #expect(origin.requestCount == 1)
        #expect(origin.applicationBytesReceived == served)
        // Through a tunnel the proxy sees the end of the server's TLS, an alert of 24 bytes.
        if scheme == "http" { #expect(proxy.front.applicationBytesReceived == seen) }
    }

    @Test("Plain http is refused on a kept connection to a proxy whose certificate has expired")
    func proxyCertificateExpires() async throws {
        let authority = try TestAuthority(name: "Short")
        let anchors = try TrustAnchors.only([PEM(authority.certificate.certificatePEM)])
        let (origin, proxy, transport, first) = try await outlived { end in
            let seconds = Int64(end.timeIntervalSince1970) - Int64(Date().timeIntervalSince1970)
            let leaf = try authority.issue(
                .init(commonName: "other.test", dnsNames: ["other.test"], notAfter: seconds))
            let origin = try LoopbackServer { _ in .response(body: "ok") }
            let proxy = try SecureProxy(origin: origin) { ($0.certificate, $0.chain) = (leaf, []) }
            let transport = try proxy.transport(.system, proxyTrust: TrustPolicy(anchors: anchors))
            let sent = try AttackBench.request(origin, scheme: "http")
            return (origin, proxy, transport, await failure { try await transport.send(sent) })
        }
        #expect(first == nil)
        let seen = proxy.front.applicationBytesReceived
        let found = await failure { try await transport.send(AttackBench.request(origin, scheme: "http")) }
        #expect(found?.reason == .trustChain)
        #expect(found?.host == "other.test")
        #expect(origin.requestCount == 1)
        #expect(proxy.front.applicationBytesReceived == seen)
        await transport.shutdown()
    }
}
