import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Pins over HTTP/2", .timeLimit(.minutes(5)))
struct PinTests {
    /// The part of the chain that a pin is made of.
    enum Place: String, CaseIterable, Sendable {
        case leafKey, leafCertificate, authorityKey, authorityCertificate

        func pin(_ identity: TestIdentity) throws -> Pin {
            switch self {
            case .leafKey: try .publicKey(identity.certificate.publicKeyPin)
            case .leafCertificate: try .certificate(identity.certificate.certificatePin)
            case .authorityKey: try .publicKey(identity.authority.certificate.publicKeyPin)
            case .authorityCertificate: try .certificate(identity.authority.certificate.certificatePin)
            }
        }
    }

    private static func backupPin(_ seed: UInt8) throws -> Pin {
        try Pin(kind: .publicKey, digest: Array(repeating: seed, count: 32))
    }

    @Test("Every request on a shared connection passes with the right pins", arguments: Place.allCases)
    func right(_ place: Place) async throws {
        let identity = try TestIdentity.shared()
        let policy = try TrustPolicy(
            pins: [place.pin(identity), Self.backupPin(1)], anchors: identity.anchors())
        let all = Countdown(10)
        try await TestBench.secure(
            policy: policy,
            handler: { request in
                if request.path == "/warm" { return .text("warm") }
                all.arrive()
                return .text(request.path, after: all.gate)
            }
        ) { bench in
            let first = try await bench.transport.send(bench.request("/warm"))
            #expect(first.connection.protocolName == "HTTP/2")
            let answers = try await bench.bodies(of: (0..<10).map { try bench.request("/\($0)") })
            #expect(answers == (0..<10).map { "/\($0)" })
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test(
        "A server whose pins do not match gets no request",
        arguments: [TransportOptions.ProtocolVersion.automatic, .http2], [1, 10])
    func wrong(_ version: TransportOptions.ProtocolVersion, _ count: Int) async throws {
        let identity = try TestIdentity.shared()
        let policy = try TrustPolicy(pins: [Self.backupPin(1), Self.backupPin(2)], anchors: identity.anchors())
        try await TestBench.secure(policy: policy, handler: { _ in .text("reached") }) { bench in
            let tasks = try (0..<count).map { number in
                let request = try bench.request("/\(number)") { $0.protocolVersion = version }
                return Task { await bench.failure(of: request) }
            }
            for task in tasks {
                let failure = await task.value
                #expect(failure?.reason == .pinMismatch)
                #expect(failure?.chain.isEmpty == false)
            }
            #expect(bench.server.record.requestCount == 0)
        }
    }

    @Test("Pins of another certificate for the same name do not match")
    func renewed() async throws {
        let identity = try TestIdentity.shared()
        let renewed = try identity.authority.issue(TestCertificate.Template(commonName: "localhost"))
        let policy = try TrustPolicy(
            pins: [.publicKey(renewed.publicKeyPin), .certificate(renewed.certificatePin)],
            anchors: identity.anchors())
        try await TestBench.secure(policy: policy, handler: { _ in .text("reached") }) { bench in
            let failure = try await bench.failure(of: bench.request())
            #expect(failure?.reason == .pinMismatch)
            #expect(bench.server.record.requestCount == 0)
        }
    }

    @Test("HTTP/2 without TLS is refused for a host that has pins")
    func plaintext() async throws {
        let server = try await HTTP2Server.start(HTTP2Server.Options()) { _ in .text("reached") }
        let transport = try CurlTransport(trust: TrustPolicy(pins: [Self.backupPin(1), Self.backupPin(2)]))
        var request = TransportRequest(.get, try server.url())
        request.options.protocolVersion = .http2
        let failure = await #expect(throws: RequestFailure.self) { try await transport.send(request) }
        await transport.shutdown()
        await server.stop()
        #expect(failure?.reason == .plaintextRefused)
        #expect(server.record.connectionCount == 0)
    }
}
