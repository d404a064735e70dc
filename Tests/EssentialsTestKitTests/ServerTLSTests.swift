import EssentialsTestKit
import Testing

@Suite struct ServerTLSTests {
    private let authority: TestAuthority
    private let leaf: TestCertificate
    private let get = "GET / HTTP/1.1\r\n\r\n"

    init() throws {
        authority = try TestAuthority(name: "Test CA")
        leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
    }

    private var trusting: SocketClient.TLSOptions { SocketClient.TLSOptions(anchor: authority.certificate) }

    /// Performs a handshake, and one request if it succeeds. Returns what the client and the server report.
    private func handshake(
        _ tls: ServerTLS, _ options: SocketClient.TLSOptions
    ) throws -> (error: String?, record: HandshakeRecord?) {
        let server = try LoopbackServer(tls: tls) { _ in .response(body: "ok") }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        let error = client.secure(options)
        if error == nil { _ = try? client.exchange(get) }
        _ = becomesTrue { !server.handshakes.isEmpty }
        return (error, server.handshakes.first)
    }

    @Test(arguments: [ServerTLS.Version.tls10, .tls11, .tls12, .tls13])
    func `Every TLS version can be selected`(version: ServerTLS.Version) throws {
        let tls = ServerTLS(certificate: leaf, minimumVersion: version, maximumVersion: version)
        var options = trusting
        options.minimum = .tls10
        options.alpn = "h2\nhttp/1.1"
        let (error, record) = try handshake(tls, options)
        #expect(error == nil)
        let names: [ServerTLS.Version: String] = [
            .tls10: "TLSv1", .tls11: "TLSv1.1", .tls12: "TLSv1.2", .tls13: "TLSv1.3",
        ]
        #expect(record?.version == names[version])
        #expect(record?.succeeded == true)
        #expect(record?.resumed == false)
        #expect(record?.serverName == "localhost")
        #expect(record?.applicationProtocol == "http/1.1")
        #expect(record?.clientCertificatePEM == nil)
        #expect(record?.error == nil)
    }

    @Test func `A version below the minimum fails on both sides`() throws {
        var options = trusting
        options.maximum = .tls12
        let (error, record) = try handshake(ServerTLS(certificate: leaf, minimumVersion: .tls13), options)
        #expect(error != nil)
        #expect(record?.succeeded == false)
        #expect(record?.error?.contains("unsupported protocol") == true)
    }

    @Test(arguments: [ServerTLS.Version.tls12, .tls13])
    func `A server that is not trusted receives no byte`(version: ServerTLS.Version) throws {
        let tls = ServerTLS(certificate: leaf, maximumVersion: version)
        let server = try LoopbackServer(tls: tls) { _ in .response() }
        defer { server.stop() }
        let other = try TestAuthority(name: "Other CA")
        var wrongHost = trusting
        wrongHost.host = "example.com"
        for options in [SocketClient.TLSOptions(anchor: other.certificate), wrongHost] {
            let client = try SocketClient(port: server.port)
            #expect(client.secure(options)?.hasPrefix("certificate refused") == true)
        }
        #expect(becomesTrue { server.handshakes.count == 2 })
        #expect(Set(server.handshakes.map(\.serverName)) == ["localhost", "example.com"])
        #expect(server.handshakes.allSatisfy { !$0.succeeded && $0.error != nil })
        #expect(server.applicationBytesReceived == 0)
    }

    @Test func `Names, addresses and validity are those of the template`() throws {
        let plain = try authority.issue(.init(commonName: "localhost", dnsNames: [], ipAddresses: []))
        let wildcard = try authority.issue(.init(commonName: "x", dnsNames: ["*.example.com"], ipAddresses: ["::1"]))
        let expired = try authority.issue(.init(commonName: "x", notBefore: -7200, notAfter: -3600))
        let early = try authority.issue(.init(commonName: "x", notBefore: 3600))
        let client = try authority.issue(.init(commonName: "x", extendedKeyUsage: [.clientAuth]))
        let cases: [(TestCertificate, host: String, refusal: String?)] = [
            (leaf, "127.0.0.1", nil), (leaf, "localhost", nil), (leaf, "127.0.0.2", "IP address mismatch"),
            (wildcard, "a.example.com", nil), (wildcard, "example.com", "hostname mismatch"), (wildcard, "::1", nil),
            (expired, "localhost", "certificate has expired"), (early, "localhost", "certificate is not yet valid"),
            (client, "localhost", "unsuitable certificate purpose"), (plain, "127.0.0.1", "IP address mismatch"),
        ]
        for (certificate, host, refusal) in cases {
            var options = trusting
            options.host = host
            let error = try handshake(ServerTLS(certificate: certificate), options).error
            #expect(refusal.map { error?.contains($0) == true } ?? (error == nil), "\(host): \(error ?? "-")")
        }
    }

    @Test func `Chains are presented exactly as configured`() throws {
        let intermediate = try authority.issueAuthority(name: "Intermediate", pathLength: 0)
        let below = try intermediate.issue(.init(commonName: "localhost"))
        let tooDeep = try intermediate.issueAuthority(name: "Too deep")
        let deepLeaf = try tooDeep.issue(.init(commonName: "localhost"))
        let stranger = try TestCertificate.selfSigned(.init(commonName: "stranger"))
        let underLeaf = try leaf.issue(.init(commonName: "localhost"))
        let cases: [(TestCertificate, [TestCertificate], isTrusted: Bool)] = [
            (below, [intermediate], true), (below, [], false), (below, [stranger, intermediate], true),
            (deepLeaf, [tooDeep, intermediate], false), (underLeaf, [leaf], false), (stranger, [leaf], false),
        ]
        for (certificate, chain, isTrusted) in cases {
            let error = try handshake(ServerTLS(certificate: certificate, chain: chain), trusting).error
            #expect((error == nil) == isTrusted, "\(error ?? "-")")
        }
        let ownAnchor = SocketClient.TLSOptions(anchor: stranger)
        #expect(try handshake(ServerTLS(certificate: stranger), ownAnchor).error == nil)
    }

    @Test func `A cross-signed authority is trusted through either root`() throws {
        let other = try TestAuthority(name: "Other CA")
        let crossed = try other.issue(
            .authority(name: "Test CA", key: .existing(authority.certificate.privateKeyPEM)))
        let tls = ServerTLS(certificate: leaf, chain: [crossed])
        #expect(try handshake(tls, trusting).error == nil)
        #expect(try handshake(tls, SocketClient.TLSOptions(anchor: other.certificate)).error == nil)
    }

    @Test func `RSA keys can be used`() throws {
        let rsa = try authority.issue(.init(commonName: "localhost", key: .rsa(1024)))
        #expect(try handshake(ServerTLS(certificate: rsa), trusting).error == nil)
    }

    // MARK: Client certificates

    @Test func `A requested client certificate is recorded`() throws {
        let identity = try TestCertificate.selfSigned(.init(commonName: "client"))
        var options = trusting
        options.identity = identity
        let requesting = ServerTLS(certificate: leaf, clientAuthentication: .request)
        #expect(try handshake(requesting, options).record?.clientCertificatePEM == identity.certificatePEM)
        #expect(try handshake(requesting, trusting).record?.clientCertificatePEM == nil)
        #expect(try handshake(ServerTLS(certificate: leaf), options).record?.clientCertificatePEM == nil)
    }

    @Test(arguments: [ServerTLS.Version.tls12, .tls13])
    func `A required client certificate must be issued by the anchor`(version: ServerTLS.Version) throws {
        let clients = try TestAuthority(name: "Clients")
        let tls = ServerTLS(
            certificate: leaf, maximumVersion: version, clientAuthentication: .require(anchor: clients.certificate))
        var known = trusting
        known.identity = try clients.issue(.init(commonName: "client"))
        var unknown = trusting
        unknown.identity = try TestCertificate.selfSigned(.init(commonName: "client"))
        #expect(try handshake(tls, known).record?.succeeded == true)
        #expect(try handshake(tls, known).record?.clientCertificatePEM == known.identity?.certificatePEM)
        #expect(try handshake(tls, unknown).record?.succeeded == false)
        #expect(try handshake(tls, trusting).record?.error?.contains("peer did not return a certificate") == true)
    }

    // MARK: Resumption

    @Test(arguments: [ServerTLS.Version.tls12, .tls13], [ServerTLS.Resumption.tickets, .identifiers, .never])
    func `Sessions are resumed as configured`(
        version: ServerTLS.Version, resumption: ServerTLS.Resumption
    ) throws {
        let tls = ServerTLS(
            certificate: leaf, maximumVersion: version, clientAuthentication: .request, resumption: resumption)
        let server = try LoopbackServer(tls: tls) { _ in .raw([.text("x"), .closeWithoutNotify]) }
        defer { server.stop() }
        var options = trusting
        options.identity = try TestCertificate.selfSigned(.init(commonName: "client"))
        for _ in 0..<2 {
            let client = try SocketClient(port: server.port)
            #expect(client.secure(options) == nil)
            client.send(get)
            _ = client.receive()
            options.session = client.session()
            #expect(client.receiveAll().end == .truncated)
        }
        #expect(server.handshakes.map(\.resumed) == [false, resumption != .never])
        #expect(server.handshakes.map(\.serverName) == ["localhost", "localhost"])
        #expect(server.handshakes.allSatisfy { $0.clientCertificatePEM == options.identity?.certificatePEM })
    }

    // MARK: Faults

    @Test func `The ends of a TLS connection can be distinguished`() throws {
        let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { request in
            switch request.path {
            case "/close": .raw([.text("x"), .close])
            case "/truncate": .raw([.text("x"), .closeWithoutNotify])
            default: .raw([.text("x"), .reset])
            }
        }
        defer { server.stop() }
        #expect(server.url == "https://localhost:\(server.port)")
        for (path, end) in [("/close", SocketClient.End.orderly), ("/truncate", .truncated), ("/reset", .truncated)] {
            let client = try SocketClient(port: server.port)
            #expect(client.secure(trusting) == nil)
            client.send("GET \(path) HTTP/1.1\r\n\r\n")
            #expect(client.receiveAll().end == end)
        }
    }

    @Test func `A server can be silent or send invalid bytes before the handshake`() throws {
        let options = ServerOptions(onAccept: { $0 == 0 ? [.text("HTTP/1.1 400 Bad Request\r\n\r\n")] : [.hang] })
        let server = try LoopbackServer(tls: ServerTLS(certificate: leaf), options: options) { _ in .response() }
        #expect(try SocketClient(port: server.port).secure(trusting) != nil)
        let silent = try SocketClient(port: server.port)
        #expect(becomesTrue { server.connectionCount == 2 })
        server.stop()
        #expect(silent.secure(trusting) != nil)
        #expect(server.handshakes.isEmpty)
    }

    @Test func `Stopping interrupts a pending handshake and active connections`() throws {
        let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in .hang }
        let silent = try SocketClient(port: server.port)
        let busy = try SocketClient(port: server.port)
        #expect(busy.secure(trusting) == nil)
        busy.send(get)
        #expect(becomesTrue { server.requestCount == 1 && server.connectionCount == 2 })
        server.stop()
        #expect(silent.receiveAll().end == .orderly)
        #expect(server.handshakes.filter(\.succeeded).count == 1)
    }

    @Test func `A client that leaves during a reply does not end the process under TLS`() throws {
        let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in
            .raw([.repeatSend([UInt8](repeating: 0, count: 65_536), count: 100_000)])
        }
        defer { server.stop() }
        var client: SocketClient? = try SocketClient(port: server.port)
        #expect(client?.secure(trusting) == nil)
        client?.send(get)
        _ = client?.receive()
        client = nil
        #expect(becomesTrue { server.openConnectionCount == 0 })
    }

    @Test func `Large bodies are sent over TLS in both directions`() throws {
        let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { .response(body: $0.body) }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        #expect(client.secure(trusting) == nil)
        let body = String(repeating: "0123456789", count: 30_000)
        let response = try client.exchange("POST / HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(response.text == body)
        #expect(client.serverCertificate() == leaf.certificatePEM)
    }
}
