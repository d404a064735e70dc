internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsTestKit

/// A TLS server, and transports without pins and with 20 pins that send requests to it over pooled connections.
struct PooledRequests {
    private let server: LoopbackServer
    private let transports: [CurlTransport]
    private let request: TransportRequest

    init() throws {
        let authority = try TestAuthority(name: "Benchmark").certificate
        let leaf = try authority.issue(.init(commonName: "localhost"))
        server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in .response(body: "ok") }
        request = TransportRequest(.get, try RequestURL("https://localhost:\(server.port)/"))
        let anchors = try TrustAnchors.only([PEM(authority.certificatePEM)])
        var pins = try (0..<19).map { try Pin(kind: .publicKey, digest: Array(repeating: $0, count: 32)) }
        pins.append(try .publicKey(authority.publicKeyPin))
        transports = [
            try CurlTransport(trust: TrustPolicy(anchors: anchors)),
            try CurlTransport(trust: TrustPolicy(pins: pins, anchors: anchors)),
        ]
    }

    /// Microseconds for each request, one after the other.
    func round(_ index: Int, requests: Int) async throws -> Double {
        let transport = transports[index]
        _ = try await transport.send(request)
        let start = ContinuousClock.now
        for _ in 0..<requests { _ = try await transport.send(request) }
        return start.duration(to: .now) / .microseconds(1) / Double(requests)
    }

    func end() async {
        for transport in transports { await transport.shutdown() }
        server.stop()
    }
}
