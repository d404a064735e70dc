import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// A request to a test server.
func request(
    _ method: HTTPRequest.Method, _ server: LoopbackServer, _ path: String = "/", body: RequestBody = .none
) throws -> TransportRequest {
    TransportRequest(method, try RequestURL(server.url + path), body: body)
}

/// A GET from a test server.
func request(_ server: LoopbackServer, _ path: String = "/") throws -> TransportRequest {
    try request(.get, server, path)
}

/// A GET.
func get(_ url: String) throws -> TransportRequest { TransportRequest(.get, try RequestURL(url)) }

/// Returns the failure of an operation, or `nil` if it succeeds.
func failure<Value>(of operation: () async throws -> Value) async -> RequestFailure? {
    do {
        _ = try await operation()
        return nil
    } catch let error as RequestFailure {
        return error
    } catch {
        Issue.record("no RequestFailure: \(error)")
        return nil
    }
}

/// A server that opens the gate when a request has arrived, and never responds.
func silentServer(opening gate: LoopbackGate) throws -> LoopbackServer {
    try LoopbackServer { _ in
        gate.open()
        return .raw([.waitForPeerClose])
    }
}

/// A server that opens the gate when a connection has arrived, and never begins its side of the TLS handshake.
func stalledServer(opening gate: LoopbackGate) throws -> LoopbackServer {
    let options = ServerOptions(onAccept: { _ in
        gate.open()
        return [.hang]
    })
    return try LoopbackServer(options: options) { _ in .close }
}

extension Sequence<UInt8> {
    /// Whether these bytes contain a text.
    func holds(_ text: String) -> Bool { Array(self).firstRange(of: Array(text.utf8)) != nil }
}

extension TransportResponse {
    /// The collected body as text.
    var text: String { String(decoding: body.data ?? Data(), as: UTF8.self) }
}

/// A certificate authority, a certificate for localhost that it signed, and a policy that trusts it.
struct Authority {
    let authority: TestAuthority
    let leaf: TestCertificate
    let anchors: TrustAnchors

    init(_ template: TestCertificate.Template = TestCertificate.Template(commonName: "localhost")) throws {
        authority = try TestAuthority(name: "Test authority")
        leaf = try authority.issue(template)
        anchors = try .only([PEM(authority.certificate.certificatePEM)])
    }

    func server(handler: @escaping @Sendable (ServerRequest) -> ServerReply) throws -> LoopbackServer {
        try LoopbackServer(tls: ServerTLS(certificate: leaf), handler: handler)
    }
}

/// A pin that no certificate has.
func strangePin(_ byte: UInt8 = 7) throws -> Pin {
    try Pin(kind: .publicKey, digest: Array(repeating: byte, count: 32))
}
