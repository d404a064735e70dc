import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

/// The certificates of `Fixtures/certificates`, by the names in `Fixtures/README.md`.
enum Fixture {
    /// The directory of the files.
    static let directory = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/") + "/Fixtures/certificates"
    }()

    /// A file's path, for policy files and the like.
    static func path(_ file: String) -> String { "\(directory)/\(file)" }

    /// A file's bytes, such as `leaf.ocsp`.
    static func bytes(_ file: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: path(file)))) }

    /// A file's text, such as `leaf.key`.
    static func text(_ file: String) throws -> String { String(decoding: try bytes(file), as: UTF8.self) }

    /// A PEM file, such as `root.pem` or `intermediate.crl.pem`.
    static func pem(_ file: String) throws -> PEM { try PEM(contentsOfFile: path(file)) }

    /// A certificate with its key: `NAME.pem` and `NAME.key`.
    static func certificate(_ name: String) throws -> TestCertificate {
        try TestCertificate(certificatePEM: text("\(name).pem"), privateKeyPEM: text("\(name).key"))
    }

    /// The chain that a server presents, `NAME.chain.pem`, in its order. Only the first certificate has its key.
    static func chain(_ name: String) throws -> [TestCertificate] {
        let end = "-----END CERTIFICATE-----\n"
        let blocks = try text("\(name).chain.pem").split(separator: end).map { String($0) + end }
        let key = try text("\(keys[name] ?? name).key")
        return try blocks.enumerated().map { index, block in
            try TestCertificate(certificatePEM: block, privateKeyPEM: index == 0 ? key : "")
        }
    }

    /// The keys of chains that are not named after their first certificate.
    private static let keys = [
        "rogue-with-pinned-leaf": "rogue-leaf", "rogue-pinned-second": "rogue-leaf",
        "rogue-with-pinned-issuers": "rogue-leaf", "shuffled": "leaf", "missing-intermediate": "leaf",
        "cross": "leaf", "self-signed.chain-with-pinned": "self-signed",
    ]

    /// These certificates as the only anchors: `anchors("root", "rogue-root")`.
    static func anchors(_ names: String...) throws -> TrustAnchors { try .only(names.map { try pem("\($0).pem") }) }

    /// A client's certificate and key: `identity("client-a")`.
    static func identity(_ name: String) throws -> ClientIdentity {
        try ClientIdentity(certificate: pem("\(name).pem"), privateKey: pem("\(name).key"))
    }

    /// The pin of a certificate's public key.
    static func key(_ name: String, scope: Pin.Scope = .any) throws -> Pin {
        try .publicKey(certificate(name).publicKeyPin, scope: scope)
    }

    /// The pin of a whole certificate.
    static func whole(_ name: String, scope: Pin.Scope = .any) throws -> Pin {
        try .certificate(certificate(name).certificatePin, scope: scope)
    }
}

/// The gate that refuses. It determines how much the server may have seen.
enum Gate: Sendable {
    /// Before a connection. The server sees no connection.
    case preparation
    /// Inside the handshake. The server sees a handshake that fails.
    case handshake
    /// Before the request, on a connection after its handshake. The server sees no part of the request.
    case request
}

/// Servers that present the fixtures' chains, transports that are directed to them, and the expectations on both sides.
///
/// ```swift
/// let server = try AttackBench.server("rogue-with-pinned-leaf")
/// let anchors = try Fixture.anchors("root", "rogue-root")
/// let policy = try AttackBench.policy([Fixture.key("leaf"), strangePin()], anchors: anchors)
/// try await AttackBench.expectRefusal(.pinMismatch, of: server, under: policy)
/// ```
enum AttackBench {
    /// The names that lead to the servers. Addresses need no override.
    static let hosts = [
        "pin.test", "other.test", "elsewhere.test", "a.pin.test", "b.a.pin.test", "xn--bcher-kva.pin.test", "localhost",
    ]

    // MARK: Set-up

    /// A server that presents `CHAIN.chain.pem` and requests the client's certificate. By default it responds to every
    /// request with "ok".
    ///
    /// - Parameters:
    ///   - chain: The chain's name without its ending.
    ///   - adjust: Changes versions, client authentication, resumption or staple.
    static func server(
        _ chain: String = "leaf", options: ServerOptions = ServerOptions(),
        adjust: (inout ServerTLS) throws -> Void = { _ in },
        handler: @escaping @Sendable (ServerRequest) -> ServerReply = { _ in .response(body: "ok") }
    ) throws -> LoopbackServer {
        try server(Fixture.chain(chain), options: options, adjust: adjust, handler: handler)
    }

    /// A server that presents these certificates and requests the client's. The first certificate has its key.
    static func server(
        _ chain: [TestCertificate], options: ServerOptions = ServerOptions(),
        adjust: (inout ServerTLS) throws -> Void = { _ in },
        handler: @escaping @Sendable (ServerRequest) -> ServerReply = { _ in .response(body: "ok") }
    ) throws -> LoopbackServer {
        var tls = ServerTLS(
            certificate: try #require(chain.first), chain: Array(chain.dropFirst()), clientAuthentication: .request)
        try adjust(&tls)
        return try LoopbackServer(tls: tls, options: options, handler: handler)
    }

    /// A policy with one rule, for `pin.test`. Other hosts are refused, so that no test passes for lack of a rule. The
    /// client has a certificate that it could reveal to a wrong server.
    static func policy(
        _ pins: [Pin], mode: PinSet.Mode = .enforce, expires: Date? = nil,
        onExpiry: PinSet.ExpiryAction = .anchorsOnly, host: String = "pin.test", anchors: TrustAnchors? = nil,
        minimumTLS: TLSVersion = .tls12, revocation: Revocation = .none,
        identity: @autoclosure () throws -> ClientIdentity? = try Fixture.identity("client-a")
    ) throws -> TrustPolicy {
        let set = try PinSet(pins, mode: mode, acceptsSinglePin: true, expires: expires, onExpiry: onExpiry)
        return try TrustPolicy(
            hosts: [HostRule(host, pins: set)], unlistedHosts: .refused, anchors: anchors ?? Fixture.anchors("root"),
            minimumTLS: minimumTLS, revocation: revocation, identity: identity())
    }

    /// A policy without pins, for a client that has a certificate.
    static func trusting(_ anchors: TrustAnchors) throws -> TrustPolicy {
        try TrustPolicy(anchors: anchors, identity: Fixture.identity("client-a"))
    }

    /// A transport that directs `hosts` to the servers, each by its port.
    static func transport(_ trust: CompiledTrust, to servers: LoopbackServer...) throws -> CurlTransport {
        try CurlTransport(trust: trust, configuration: configuration(to: servers))
    }

    /// A transport that directs `hosts` to the servers, each by its port.
    static func transport(_ policy: TrustPolicy, to servers: LoopbackServer...) throws -> CurlTransport {
        try CurlTransport(trust: CompiledTrust(policy), configuration: configuration(to: servers))
    }

    /// A configuration that directs `hosts` to the servers, each by its port, without a proxy.
    static func configuration(to servers: [LoopbackServer]) throws -> CurlTransport.Configuration {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        let loopback = try HostName("127.0.0.1")
        configuration.addressOverrides = try servers.flatMap { server in
            try hosts.map {
                try CurlTransport.AddressOverride(host: HostName($0), port: server.port, address: loopback)
            }
        }
        return configuration
    }

    /// A POST with a secret in its body, for the server under a name.
    static func request(
        _ server: LoopbackServer, host: String = "pin.test", path: String = "/", scheme: String = "https"
    ) throws -> TransportRequest {
        TransportRequest(
            .post, try RequestURL("\(scheme)://\(host):\(server.port)\(path)"), body: .bytes(Data("secret".utf8)))
    }

    // MARK: Expectations

    /// Sends one request under its own policy and expects its refusal on both sides.
    ///
    /// - Parameters:
    ///   - reason: The reason of the client's failure.
    ///   - text: A part of the failure's message, such as the text of the X.509 error.
    ///   - gate: The gate that refuses it.
    /// - Returns: The failure, for further expectations.
    @discardableResult
    static func expectRefusal(
        _ reason: RequestFailure.Reason, _ text: String? = nil, of server: LoopbackServer, host: String = "pin.test",
        under policy: TrustPolicy, at gate: Gate = .handshake, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RequestFailure? {
        let before = Sight(server)
        let transport = try transport(policy, to: server)
        let found = try await expectRefusal(
            reason, text, of: server, host: host, by: transport, at: gate, sourceLocation: sourceLocation)
        await transport.shutdown()
        // After its connections have closed, the server has read everything.
        try await closed(server)
        expectNothingSeen(by: server, since: before, at: gate, sourceLocation: sourceLocation)
        return found
    }

    /// Sends one request by a transport that may have connections already, and expects its refusal on both sides: the
    /// server sees no further request, no further application byte and no certificate of the client. The transport is
    /// not shut down; `closed(_:)` and `expectNothingSeen(by:since:at:)` check once more when it is.
    @discardableResult
    static func expectRefusal(
        _ reason: RequestFailure.Reason, _ text: String? = nil, of server: LoopbackServer, host: String = "pin.test",
        by transport: CurlTransport, at gate: Gate = .handshake, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RequestFailure? {
        let before = Sight(server)
        let sent = try request(server, host: host)
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == reason, "\(String(describing: found))", sourceLocation: sourceLocation)
        if let text {
            let isSaid = found?.message.contains(text) == true
            #expect(isSaid, "\(String(describing: found))", sourceLocation: sourceLocation)
        }
        if gate == .handshake, found?.reason == reason {
            try await becomesTrue { server.handshakes.count > before.handshakes }
        }
        expectNothingSeen(by: server, since: before, at: gate, sourceLocation: sourceLocation)
        return found
    }

    /// Expects that a weak certificate is refused although the OpenSSL of this process is configured to accept it. It is
    /// for tests in a process of their own, where OpenSSL has not read its configuration yet.
    static func expectRefusalDespiteConfiguration(_ text: String, of chain: String) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "openssl-\(getpid()).cnf").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configuration = """
            openssl_conf = main
            [main]
            ssl_conf = ssl
            [ssl]
            system_default = system
            [system]
            CipherString = DEFAULT@SECLEVEL=0
            """
        try Data(configuration.utf8).write(to: URL(filePath: path))
        setenv("OPENSSL_CONF", path, 1)
        let policy = try policy([Fixture.key(chain)])
        try await expectRefusal(.trustChain, text, of: server(chain), under: policy)
    }

    /// Sends one request under its own policy and expects the server's "ok".
    static func expectSuccess(
        of server: LoopbackServer, host: String = "pin.test", under policy: TrustPolicy,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let transport = try transport(policy, to: server)
        try await expectSuccess(of: server, host: host, by: transport, sourceLocation: sourceLocation)
        // The right server sees the certificate, which the wrong one must not see.
        let isShown = server.handshakes.last?.clientCertificatePEM != nil
        #expect(isShown == (policy.identity != nil), sourceLocation: sourceLocation)
        await transport.shutdown()
    }

    /// Sends one request by a transport and expects the server's "ok".
    static func expectSuccess(
        of server: LoopbackServer, host: String = "pin.test", by transport: CurlTransport,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = Sight(server)
        let sent = try request(server, host: host)
        do {
            let response = try await transport.send(sent)
            #expect(response.text == "ok", sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
        #expect(server.requestCount == before.requests + 1, sourceLocation: sourceLocation)
    }

    // MARK: The server's side

    /// The events that a server has seen.
    struct Sight: Sendable {
        let connections, handshakes, requests, applicationBytes: Int

        init(_ server: LoopbackServer) {
            connections = server.connectionCount
            handshakes = server.handshakes.count
            requests = server.requestCount
            applicationBytes = server.applicationBytesReceived
        }
    }

    /// Expects that a server has seen no request, no application byte and no client certificate since.
    static func expectNothingSeen(
        by server: LoopbackServer, since before: Sight, at gate: Gate, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let after = Sight(server)
        #expect(after.requests == before.requests, sourceLocation: sourceLocation)
        #expect(after.applicationBytes == before.applicationBytes, sourceLocation: sourceLocation)
        let handshakes = server.handshakes.dropFirst(before.handshakes)
        switch gate {
        case .preparation: #expect(after.connections == before.connections, sourceLocation: sourceLocation)
        case .handshake:
            #expect(!handshakes.isEmpty, "no handshake was tried", sourceLocation: sourceLocation)
            #expect(handshakes.allSatisfy { !$0.succeeded }, "\(handshakes)", sourceLocation: sourceLocation)
            #expect(handshakes.allSatisfy { $0.clientCertificatePEM == nil }, sourceLocation: sourceLocation)
        case .request: break
        }
    }

    /// Waits until the server has noticed the end of all its connections.
    static func closed(_ server: LoopbackServer) async throws {
        try await becomesTrue { server.openConnectionCount == 0 }
    }

    /// Waits for an effect of another thread. If it never occurs, the next expectation fails.
    private static func becomesTrue(_ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
    }
}
