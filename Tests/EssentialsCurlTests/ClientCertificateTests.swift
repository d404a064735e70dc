import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A server that requests a client certificate", .timeLimit(.minutes(5)))
struct ClientCertificateTests {
    private func server(
        _ authority: Authority, version: ServerTLS.Version, isRequired: Bool,
        handler: @escaping @Sendable (ServerRequest) -> ServerReply
    ) throws -> LoopbackServer {
        var tls = ServerTLS(certificate: authority.leaf)
        (tls.minimumVersion, tls.maximumVersion) = (version, version)
        tls.clientAuthentication = isRequired ? .require(anchor: authority.authority.certificate) : .request
        return try LoopbackServer(tls: tls, handler: handler)
    }

    // With TLS 1.3 the server refuses only after the client's handshake is complete. So the alert arrives during the
    // request or after a failed write.

    @Test(
        "A connection that ends without the required certificate is always reported as tls, with a remedy",
        arguments: [ServerTLS.Version.tls12, .tls13], [HTTPRequest.Method.get, .post])
    func required(version: ServerTLS.Version, method: HTTPRequest.Method) async throws {
        let authority = try Authority()
        let server = try server(authority, version: version, isRequired: true) { _ in .response(body: "unreached") }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
        for size in Array(repeating: 0, count: 30) + [200_000, 3_000_000] {
            let body: RequestBody = method == .get ? .none : .bytes(Data(count: size))
            let sent = try request(method, server, "/", body: body)
            let failure = await failure { try await transport.send(sent) }
            #expect(failure?.reason == .tls, "\(String(describing: failure))")
            #expect(failure?.message.contains("client certificate") == true)
            #expect(failure?.remedy?.contains("client identity") == true)
        }
        #expect(server.requestCount == 0)
        await transport.shutdown()
    }

    @Test(
        "If this side refuses a server, that is reported, even if the server has requested a certificate",
        arguments: [ServerTLS.Version.tls12, .tls13], [false, true])
    func refusedHere(version: ServerTLS.Version, isRequired: Bool) async throws {
        let authority = try Authority()
        let server = try server(authority, version: version, isRequired: isRequired) { _ in .response(body: "unreached")
        }
        let pins = try [UInt8(1), 2].map { try Pin(kind: .publicKey, digest: Array(repeating: $0, count: 32)) }
        for (policy, reason) in [
            (try TrustPolicy(pins: pins, anchors: authority.anchors), RequestFailure.Reason.pinMismatch),
            (TrustPolicy(anchors: try Authority().anchors), .trustChain),
            (
                try TrustPolicy(hosts: [], anchors: authority.anchors, revocation: .stapled(isRequired: true)),
                .trustChain
            ),
        ] {
            let transport = try CurlTransport(trust: policy)
            let failure = await failure { try await transport.send(request(server)) }
            #expect(failure?.reason == reason, "\(String(describing: failure))")
            await transport.shutdown()
        }
        #expect(server.requestCount == 0)
    }

    @Test("Closing a kept connection has its usual failure, even if the server has requested a certificate")
    func keptConnection() async throws {
        let authority = try Authority()
        let server = try server(authority, version: .tls13, isRequired: false) { request in
            request.numberOnConnection == 0 ? .response(body: "fine") : .close
        }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
        #expect(try await transport.send(request(server)).text == "fine")
        let post = try request(.post, server, "/once", body: .bytes(Data("one".utf8)))
        #expect(await failure { try await transport.send(post) }?.reason == .interrupted)
        #expect(server.requests.filter { $0.path == "/once" }.count == 1)
        #expect(try await transport.send(request(server, "/again")).text == "fine")
        await transport.shutdown()
    }
}
