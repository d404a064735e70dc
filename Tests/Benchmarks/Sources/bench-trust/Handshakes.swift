internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsTestKit
internal import TrustFloor

/// The same handshake with three kinds of verification: by OpenSSL alone, by a policy without pins, and by one with 20
/// pins. Only the last pin matches.
struct Handshakes {
    private let floor: OpaquePointer
    /// The clients. All except the first have a trust gate.
    private let clients: [OpaquePointer]
    private let policies: [CompiledTrust?]
    private let host: HostName

    init() throws {
        let authority = try TestAuthority(name: "Benchmark").certificate
        let leaf = try authority.issue(.init(commonName: "localhost"))
        host = try HostName("localhost")
        let anchors = try TrustAnchors.only([PEM(authority.certificatePEM)])
        var pins = try (0..<19).map { try Pin(kind: .publicKey, digest: Array(repeating: $0, count: 32)) }
        pins.append(try .publicKey(authority.publicKeyPin))
        guard
            let made = trust_floor_create(
                authority.certificatePEM, leaf.certificatePEM, leaf.privateKeyPEM)
        else { fatalError("OpenSSL reads no certificate that it made") }
        floor = made
        policies = [
            nil, try CompiledTrust(TrustPolicy(anchors: anchors)),
            try CompiledTrust(TrustPolicy(pins: pins, anchors: anchors)),
        ]
        var clients: [OpaquePointer] = []
        for policy in policies {
            guard let client = trust_floor_client(floor, policy == nil).map({ OpaquePointer($0) }) else {
                fatalError("OpenSSL has no memory")
            }
            try policy?.install(on: client, host: host)
            clients.append(client)
        }
        self.clients = clients
    }

    /// Microseconds for each handshake, including the verification after it.
    func measure(_ index: Int, calls: Int) throws -> Double {
        let (client, policy) = (UnsafeMutableRawPointer(clients[index]), policies[index])
        let start = trust_floor_now()
        for _ in 0..<calls {
            guard let connection = trust_floor_handshake(floor, client, host.text, policy == nil) else {
                fatalError("the handshake failed")
            }
            try policy?.judge(OpaquePointer(connection), host: host)
            trust_floor_end(connection)
        }
        return Double(trust_floor_now() - start) / 1_000 / Double(calls)
    }
}
