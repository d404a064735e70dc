import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// Servers that speak another protocol, or another version of TLS, than the client expects.
@Suite("A server of another protocol")
struct WrongProtocolTests {
    /// A server that sends bytes once it has received some, and closes the connection.
    private static func server(sending bytes: [UInt8], first: Bool = false) throws -> LoopbackServer {
        let options = ServerOptions(onAccept: { _ in
            (first ? [] : [.receive(until: { !$0.isEmpty })]) + [.send(bytes), .waitForPeerClose]
        })
        return try LoopbackServer(options: options) { _ in .close }
    }

    private static func failure(
        _ scheme: String, _ port: UInt16, _ policy: TrustPolicy? = nil
    ) async throws -> RequestFailure? {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        let trust = try CompiledTrust(policy ?? TrustPolicy(anchors: Fixture.anchors("root")))
        let transport = try CurlTransport(trust: trust, configuration: configuration)
        let url = try RequestURL("\(scheme)://127.0.0.1:\(port)/")
        let found = await EssentialsCurlTests.failure { try await transport.send(TransportRequest(.get, url)) }
        await transport.shutdown()
        return found
    }

    // MARK: Versions of TLS

    struct Versions: Sendable, CustomTestStringConvertible {
        let server: ServerTLS.Version
        let minimum: TLSVersion
        let remedy: String
        var testDescription: String { "\(server) for at least \(minimum)" }
    }

    private static let remedyOf12 = "Have the server offer TLS 1.2 or 1.3; no policy allows older versions."
    private static let remedyOf13 =
        "Have the server offer TLS 1.3, or set the policy's minimumTLS to 1.2 if the server offers that."

    @Test(
        "For a server that offers only older versions, the remedy is to offer a version that the policy allows",
        arguments: [
            Versions(server: .tls10, minimum: .tls12, remedy: remedyOf12),
            Versions(server: .tls11, minimum: .tls12, remedy: remedyOf12),
            Versions(server: .tls11, minimum: .tls13, remedy: remedyOf13),
            Versions(server: .tls12, minimum: .tls13, remedy: remedyOf13),
        ])
    func versions(_ versions: Versions) async throws {
        let server = try AttackBench.server { tls in
            (tls.minimumVersion, tls.maximumVersion) = (versions.server, versions.server)
        }
        let policy = try TrustPolicy(anchors: Fixture.anchors("root"), minimumTLS: versions.minimum)
        let found = try #require(try await Self.failure("https", server.port, policy))
        #expect(found.reason == .tlsTooOld)
        #expect(found.phase == .handshake)
        let allowed = versions.minimum == .tls12 ? "TLS 1.2 or 1.3" : "TLS 1.3, which the policy requires"
        #expect(found.message == "https://127.0.0.1:\(server.port) does not accept \(allowed).")
        #expect(found.remedy == versions.remedy)
    }

    @Test(
        "OpenSSL's own server with only TLS 1.1 is recognised",
        .enabled(if: ServerProcess.path(of: "openssl") != nil))
    func process() async throws {
        let (server, port) = try await Self.openSSLServer("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
        let found = try #require(try await Self.failure("https", port))
        #expect(found.reason == .tlsTooOld)
        #expect(found.remedy == Self.remedyOf12)
        withExtendedLifetime(server) {}
    }

    private static func openSSLServer(_ arguments: String...) async throws -> (ServerProcess, UInt16) {
        let server = try ServerProcess(
            "openssl", directory: ServerProcess.makeDirectory(),
            arguments: [
                "s_server", "-www", "-accept", "127.0.0.1:0", "-cert", Fixture.path("leaf.pem"), "-key",
                Fixture.path("leaf.key"),
            ] + arguments)
        let line = try #require(try await server.line(with: "ACCEPT"))
        return (server, try #require(line.split(separator: ":").last.flatMap { UInt16($0) }))
    }

    @Test("A server that offers only TLS 1.3 serves a policy that also allows TLS 1.2")
    func onlyNew() async throws {
        let server = try AttackBench.server { ($0.minimumVersion, $0.maximumVersion) = (.tls13, .tls13) }
        let policy = try AttackBench.policy([Fixture.key("leaf")], minimumTLS: .tls12)
        let transport = try AttackBench.transport(policy, to: server)
        let response = try await transport.send(AttackBench.request(server))
        #expect(response.text == "ok")
        await transport.shutdown()
    }

    /// A ServerHello of a version, from a server that ignores the client's offer.
    private static func hello(_ version: UInt8) -> [UInt8] {
        let body: [UInt8] = [3, version] + Array(repeating: 7, count: 32) + [0, 0xC0, 0x2F, 0]
        return [0x16, 3, version, 0, UInt8(body.count + 4), 2, 0, 0, UInt8(body.count)] + body
    }

    @Test(
        "The failure names a TLS version that the server chose without an offer of the client",
        arguments: [
            (UInt8(1), TLSVersion.tls12, "TLS 1.0", remedyOf12), (2, .tls12, "TLS 1.1", remedyOf12),
            (
                2, .tls13, "TLS 1.1",
                "Have the server offer TLS 1.3, which the policy requires; no policy allows less than 1.2."
            ),
            (3, .tls13, "TLS 1.2", "Have the server offer TLS 1.3, or set the policy's minimumTLS to 1.2."),
        ])
    func chosen(version: UInt8, minimum: TLSVersion, name: String, remedy: String) async throws {
        let server = try Self.server(sending: Self.hello(version))
        let policy = try TrustPolicy(anchors: Fixture.anchors("root"), minimumTLS: minimum)
        let found = try #require(try await Self.failure("https", server.port, policy))
        #expect(found.reason == .tlsTooOld)
        #expect(found.message.hasPrefix("https://127.0.0.1:\(server.port) chose \(name) instead of TLS 1."))
        #expect(found.remedy == remedy)
    }

    // MARK: Other protocols

    /// The first bytes of a server, and the texts of the failure. The bytes contain texts that no message may show.
    private static let greetings: [(bytes: String, text: String, remedy: String)] = [
        ("HTTP/1.1 400 Bad Request\r\nX: hunter2\u{1B}[31m\r\n\r\nno", "speaks plain HTTP", "http://"),
        ("<html><body>hunter2</body></html>", "speaks plain HTTP", "http://"),
        ("<!DOCTYPE html>hunter2", "speaks plain HTTP", "http://"),
        ("SSH-2.0-hunter2\r\n", "is an SSH server", "Correct the port."),
        ("220 hunter2 ESMTP\r\n", "is a mail or FTP server", "Correct the port."),
        ("* OK hunter2 IMAP4\r\n", "is a mail or FTP server", "Correct the port."),
        ("\u{1}hunter2\u{1B}[31m\r\n", "did not use TLS to respond to the TLS handshake", "Check the port"),
    ]

    @Test("The failure of an https request names the protocol of a server without TLS", arguments: greetings.indices)
    func plain(index: Int) async throws {
        let greeting = Self.greetings[index]
        let server = try Self.server(sending: Array(greeting.bytes.utf8))
        let found = try #require(try await Self.failure("https", server.port))
        #expect(found.reason == .tls && found.phase == .handshake)
        #expect(found.message.hasPrefix("https://127.0.0.1:\(server.port) \(greeting.text)"), "\(found)")
        #expect(found.remedy?.contains(greeting.remedy) == true, "\(found)")
        #expect(!found.description.contains("hunter2") && !found.description.contains("\u{1B}"))
        let host = try HostName("127.0.0.1")
        let trust = try CompiledTrust(TrustPolicy(anchors: Fixture.anchors("root")))
        let probed = #expect(throws: RequestFailure.self) {
            try CertificateChain.presented(by: host, port: server.port, trust: trust)
        }
        #expect(probed?.message.hasPrefix("127.0.0.1:\(server.port) \(greeting.text)") == true)
        #expect(probed?.remedy == found.remedy)
    }

    @Test("The failure says that the server closed the connection during the handshake")
    func closing() async throws {
        let options = ServerOptions(onAccept: { _ in [.receive(until: { !$0.isEmpty }), .close] })
        let server = try LoopbackServer(options: options) { _ in .close }
        let found = try #require(try await Self.failure("https", server.port))
        #expect(found.reason == .tls)
        #expect(found.message == "https://127.0.0.1:\(server.port) closed the connection during the TLS handshake.")
        #expect(found.remedy?.contains("Check that the port speaks TLS") == true)
    }

    @Test(
        "The failure of an http request names the protocol of a server without HTTP",
        arguments: [
            ("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{46}", "speaks TLS on this port", "Use https, or the port for plain"),
            ("SSH-2.0-hunter2\r\n", "is an SSH server", "Correct the port."),
            ("220 hunter2 ESMTP\r\n", "is a mail or FTP server", "Correct the port."),
            ("hunter2\u{1B}[31m\r\n", "sent a response that does not begin with an HTTP/1 status", "Check the port"),
            ("<html>hunter2</html>", "sent a response that does not begin with an HTTP/1 status", "Check the port"),
        ])
    func encrypted(bytes: String, text: String, remedy: String) async throws {
        let server = try Self.server(sending: Array(bytes.utf8))
        let found = try #require(try await Self.failure("http", server.port))
        #expect(found.reason == .protocolViolation && found.phase == .receiving)
        #expect(found.message.hasPrefix("http://127.0.0.1:\(server.port) \(text)"), "\(found)")
        #expect(found.remedy?.contains(remedy) == true, "\(found)")
        #expect(!found.description.contains("hunter2") && !found.description.contains("\u{1B}"))
    }

    @Test("For an http request to a server with TLS, the remedy is to use https")
    func toTLS() async throws {
        let server = try AttackBench.server()
        let found = try #require(try await Self.failure("http", server.port))
        #expect(found.remedy?.hasPrefix("Use https") == true, "\(found)")
    }

    @Test("A response without a status line delivers no byte to any method or reader")
    func nothingDelivered() async throws {
        let server = try Self.server(sending: Array("hello, this is HTTP/0.9\n".utf8))
        let transport = try CurlTransport()
        for method in [HTTPRequest.Method.get, .head, .post, .put] {
            for delivery in [TransportOptions.Delivery.collected(upTo: 1 << 20), .streamed] {
                var sent = TransportRequest(method, try RequestURL("http://127.0.0.1:\(server.port)/"))
                if method == .post || method == .put { sent.body = .bytes(Data("body".utf8)) }
                sent.options.delivery = delivery
                let found = await EssentialsCurlTests.failure { try await transport.send(sent) }
                #expect(found?.reason == .protocolViolation, "\(method), \(delivery)")
            }
        }
        await transport.shutdown()
    }

    @Test(
        "A response without a status line on a kept connection fails the request, which is not sent again",
        arguments: [HTTPRequest.Method.get, .head, .put, .post])
    func keptConnection(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { request in
            request.path == "/" ? .response(body: "fine") : .raw([.text("SSH-2.0-hunter2\r\n"), .waitForPeerClose])
        }
        let transport = try CurlTransport()
        #expect(try await transport.send(request(server)).text == "fine")
        let sent = try request(method, server, "/odd", body: method == .put ? .bytes(Data("body".utf8)) : .none)
        let found = await EssentialsCurlTests.failure { try await transport.send(sent) }
        #expect(found?.reason == .protocolViolation && found?.phase == .receiving)
        // libcurl refuses a body of a response to HEAD before its bytes can be seen.
        let unread = "sent a response that does not begin with an HTTP/1 status line"
        let text = method == .head ? unread : "is an SSH server"
        #expect(found?.message.contains(text) == true, "\(String(describing: found))")
        #expect(server.requests.filter { $0.path == "/odd" }.count == 1)
        let response = try await transport.send(request(server))
        #expect(response.text == "fine" && !response.connection.isReused)
        await transport.shutdown()
    }

    @Test("A line that is not a status line is reported as such, even after an informational response")
    func afterInformational() async throws {
        let server = try Self.server(sending: Array("HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\nhunter2\n".utf8))
        let found = try #require(try await Self.failure("http", server.port))
        #expect(found.reason == .protocolViolation)
        #expect(found.message.hasSuffix("sent a response that does not begin with an HTTP/1 status line."))
        #expect(!found.description.contains("hunter2"))
    }

    @Test("A request over HTTP/2 without TLS delivers nothing of another protocol")
    func priorKnowledge() async throws {
        let transport = try CurlTransport()
        for greeting in ["hello, this is HTTP/0.9\n", "SSH-2.0-hunter2\r\n", "HTTP/1.1 200 OK\r\n\r\nhunter2"] {
            let server = try Self.server(sending: Array(greeting.utf8))
            var sent = try request(server)
            sent.options.protocolVersion = .http2
            let prepared = sent
            let found = await EssentialsCurlTests.failure { try await transport.send(prepared) }
            #expect(found != nil && found?.description.contains("hunter2") == false, "\(greeting)")
        }
        await transport.shutdown()
    }

    @Test(
        "The failure of an http request through a proxy names the protocol that the proxy speaks instead of HTTP",
        arguments: [
            ("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{46}", "speaks TLS on this port", "Use https for the proxy"),
            ("SSH-2.0-hunter2\r\n", "is an SSH server", "Correct the proxy's port."),
            ("hunter2\r\n", "sent a response that does not begin with an HTTP/1 status line", "Check the proxy's port"),
        ])
    func throughProxy(bytes: String, text: String, remedy: String) async throws {
        let server = try Self.server(sending: Array(bytes.utf8))
        let proxy = try Proxy(.http, host: HostName("127.0.0.1"), port: server.port)
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .fixed(proxy)
        let transport = try CurlTransport(configuration: configuration)
        let url = try RequestURL("http://origin.test/")
        let found = await EssentialsCurlTests.failure { try await transport.send(TransportRequest(.get, url)) }
        await transport.shutdown()
        #expect(found?.reason == .protocolViolation)
        #expect(found?.message.hasPrefix("The proxy \(proxy) \(text)") == true, "\(String(describing: found))")
        #expect(found?.remedy?.hasPrefix(remedy) == true, "\(String(describing: found))")
    }
}
