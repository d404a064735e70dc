import EssentialsCurl
import EssentialsHTTP
import FoundationEssentials
import Testing

/// The policy against third-party servers, with TLS stacks configured as in the field.
@Suite("Pinned requests to other server programs", .serialized)
struct InteroperationAttacks {
    static let hasNginx = ServerProcess.path(of: "nginx") != nil
    static let hasOpenSSL = ServerProcess.path(of: "openssl") != nil
    private static let page = Data(repeating: UInt8(ascii: "x"), count: 100_000)

    private static func transport(_ policy: TrustPolicy, port: UInt16) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        configuration.addressOverrides = [
            try .init(host: HostName("pin.test"), port: port, address: HostName("127.0.0.1"))
        ]
        return try CurlTransport(trust: policy, configuration: configuration)
    }

    /// A pin and its expected result.
    struct Case: Sendable, CustomTestStringConvertible {
        var chain = "leaf"
        var pin: String
        var anchor = "root"
        var reason: RequestFailure.Reason?
        var testDescription: String { "\(chain), pinned to \(pin), trusted by \(anchor)" }

        var policy: TrustPolicy {
            get throws {
                try AttackBench.policy([Fixture.key(pin), strangePin()], anchors: Fixture.anchors(anchor))
            }
        }
    }

    static let cases = [
        Case(pin: "leaf"), Case(pin: "intermediate"), Case(pin: "root"),
        Case(pin: "leaf-backup", reason: .pinMismatch), Case(pin: "rogue-root", reason: .pinMismatch),
        Case(pin: "leaf", anchor: "rogue-root", reason: .trustChain),
        Case(chain: "leaf-expired", pin: "leaf-expired", reason: .trustChain),
        Case(chain: "leaf-wrong-host", pin: "leaf-wrong-host", reason: .trustHost),
    ]

    @Test(
        "A pinned request to nginx over HTTP/2 is judged like any other",
        .enabled(if: hasNginx, "nginx is not installed"), arguments: cases,
        ["TLSv1.2", "TLSv1.3"])
    func nginx(_ attempt: Case, version: String) async throws {
        let (process, port) = try ServerProcess.nginx(attempt.chain, protocols: version, files: ["page": Self.page])
        let transport = try Self.transport(attempt.policy, port: port)
        let sent = TransportRequest(.get, try RequestURL("https://pin.test:\(port)/page"))
        for _ in 0..<2 {
            let found = await failure {
                let response = try await transport.send(sent)
                #expect(response.body.data == Self.page)
                #expect(response.connection.tlsVersion == version)
            }
            #expect(found?.reason == attempt.reason, "\(String(describing: found))")
        }
        await transport.shutdown()
        // nginx writes its log in order, and this request comes last.
        let open = try Self.transport(
            TrustPolicy(anchors: Fixture.anchors("root")), port: port)
        if attempt.chain == "leaf" {
            _ = try await open.send(TransportRequest(.get, RequestURL("https://pin.test:\(port)/page?last")))
            _ = try #require(await process.line(with: "page?last", in: "access.log"))
        }
        let lines = process.text("access.log").split(separator: "\n").filter { $0.contains("/page ") }
        #expect(lines.count == (attempt.reason == nil ? 2 : 0))
    }

    @Test(
        "A pinned request to OpenSSL's server is judged like any other",
        .enabled(if: hasOpenSSL, "openssl is not installed"), arguments: cases,
        ["-tls1_2", "-tls1_3"])
    func openSSL(_ attempt: Case, version: String) async throws {
        let (process, port) = try await ServerProcess.openSSL(attempt.chain, version: version)
        let transport = try Self.transport(attempt.policy, port: port)
        let sent = TransportRequest(.get, try RequestURL("https://pin.test:\(port)/"))
        for _ in 0..<2 {
            let found = await failure {
                let response = try await transport.send(sent)
                #expect(response.text.contains(version == "-tls1_2" ? "TLSv1.2" : "TLSv1.3"))
            }
            #expect(found?.reason == attempt.reason, "\(String(describing: found))")
        }
        await transport.shutdown()
        withExtendedLifetime(process) {}
    }

    @Test(
        "A new HTTP/2 stream is refused once its rule has expired, and the running stream continues",
        .enabled(if: hasNginx, "nginx is not installed"), arguments: ["TLSv1.2", "TLSv1.3"])
    func furtherStream(version: String) async throws {
        let piece = Data((0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 / 251) })
        let large = (0..<64).reduce(into: Data()) { data, _ in data += piece }
        let (process, transport, running, small, second) = try await outlived { end in
            let (process, port) = try ServerProcess.nginx(
                "leaf", protocols: version, files: ["large": large, "page": Self.page])
            let small = TransportRequest(.get, try RequestURL("https://pin.test:\(port)/page"))
            let policy = try AttackBench.policy(
                [Fixture.key("leaf"), strangePin()], expires: end, onExpiry: .refuse)
            let transport = try Self.transport(policy, port: port)
            var sent = TransportRequest(.get, try RequestURL("https://pin.test:\(port)/large"))
            sent.options.delivery = .streamed
            // The stream is not read yet, so that it stays on its connection.
            let running = try? await transport.send(sent)
            return (process, transport, running, small, try? await transport.send(small))
        }
        #expect(second?.connection.isReused == true)
        let response = try #require(running)
        #expect(response.connection.protocolName == "HTTP/2")
        #expect(!process.text("access.log").contains("/large "), "the stream is over already")
        let refused = await failure { try await transport.send(small) }
        #expect(refused?.reason == .hostRefused, "\(String(describing: refused))")
        let body = try await response.body.collect(upTo: 100_000_000)
        #expect(body == large)
        await transport.shutdown()
        _ = try #require(await process.line(with: "/large ", in: "access.log"))
        #expect(process.text("access.log").split(separator: "\n").filter { $0.contains("/page ") }.count == 1)
    }
}
