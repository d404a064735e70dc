import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

/// A redirecting server, a target server, and a policy for both. Their hosts are `pin.test` and `other.test`.
private struct RedirectBench: Sendable {
    let from, to: LoopbackServer
    let trust: TrustPolicy

    /// The policy's rule for one of the two hosts.
    enum Rule: Sendable {
        case right, wrong, none
    }

    /// - Parameters:
    /// - first: The rule for the redirecting host.
    /// - second: The rule for the target host.
    /// - status: The status of the redirect.
    /// - scheme: The scheme of the redirect's target.
    ///   - isUnlisted: Whether hosts without a rule are refused.
    init(
        _ first: Rule, _ second: Rule, status: Int = 307, scheme: String = "https", isUnlistedRefused: Bool = false,
        identity: TestCertificate? = nil
    ) throws {
        let authority = try TestAuthority(name: "Redirects")
        let leaves = try ["pin.test", "other.test"].map {
            try authority.issue(.init(commonName: $0, dnsNames: [$0], ipAddresses: []))
        }
        let answer: @Sendable (ServerRequest) -> ServerReply = { .response(body: "\($0.method) \($0.bodyText)") }
        if scheme == "https" {
            to = try LoopbackServer(
                tls: ServerTLS(certificate: leaves[1], clientAuthentication: .request), handler: answer)
        } else {
            to = try LoopbackServer(handler: answer)
        }
        let target = "\(scheme)://other.test:\(to.port)/"
        from = try LoopbackServer(tls: ServerTLS(certificate: leaves[0])) { _ in
            .response(status: status, headers: [("Location", target)])
        }
        var rules: [HostRule] = []
        for (leaf, rule, host) in [(leaves[0], first, "pin.test"), (leaves[1], second, "other.test")] {
            let strange = try [UInt8(1), 2].map { try Pin(kind: .publicKey, digest: Array(repeating: $0, count: 32)) }
            switch rule {
            case .right: rules.append(try HostRule(host, pins: PinSet([.publicKey(leaf.publicKeyPin), strange[0]])))
            case .wrong: rules.append(try HostRule(host, pins: PinSet(strange)))
            case .none: break
            }
        }
        let client = try identity.map {
            try ClientIdentity(certificate: PEM($0.certificatePEM), privateKey: PEM($0.privateKeyPEM))
        }
        trust = try TrustPolicy(
            hosts: rules, unlistedHosts: isUnlistedRefused ? .refused : .anchorsOnly,
            anchors: .only([PEM(authority.certificate.certificatePEM)]), identity: client)
    }

    /// Sends a secret to the first server and follows the redirect.
    func send(policy: RedirectPolicy = .standard) async throws -> RedirectedResponse {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        configuration.addressOverrides = try [("pin.test", from.port), ("other.test", to.port)].map {
            try .init(host: HostName($0.0), port: $0.1, address: HostName("127.0.0.1"))
        }
        let transport = try CurlTransport(trust: trust, configuration: configuration)
        let request = TransportRequest(
            .post, try RequestURL("https://pin.test:\(from.port)/"), headerFields: [.authorization: "secret"],
            body: .bytes(Data("secret".utf8)))
        let outcome: Result<RedirectedResponse, any Error>
        do {
            outcome = .success(try await transport.send(request, following: policy))
        } catch {
            outcome = .failure(error)
        }
        await transport.shutdown()
        // Both servers have read everything that was sent.
        let end = ContinuousClock.now + .seconds(20)
        while from.openConnectionCount + to.openConnectionCount > 0, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(2))
        }
        return try outcome.get()
    }

    /// Expects that the request is refused after the first hop and that the second server received nothing.
    func expectRefusal(
        _ reason: RequestFailure.Reason, policy: RedirectPolicy = .standard, connections: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = await #expect(throws: RequestFailure.self, sourceLocation: sourceLocation) {
            try await send(policy: policy)
        }
        #expect(found?.reason == reason, "\(String(describing: found))", sourceLocation: sourceLocation)
        #expect(from.requestCount == 1, sourceLocation: sourceLocation)
        #expect(to.connectionCount == connections, sourceLocation: sourceLocation)
        #expect(to.requestCount == 0, sourceLocation: sourceLocation)
        #expect(to.applicationBytesReceived == 0, sourceLocation: sourceLocation)
        #expect(to.handshakes.allSatisfy { $0.clientCertificatePEM == nil }, sourceLocation: sourceLocation)
    }
}

@Suite("Redirects under a trust policy")
struct RedirectTrustAttacks {
    static let statuses = [301, 302, 303, 307, 308]

    @Test("A redirect from a pinned host to one without a rule verifies the chain", arguments: statuses)
    func toUnlisted(status: Int) async throws {
        let bench = try RedirectBench(.right, .none, status: status)
        let redirected = try await bench.send()
        #expect(redirected.response.status == .ok)
        #expect(bench.to.requestCount == 1)
        #expect(bench.to.requests.first?.header("Authorization") == nil)
    }

    @Test(
        "A redirect from a pinned host to an unlisted host is refused if the policy says so", arguments: statuses)
    func toRefused(status: Int) async throws {
        try await RedirectBench(.right, .none, status: status, isUnlistedRefused: true)
            .expectRefusal(.hostRefused, connections: 0)
    }

    @Test("A redirect from a pinned host to one with wrong pins sends nothing there", arguments: statuses)
    func toWrong(status: Int) async throws {
        let client = try TestAuthority(name: "Client").issue(.init(commonName: "client", dnsNames: [], ipAddresses: []))
        try await RedirectBench(.right, .wrong, status: status, identity: client).expectRefusal(.pinMismatch)
    }

    @Test("A redirect from a host without a rule to a pinned one verifies the pins", arguments: statuses)
    func toPinned(status: Int) async throws {
        let right = try RedirectBench(.none, .right, status: status)
        #expect(try await right.send().response.status == .ok)
        #expect(right.to.requestCount == 1)
        try await RedirectBench(.none, .wrong, status: status).expectRefusal(.pinMismatch)
    }

    @Test("A redirect from a host with wrong pins is never received")
    func fromWrong() async throws {
        let bench = try RedirectBench(.wrong, .right)
        let found = await #expect(throws: RequestFailure.self) { try await bench.send() }
        #expect(found?.reason == .pinMismatch)
        #expect(bench.from.applicationBytesReceived == 0)
        #expect(bench.to.connectionCount == 0)
    }

    @Test("A redirect from https to http under a rule is refused even if downgrades are allowed", arguments: statuses)
    func downgrade(status: Int) async throws {
        var lenient = RedirectPolicy.standard
        lenient.allowsDowngrade = true
        for rule in [RedirectBench.Rule.right, .wrong] {
            try await RedirectBench(.right, rule, status: status, scheme: "http")
                .expectRefusal(.redirectRefused, connections: 0)
            try await RedirectBench(.right, rule, status: status, scheme: "http")
                .expectRefusal(.plaintextRefused, policy: lenient, connections: 0)
        }
        try await RedirectBench(.right, .none, status: status, scheme: "http", isUnlistedRefused: true)
            .expectRefusal(.hostRefused, policy: lenient, connections: 0)
        // Without a rule only the downgrade itself can be refused.
        try await RedirectBench(.right, .none, status: status, scheme: "http")
            .expectRefusal(.redirectRefused, connections: 0)
        let allowed = try RedirectBench(.right, .none, status: status, scheme: "http")
        #expect(try await allowed.send(policy: lenient).response.status == .ok)
    }

    @Test(
        "A redirect to another spelling of a pinned address uses the rule of that address",
        arguments: ["127.0.0.1", "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]"], ["http", "https"])
    func toAddress(host: String, scheme: String) async throws {
        let leaf = try TestAuthority(name: "Redirects").issue(.init(commonName: "127.0.0.1"))
        let target = try LoopbackServer(tls: scheme == "https" ? ServerTLS(certificate: leaf) : nil) { _ in .response()
        }
        let location = "\(scheme)://\(host):\(target.port)/"
        let source = try LoopbackServer { _ in .response(status: 307, headers: [("Location", location)]) }
        let strange = try [UInt8(1), 2].map { try Pin(kind: .publicKey, digest: Array(repeating: $0, count: 32)) }
        let trust = try TrustPolicy(hosts: [HostRule("127.0.0.1", pins: PinSet(strange))])
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        configuration.addressOverrides = try [
            .init(host: HostName("source.test"), port: source.port, address: HostName("127.0.0.1"))
        ]
        let transport = try CurlTransport(trust: trust, configuration: configuration)
        let request = TransportRequest(.get, try RequestURL("http://source.test:\(source.port)/"))
        let found = await #expect(throws: RequestFailure.self) {
            try await transport.send(request, following: .standard)
        }
        // The system trusts no issuer of this certificate, so the chain fails before the pins are checked.
        #expect(found?.reason == (scheme == "http" ? .plaintextRefused : .trustChain))
        #expect(found?.host == "127.0.0.1")
        #expect(target.requestCount == 0)
    }

    @Test(
        "A redirect to a refused spelling of an address is not followed and fails",
        arguments: [
            "[64:ff9b::7f00:1]", "[::127.0.0.1]", "[::7f00:1]", "0.0.0.0", "[::]", "127.1", "2130706433", "0x7f.1",
            "[::ffff:127.0.0.1%25lo]",
        ])
    func toRefusedSpelling(host: String) async throws {
        let source = try LoopbackServer { _ in
            .response(status: 302, headers: [("Location", "http://\(host):1/")])
        }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        let transport = try CurlTransport(trust: .system, configuration: configuration)
        let request = TransportRequest(.get, try RequestURL("http://127.0.0.1:\(source.port)/"))
        let found = await #expect(throws: RequestFailure.self) {
            try await transport.send(request, following: .standard)
        }
        #expect(found?.reason == .protocolViolation)
        #expect(source.requestCount == 1)
    }
}
