import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("Streams per connection", .timeLimit(.minutes(5)))
struct ConnectionWidthTests {
    @Test("A connection carries at most the configured streams, and further requests open connections at once")
    func limit() async throws {
        let all = Countdown(9)
        try await TestBench.secure(handler: { request in
            guard request.path != "/first" else { return .text("first") }
            all.arrive()
            return .text(request.path, after: all.gate)
        }) { shared in
            var configuration = CurlTransport.Configuration()
            configuration.streamsPerConnection = 3
            let policy = try TrustPolicy(anchors: TestIdentity.shared().anchors())
            let transport = try CurlTransport(trust: policy, configuration: configuration)
            let bench = TestBench(server: shared.server, transport: transport)
            try await bench.text("/first")
            // The server responds only when all nine are open; otherwise the deadline ends them.
            let requests = try (0..<9).map { number in
                try bench.request("/\(number)") { options in options.totalTimeout = .seconds(60) }
            }
            let answers = try await bench.bodies(of: requests)
            #expect(answers == (0..<9).map { "/\($0)" })
            #expect(bench.server.record.maximumConcurrency == 3)
            #expect(bench.server.record.connectionCount >= 3)
            #expect(bench.server.record.requests.values.allSatisfy { $0 == 1 })
            await transport.shutdown()
        }
    }

    @Test("An address override also holds for requests beyond the first thousand, which get their own connections")
    func crowd() async throws {
        let identity = try TestIdentity.shared()
        let (all, end) = (Countdown(1_000), LoopbackGate())
        var options = HTTP2Server.Options()
        options.certificate = try identity.authority.issue(
            TestCertificate.Template(commonName: "crowd.example", dnsNames: ["crowd.example"]))
        let server = try await HTTP2Server.start(options) { request in
            guard request.path.hasPrefix("/held") else { return .text(request.path) }
            all.arrive()
            return .text(request.path, after: end)
        }
        let other = try LoopbackServer { _ in .response(body: "other") }
        defer { other.stop() }
        var configuration = CurlTransport.Configuration()
        let port = try #require(UInt16(exactly: server.port))
        configuration.addressOverrides = [
            try .init(host: HostName("crowd.example"), port: port, address: HostName("127.0.0.1"))
        ]
        let policy = try TrustPolicy(anchors: identity.anchors())
        let bench = TestBench(
            server: server, transport: try CurlTransport(trust: policy, configuration: configuration))
        func requests(_ paths: [String]) throws -> [TransportRequest] {
            try paths.map { path in
                var request = TransportRequest(.get, try RequestURL("https://crowd.example:\(port)\(path)"))
                // On a busy machine so many handshakes at a time take longer than the standard allows.
                request.options.connectTimeout = .seconds(120)
                return request
            }
        }
        #expect(try await bench.bodies(of: requests(["/first"])) == ["/first"])
        let paths = (0..<1_000).map { "/held/\($0)" }
        let held = try requests(paths)
        let answers = Task {
            // Without one of the requests, the gate would stay closed.
            defer { all.gate.open() }
            return try await bench.bodies(of: held)
        }
        await all.gate.opened()
        // The libcurl handle of this request knows the override, and is used next on a multi handle that does not.
        let elsewhere = TransportRequest(.get, try RequestURL(other.url))
        #expect(try await bench.bodies(of: [elsewhere]) == ["other"])
        let connections = server.record.connectionCount
        #expect(try await bench.bodies(of: requests(["/beyond"])) == ["/beyond"])
        #expect(server.record.connectionCount == connections + 1)
        end.open()
        #expect(try await answers.value == paths)
        await bench.transport.shutdown()
        await server.stop()
    }
}
