import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article TestingTLS")
struct TestingTLSTests {
    private struct User: Codable, Hashable, Sendable {
        var id: Int
        var name: String
    }

    private let app = Assembly("app") { locator in
        try locator.register(ConstantEnvironment("https://api.example.com/v1/"), as: (any EnvironmentService).self)
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
        }
    }

    private func expect(_ user: User, from locator: ServiceLocator) async throws {
        let same: User = try await locator.resolve((any DataRequestService).self).get("users/1")
        #expect(same == user)
        await locator.close()
    }

    /// A transport that was created by itself does not have the policy of the environment.
    private func expectOtherTrust(of server: LoopbackServer, _ trust: TrustPolicy) async throws {
        let passed = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1/", trust: trust), transport: try CurlTransport())
        let failure = await #expect(throws: RequestFailure.self) { try await passed.get("users/1") }
        #expect(failure?.reason == .otherTrust)
        await passed.shutdown()
    }

    @Test("The article on TLS shows a server that is trusted and pinned")
    func pinned() async throws {
        // Article begins
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(
            TestCertificate.Template(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) {
            request in
            switch (request.method, request.path) {
            case ("GET", "/v1/users/1"):
                .response(
                    headers: [("Content-Type", "application/json")],
                    body: #"{"id": 1, "name": "Ada"}"#)
            case ("POST", "/v1/users"):
                .response(status: 201, headers: [("Location", "/v1/users/2")])
            default: .response(status: 404)
            }
        }
        // Article ends
        // Article begins
        let anchors = try TrustAnchors.only([
            PEM(authority.certificate.certificatePEM)
        ])
        let trust = try TrustPolicy(
            pins: [.publicKey(certificate.publicKeyPin)], acceptsSinglePin: true,
            anchors: anchors)
        let requests = try HTTPDataRequestService(
            environment: ConstantEnvironment(server.url + "/v1/"), trust: trust)

        let user: User = try await requests.get("users/1")
        try await requests.post(
            "users", body: user, headerFields: HTTPFields(["X-Tenant": "acme"]),
            expecting: 201)
        // Article ends
        // Article begins
        let received = server.requests[1]
        #expect(received.method == "POST")
        #expect(received.path == "/v1/users")
        #expect(received.header("X-Tenant") == "acme")
        #expect(received.headers.contains { $0.name == "User-Agent" })
        #expect(received.bodyText == #"{"id":1,"name":"Ada"}"#)
        #expect(server.handshakes.map(\.succeeded) == [true])
        #expect(server.connectionCount == 1)
        // Article ends
        // Article begins
        let doubles = Assembly("doubles") { locator in
            try locator.register(
                ConstantEnvironment(server.url + "/v1/", trust: trust),
                as: (any EnvironmentService).self)
        }
        let locator = try app.makeLocator(overriding: [doubles])
        // Article ends
        try await expect(user, from: locator)
        try await expectOtherTrust(of: server, trust)

        // Article begins
        await requests.shutdown()
        server.stop()
        // Article ends
        #expect(server.openConnectionCount == 0)
    }

    @Test("The article on TLS shows a server with another key than the pinned one")
    func wrongKey() async throws {
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let trust = try TrustPolicy(
            pins: [.publicKey(certificate.publicKeyPin)], acceptsSinglePin: true,
            anchors: .only([PEM(authority.certificate.certificatePEM)]))

        // Article begins
        let wrongServer = try LoopbackServer(
            tls: ServerTLS(
                certificate: authority.issue(
                    TestCertificate.Template(commonName: "localhost")))
        ) { _ in .response() }
        let pinned = try HTTPDataRequestService(
            environment: ConstantEnvironment(wrongServer.url), trust: trust)

        let failure = await #expect(throws: RequestFailure.self) {
            try await pinned.get("users/1")
        }
        #expect(failure?.reason == .pinMismatch)
        #expect(wrongServer.applicationBytesReceived == 0)
        // Article ends
        await pinned.shutdown()
    }

    @Test("The article on TLS shows certificates that are refused")
    func refused() async throws {
        let authority = try TestAuthority(name: "Test authority")
        let trust = TrustPolicy(anchors: try .only([PEM(authority.certificate.certificatePEM)]))

        // Article begins
        let expired = TestCertificate.Template(
            commonName: "localhost", notAfter: -3_600)
        let otherHost = TestCertificate.Template(
            commonName: "other", dnsNames: ["other.test"], ipAddresses: [])
        let selfSigned = try TestCertificate.selfSigned(
            TestCertificate.Template(commonName: "localhost"))
        // Article ends

        var reasons: [RequestFailure.Reason?] = []
        for certificate in [try authority.issue(expired), try authority.issue(otherHost), selfSigned] {
            let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { _ in .response() }
            let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url), trust: trust)
            let failure = await #expect(throws: RequestFailure.self) { try await requests.get("users/1") }
            reasons.append(failure?.reason)
            #expect(server.applicationBytesReceived == 0)
            await requests.shutdown()
        }
        #expect(reasons == [.trustChain, .trustHost, .trustChain])
    }

    @Test("The article on TLS shows a server that requires a client certificate")
    func clientCertificate() async throws {
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let anchors = try TrustAnchors.only([PEM(authority.certificate.certificatePEM)])

        // Article begins
        let client = try authority.issue(
            TestCertificate.Template(commonName: "client"))
        let server = try LoopbackServer(
            tls: ServerTLS(
                certificate: certificate,
                clientAuthentication: .require(anchor: authority.certificate))
        ) { _ in .response() }
        let identity = try ClientIdentity(
            certificate: PEM(client.certificatePEM),
            privateKey: PEM(client.privateKeyPEM))
        let requests = try HTTPDataRequestService(
            environment: ConstantEnvironment(server.url),
            trust: TrustPolicy(anchors: anchors, identity: identity))

        try await requests.get("users/1")
        let shown = try #require(server.handshakes[0].clientCertificatePEM)
        #expect(
            try TestCertificate(certificatePEM: shown, privateKeyPEM: "")
                .publicKeyPin == client.publicKeyPin)
        // Article ends
        await requests.shutdown()
    }

    @Test("The replies in the article on TLS have the described effect")
    func faults() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { request in
            switch request.path {
            case "/reset": .reset
            case "/close": .close
            case "/cut": .raw([.head(headers: [("Content-Length", "10")]), .text("ab"), .close])
            case "/chunked": .chunked(chunks: [Array("a".utf8), Array("b".utf8)])
            case "/gate": .raw([.head(), .text("a"), .gate(gate), .text("b"), .close])
            default: .hang
            }
        }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url))
        for path in ["reset", "close", "cut"] {
            let failure = await #expect(throws: RequestFailure.self) { try await requests.get(path) }
            #expect(failure?.reason == .interrupted, "\(path)")
        }
        #expect(try await requests.get("chunked", as: String.self) == "ab")

        let response = try await requests.send(RequestBuilder(.get, "gate").streaming())
        var text = ""
        for try await chunk in response.body {
            text += String(decoding: chunk, as: UTF8.self)
            gate.open()
        }
        #expect(text == "ab")

        let hanging = Task { try await requests.get("hang") }
        hanging.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await hanging.value }
        #expect(failure?.reason == .cancelled)
        await requests.shutdown()
    }
}
