import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("How many streams share a connection", .timeLimit(.minutes(5)))
struct ConnectionWidthTests {
    @Test("No more than the transport's configuration says do, and the rest go on further connections at once")
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
            // All nine are open at the same time, or the deadline ends them.
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
}
