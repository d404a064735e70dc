import EssentialsCurl
import EssentialsFoundation
import EssentialsTestKit
import Foundation
import ServiceEssentials
import Testing

/// Values that must never be printed. Each of them is in every request, policy and server of this test.
enum Secret {
    static let query = "hunter2-query", user = "hunter2-user", field = "hunter2-field", cookie = "hunter2-cookie"
    static let body = "hunter2-body", token = "hunter2-token", proxy = "hunter2-proxy", passphrase = "hunter2-phrase"
    static let answer = "hunter2-answer", fragment = "hunter2-fragment"

    /// Whether a text contains the part that all values have in common, in upper or lower case.
    static func isIn(_ text: String) -> Bool { text.lowercased().contains("hunter2") }
}

/// A failure that was produced for the file of printed failures.
struct PrintedFailure {
    let title: String
    let error: any Error
    /// Texts that differ from run to run, and what the file has in their place.
    var replacements: [(text: String, name: String)] = []
}

/// Stands for an error that was not thrown, so that the test continues with the next one.
private struct Unproduced: Error {}

/// Produces failures with real servers, files and policies.
enum FailureMaker {
    static func all() async throws -> [PrintedFailure] {
        try await preparation() + connections() + handshakes() + trust() + verdicts() + exchanges() + responses()
            + services()
    }

    static func fixture(_ name: String) -> String {
        let parts = #filePath.split(separator: "/").dropLast(4)
        return "/" + parts.joined(separator: "/") + "/Fixtures/" + name
    }

    static func pem(_ name: String) throws -> PEM { try PEM(contentsOfFile: fixture("certificates/\(name)")) }

    static func anchors(_ name: String = "root") throws -> TrustAnchors { try .only([pem("\(name).pem")]) }

    static func identity() throws -> ClientIdentity {
        try ClientIdentity(certificate: pem("client-a.pem"), privateKey: pem("client-a.key"))
    }

    /// A server that presents a chain of the fixtures.
    static func server(
        _ chain: String = "leaf", _ adjust: (inout ServerTLS) throws -> Void = { _ in },
        handler: @escaping @Sendable (ServerRequest) -> ServerReply = { _ in .response(body: Secret.answer) }
    ) throws -> LoopbackServer {
        let end = "-----END CERTIFICATE-----\n"
        let text = try String(contentsOfFile: fixture("certificates/\(chain).chain.pem"), encoding: .utf8)
        let key = try String(contentsOfFile: fixture("certificates/\(chain).key"), encoding: .utf8)
        let certificates = try text.components(separatedBy: end).dropLast().enumerated().map { index, block in
            try TestCertificate(certificatePEM: block + end, privateKeyPEM: index == 0 ? key : "")
        }
        var tls = ServerTLS(
            certificate: try #require(certificates.first), chain: Array(certificates.dropFirst()),
            clientAuthentication: .request)
        try adjust(&tls)
        return try LoopbackServer(tls: tls, handler: handler)
    }

    /// A server without TLS that performs steps for each request.
    static func plain(_ steps: ServerStep...) throws -> LoopbackServer {
        try LoopbackServer { _ in .raw(steps) }
    }

    /// A server without TLS that sends a text after the first bytes of a connection.
    static func greeting(_ text: String) throws -> LoopbackServer {
        let options = ServerOptions(onAccept: { _ in [.receive(until: { !$0.isEmpty }), .text(text), .close] })
        return try LoopbackServer(options: options) { _ in .close }
    }

    /// A request with a secret in each part that can have one.
    static func request(
        _ url: String, _ adjust: (inout TransportRequest) throws -> Void = { _ in }
    ) throws -> TransportRequest {
        var request = TransportRequest(
            .put, try RequestURL("\(url)?token=\(Secret.query)"), body: .bytes(Data(Secret.body.utf8)))
        request.headerFields[.authorization] = "Bearer \(Secret.token)"
        request.headerFields[.cookie] = "a=\(Secret.cookie)"
        request.headerFields[.init("X-Api-Key")!] = Secret.field
        try adjust(&request)
        return request
    }

    /// Sends a request to a server, and returns the failure.
    ///
    /// - Parameters:
    ///   - host: The name or address in the URL. The name leads to the server.
    static func failure(
        _ title: String, _ server: LoopbackServer?, url: String? = nil, scheme: String? = nil,
        host: String = "pin.test",
        policy: TrustPolicy? = nil, _ adjust: (inout TransportRequest) throws -> Void = { _ in },
        configuration adjustConfiguration: (inout CurlTransport.Configuration) throws -> Void = { _ in }
    ) async throws -> PrintedFailure {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        var replacements: [(String, String)] = []
        if let server {
            configuration.addressOverrides = [
                try CurlTransport.AddressOverride(
                    host: HostName("pin.test"), port: server.port, address: HostName("127.0.0.1"))
            ]
            replacements = [(":\(server.port)", ":PORT")]
        }
        try adjustConfiguration(&configuration)
        let trust = try CompiledTrust(policy ?? TrustPolicy(anchors: anchors(), identity: identity()))
        let transport = try CurlTransport(trust: trust, configuration: configuration)
        let scheme = scheme ?? (server?.url.hasPrefix("https") == true ? "https" : "http")
        let target = url ?? "\(scheme)://\(host):\(server?.port ?? 1)/v1/films"
        let sent = try request(target, adjust)
        let error = await #expect(throws: RequestFailure.self, "\(title)") { try await transport.send(sent) }
        await transport.shutdown()
        return PrintedFailure(title: title, error: error ?? Unproduced(), replacements: replacements)
    }

    /// Runs a closure with a service, and returns its failure.
    static func serviceFailure(
        _ title: String, _ configuration: HTTPDataRequestService.Configuration = .init(),
        handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (HTTPDataRequestService) async throws -> Void
    ) async throws -> PrintedFailure {
        let server = try LoopbackServer(handler: handler)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1"), transport: try CurlTransport(),
            configuration: configuration)
        service.setAuthorization(try .bearer(Secret.token))
        let error = await #expect(throws: RequestFailure.self, "\(title)") { try await body(service) }
        await service.shutdown()
        return PrintedFailure(
            title: title, error: error ?? Unproduced(), replacements: [(":\(server.port)", ":PORT")])
    }

    /// Returns what a closure throws.
    static func thrown(
        _ title: String, replacing replacements: [(String, String)] = [], _ body: () async throws -> Void
    ) async throws -> PrintedFailure {
        let error = await #expect(throws: (any Error).self, "\(title)") { try await body() }
        return PrintedFailure(title: title, error: error ?? Unproduced(), replacements: replacements)
    }
}
