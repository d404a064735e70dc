import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A trust policy")
struct TrustTests {
    /// Sends one request, checks the client's reason, and checks that the server saw no byte of the request.
    private func expectRefusal(
        _ reason: RequestFailure.Reason, _ server: LoopbackServer, _ policy: TrustPolicy, host: String = "localhost"
    ) async throws {
        let transport = try CurlTransport(trust: policy)
        let sent = TransportRequest(
            .post, try RequestURL("https://\(host):\(server.port)/"), body: .bytes(Data("secret".utf8)))
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == reason, "\(String(describing: found))")
        await transport.shutdown()
        #expect(server.applicationBytesReceived == 0)
        #expect(server.requestCount == 0)
    }

    @Test("A policy with private anchors accepts their server and refuses another")
    func anchors() async throws {
        let (ours, theirs) = try (Authority(), Authority())
        let (good, bad) = try (ours.server { _ in .response(body: "ok") }, theirs.server { _ in .response() })
        let transport = try CurlTransport(trust: TrustPolicy(anchors: ours.anchors))
        let response = try await transport.send(request(good))
        #expect(response.text == "ok")
        #expect(response.connection.tlsVersion == "TLSv1.3")
        #expect(response.connection.tlsCipher?.hasPrefix("TLS_") == true)
        try await expectRefusal(.trustChain, bad, TrustPolicy(anchors: ours.anchors))
        let unseen = try ours.server { _ in .response() }
        try await expectRefusal(.trustChain, unseen, .system)
    }

    @Test("A policy with the system's and other anchors accepts a server of the other anchors")
    func systemAnd() async throws {
        let ours = try Authority()
        let server = try ours.server { _ in .response(body: "ok") }
        let anchors = try TrustAnchors.systemAnd([PEM(ours.authority.certificate.certificatePEM)])
        let transport = try CurlTransport(trust: TrustPolicy(anchors: anchors))
        #expect(try await transport.send(request(server)).text == "ok")
    }

    @Test("A self-signed server can be its own anchor")
    func selfSigned() async throws {
        let leaf = try TestCertificate.selfSigned(TestCertificate.Template(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in .response(body: "ok") }
        let policy = TrustPolicy(anchors: try .only([PEM(leaf.certificatePEM)]))
        #expect(try await CurlTransport(trust: policy).send(request(server)).text == "ok")
    }

    @Test("A matching pin of leaf or authority, key or certificate, accepts the server")
    func rightPins() async throws {
        let ours = try Authority()
        let server = try ours.server { _ in .response(body: "ok") }
        let pins = try [
            Pin.publicKey(ours.leaf.publicKeyPin), .certificate(ours.leaf.certificatePin),
            .publicKey(ours.authority.certificate.publicKeyPin),
            .certificate(ours.authority.certificate.certificatePin),
        ]
        for pin in pins {
            let policy = try TrustPolicy(pins: [strangePin(), pin], anchors: ours.anchors)
            let transport = try CurlTransport(trust: policy)
            for _ in 0..<3 { #expect(try await transport.send(request(server)).text == "ok") }
        }
    }

    @Test("Nothing is sent if no pin matches", arguments: [ServerTLS.Version.tls12, .tls13])
    func wrongPins(version: ServerTLS.Version) async throws {
        let ours = try Authority()
        var tls = ServerTLS(certificate: ours.leaf)
        (tls.minimumVersion, tls.maximumVersion) = (version, version)
        let server = try LoopbackServer(tls: tls) { _ in .response() }
        // The digest of a certificate is not a public-key pin, and the digest of a key is not a certificate pin.
        let crossed = try Pin.publicKey(ours.leaf.certificatePin)
        let policy = try TrustPolicy(pins: [strangePin(), crossed], anchors: ours.anchors)
        try await expectRefusal(.pinMismatch, server, policy)
        let transport = try CurlTransport(trust: policy)
        let found = await failure { try await transport.send(request(server)) }
        #expect(
            found?.chain.map(\.publicKeyPin.text) == [ours.leaf.publicKeyPin, ours.authority.certificate.publicKeyPin])
    }

    @Test("Pins are compared with the verified chain, and not with certificates that the server appends")
    func appendedCertificate() async throws {
        let (ours, rogue) = try (Authority(), Authority())
        let anchors = try TrustAnchors.only([
            PEM(ours.authority.certificate.certificatePEM), PEM(rogue.authority.certificate.certificatePEM),
        ])
        let tls = ServerTLS(certificate: rogue.leaf, chain: [ours.leaf, ours.authority.certificate])
        let server = try LoopbackServer(tls: tls) { _ in .response() }
        let policy = try TrustPolicy(
            pins: [.publicKey(ours.leaf.publicKeyPin), .publicKey(ours.authority.certificate.publicKeyPin)],
            anchors: anchors)
        try await expectRefusal(.pinMismatch, server, policy)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var template: TestCertificate.Template
        var reason: RequestFailure.Reason
        var testDescription: String { name }
    }

    static let faults: [Fault] = [
        Fault(
            name: "expired", template: .init(commonName: "localhost", notBefore: -7200, notAfter: -3600),
            reason: .trustChain),
        Fault(
            name: "not yet valid", template: .init(commonName: "localhost", notBefore: 3600), reason: .trustChain),
        Fault(
            name: "for another host", template: .init(commonName: "localhost", dnsNames: ["other.test"]),
            reason: .trustHost),
        Fault(
            name: "with the host in its common name only",
            template: .init(commonName: "localhost", dnsNames: [], ipAddresses: ["127.0.0.1"]), reason: .trustHost),
        Fault(
            name: "for clients only",
            template: .init(commonName: "localhost", extendedKeyUsage: [.clientAuth]), reason: .trustChain),
        Fault(
            name: "with a short key", template: .init(commonName: "localhost", key: .rsa(1024)), reason: .trustChain),
    ]

    @Test("An invalid certificate is refused even if it is pinned", arguments: faults)
    func invalid(_ fault: Fault) async throws {
        let ours = try Authority(fault.template)
        let server = try ours.server { _ in .response() }
        let policy = try TrustPolicy(
            pins: [.publicKey(ours.leaf.publicKeyPin), .certificate(ours.leaf.certificatePin)], anchors: ours.anchors)
        try await expectRefusal(fault.reason, server, policy)
    }

    @Test("IP addresses are compared with the addresses of the certificate")
    func addresses() async throws {
        let with = try Authority()
        let server = try with.server { _ in .response(body: "ok") }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: with.anchors))
        let url = try RequestURL("https://127.0.0.1:\(server.port)/")
        #expect(try await transport.send(TransportRequest(.get, url)).text == "ok")
        let without = try Authority(.init(commonName: "localhost", ipAddresses: []))
        let other = try without.server { _ in .response() }
        try await expectRefusal(.trustHost, other, TrustPolicy(anchors: without.anchors), host: "127.0.0.1")
    }

    @Test("A server below the minimum TLS version is refused")
    func floor() async throws {
        let ours = try Authority()
        for (version, floor) in [(ServerTLS.Version.tls11, TLSVersion.tls12), (.tls12, .tls13)] {
            var tls = ServerTLS(certificate: ours.leaf)
            (tls.minimumVersion, tls.maximumVersion) = (version, version)
            let server = try LoopbackServer(tls: tls) { _ in .response() }
            try await expectRefusal(.tlsTooOld, server, TrustPolicy(anchors: ours.anchors, minimumTLS: floor))
        }
    }

    @Test("A pinned host is refused over plain http before a connection is opened")
    func plaintext() async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport(trust: TrustPolicy(pins: [strangePin(1), strangePin(2)]))
        let sent = try request(server)
        #expect(await failure { try await transport.send(sent) }?.reason == .plaintextRefused)
        #expect(server.connectionCount == 0)
    }

    @Test("The client's certificate is shown only to the right server")
    func identity() async throws {
        let (ours, rogue) = try (Authority(), Authority())
        let client = try ours.authority.issue(.init(commonName: "client", dnsNames: [], ipAddresses: []))
        let identity = try ClientIdentity(
            certificate: PEM(client.certificatePEM), privateKey: PEM(client.privateKeyPEM))
        let good = try LoopbackServer(
            tls: ServerTLS(certificate: ours.leaf, clientAuthentication: .require(anchor: ours.authority.certificate))
        ) { _ in .response(body: "ok") }
        let policy = TrustPolicy(anchors: ours.anchors, identity: identity)
        #expect(try await CurlTransport(trust: policy).send(request(good)).text == "ok")
        #expect(good.handshakes.first?.clientCertificatePEM != nil)
        // If it is missing, TLS 1.3 notifies the client only after the client's handshake is complete.
        let bare = try CurlTransport(trust: TrustPolicy(anchors: ours.anchors))
        #expect(await failure { try await bare.send(request(good)) }?.reason == .tls)
        let bad = try LoopbackServer(
            tls: ServerTLS(certificate: rogue.leaf, clientAuthentication: .request)
        ) { _ in .response() }
        try await expectRefusal(.trustChain, bad, policy)
        let wrongPins = try TrustPolicy(
            pins: [strangePin(1), strangePin(2)], anchors: ours.anchors, identity: identity)
        let pinned = try LoopbackServer(
            tls: ServerTLS(certificate: ours.leaf, clientAuthentication: .request)
        ) { _ in .response() }
        try await expectRefusal(.pinMismatch, pinned, wrongPins)
        #expect((bad.handshakes + pinned.handshakes).allSatisfy { $0.clientCertificatePEM == nil })
    }

    @Test("Resumed sessions are judged like new ones", arguments: [ServerTLS.Version.tls12, .tls13])
    func resumption(version: ServerTLS.Version) async throws {
        let ours = try Authority()
        var tls = ServerTLS(certificate: ours.leaf)
        (tls.minimumVersion, tls.maximumVersion) = (version, version)
        let server = try LoopbackServer(tls: tls) { _ in .response(headers: [("Connection", "close")], body: "ok") }
        let policy = try TrustPolicy(pins: [strangePin(), .publicKey(ours.leaf.publicKeyPin)], anchors: ours.anchors)
        let transport = try CurlTransport(trust: policy)
        for _ in 0..<3 { #expect(try await transport.send(request(server)).text == "ok") }
        #expect(server.handshakes.map(\.resumed) == [false, true, true])
        // Another policy has its own connections and sessions, and cannot use these.
        let refused = try TrustPolicy(pins: [strangePin(1), strangePin(2)], anchors: ours.anchors)
        let other = try CurlTransport(trust: refused)
        #expect(await failure { try await other.send(request(server)) }?.reason == .pinMismatch)
        #expect(server.requestCount == 3)
    }

    @Test("A compiled policy can be shared by several transports and many tasks")
    func sharing() async throws {
        let ours = try Authority()
        let server = try ours.server { .response(body: $0.target) }
        let trust = try CompiledTrust(
            TrustPolicy(pins: [strangePin(), .publicKey(ours.leaf.publicKeyPin)], anchors: ours.anchors))
        let transports = try (0..<4).map { _ in try CurlTransport(trust: trust) }
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await transports[number % 4].send(request(server, "/\(number)")).text == "/\(number)"
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 64)
    }
}

@Suite("Compiling a policy")
struct CompiledTrustTests {
    @Test("If OpenSSL cannot read a part of a policy, the policy is refused with the part's name")
    func faults() throws {
        let ours = try Authority()
        let other = try TestAuthority(name: "Other")
        let garbage = try PEM("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
        let certificate = try PEM(ours.leaf.certificatePEM)
        let anchor = #expect(throws: RequestFailure.self) {
            try CompiledTrust(TrustPolicy(anchors: .only([garbage])))
        }
        #expect(anchor?.reason == .invalidPolicy)
        #expect(anchor?.message.contains("anchor") == true)
        let mismatch = #expect(throws: RequestFailure.self) {
            let identity = try ClientIdentity(
                certificate: certificate, privateKey: PEM(other.certificate.privateKeyPEM))
            _ = try CompiledTrust(TrustPolicy(anchors: ours.anchors, identity: identity))
        }
        #expect(mismatch?.message.contains("does not belong") == true)
        let key = #expect(throws: RequestFailure.self) {
            let identity = try ClientIdentity(
                certificate: certificate,
                privateKey: PEM("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"))
            _ = try CompiledTrust(TrustPolicy(anchors: ours.anchors, identity: identity))
        }
        #expect(key?.message.contains("client key") == true)
    }

    @Test("A chain of PEM certificates has its pins")
    func chain() throws {
        let ours = try Authority()
        let text = ours.leaf.certificatePEM + ours.authority.certificate.certificatePEM
        let chain = try CertificateChain(PEM(text))
        #expect(
            chain.certificates.map(\.publicKeyPin.text) == [
                ours.leaf.publicKeyPin, ours.authority.certificate.publicKeyPin,
            ])
        #expect(
            chain.certificates.map(\.certificatePin.text) == [
                ours.leaf.certificatePin, ours.authority.certificate.certificatePin,
            ])
        #expect(chain.certificates[0].subject.contains("localhost"))
        #expect(chain.certificates[0].notAfter > chain.certificates[0].notBefore)
    }

    @Test("The chain of a server is read whether or not it is trusted, and nothing is sent")
    func probe() throws {
        let ours = try Authority()
        let server = try ours.server { _ in .response() }
        let host = try HostName("localhost")
        let trusted = try CertificateChain.presented(
            by: host, port: server.port, trust: CompiledTrust(TrustPolicy(anchors: ours.anchors)))
        #expect(trusted.distrust == nil)
        #expect(
            trusted.certificates.map(\.publicKeyPin.text) == [
                ours.leaf.publicKeyPin, ours.authority.certificate.publicKeyPin,
            ])
        let distrusted = try CertificateChain.presented(
            by: host, port: server.port, trust: CompiledTrust(.system))
        #expect(distrusted.distrust?.reason == .trustChain)
        #expect(distrusted.certificates.first?.publicKeyPin.text == ours.leaf.publicKeyPin)
        #expect(server.applicationBytesReceived == 0)
    }

    @Test("A server that is unreachable or does not speak TLS has no chain")
    func noServer() throws {
        let trust = try CompiledTrust(.system)
        let plain = try LoopbackServer { _ in .response() }
        let host = try HostName("127.0.0.1")
        #expect(throws: RequestFailure.self) { try CertificateChain.presented(by: host, port: 1, trust: trust) }
        let error = #expect(throws: RequestFailure.self) {
            try CertificateChain.presented(by: host, port: plain.port, trust: trust, timeout: .seconds(2))
        }
        #expect(error?.reason == .tls)
    }
}
