import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Transports for several policies")
struct TransportsTests {
    private func request(_ server: LoopbackServer, _ policy: TrustPolicy?) throws -> TransportRequest {
        var sent = TransportRequest(.get, try RequestURL("https://localhost:\(server.port)/"))
        sent.options.trust = policy
        return sent
    }

    @Test("Each request is judged by its own policy, and two policies share no connection")
    func separation() async throws {
        let ours = try Authority()
        let server = try ours.server { _ in .response(body: "ok") }
        let lenient = TrustPolicy(anchors: ours.anchors)
        let strict = try TrustPolicy(pins: [strangePin(1), strangePin(2)], anchors: ours.anchors)
        let pinned = try TrustPolicy(
            pins: [.publicKey(ours.leaf.publicKeyPin), strangePin()], anchors: ours.anchors)
        let transports = CurlTransports(trust: lenient)
        for _ in 0..<3 {
            #expect(try await transports.send(request(server, nil)).text == "ok")
            let refused = await failure { try await transports.send(request(server, strict)) }
            #expect(refused?.reason == .pinMismatch)
            #expect(try await transports.send(request(server, pinned)).text == "ok")
        }
        #expect(server.requestCount == 6)
        // One for each policy, and one for each handshake that was refused.
        #expect(server.connectionCount == 5)
        #expect(try transports.transport(for: pinned) === transports.transport(for: pinned))
        await transports.shutdown()
    }

    @Test("Many concurrent requests are judged by their own policies")
    func concurrency() async throws {
        let ours = try Authority()
        let server = try ours.server { _ in .response(body: "ok") }
        let strict = try TrustPolicy(pins: [strangePin(1), strangePin(2)], anchors: ours.anchors)
        let transports = CurlTransports(trust: TrustPolicy(anchors: ours.anchors))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let sent = try request(server, number % 2 == 0 ? nil : strict)
                    let found = await failure { try await transports.send(sent) }
                    #expect(found?.reason == (number % 2 == 0 ? nil : .pinMismatch))
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requestCount == 50)
        await transports.shutdown()
    }

    @Test("A single transport refuses a request with another policy and sends nothing")
    func single() async throws {
        let ours = try Authority()
        let server = try ours.server { _ in .response(body: "ok") }
        let policy = TrustPolicy(anchors: ours.anchors)
        let transport = try CurlTransport(trust: policy)
        #expect(try await transport.send(request(server, policy)).text == "ok")
        let refused = await failure { try await transport.send(request(server, .system)) }
        #expect(refused?.reason == .otherTrust)
        #expect(server.requestCount == 1)
        await transport.shutdown()
    }

    @Test("Sixteen policies are kept, and requests under a replaced policy can finish")
    func retirement() async throws {
        let ours = try Authority()
        let gate = LoopbackGate()
        let server = try ours.server { _ in
            gate.wait(timeout: .seconds(60))
            return .response(body: "ok")
        }
        let transports = CurlTransports(trust: TrustPolicy(anchors: ours.anchors))
        let first = try transports.transport(for: TrustPolicy(anchors: ours.anchors))
        async let slow = transports.send(request(server, nil))
        while await first.load.inFlight == 0 { await Task.yield() }
        for number in 0..<16 {
            let policy = try TrustPolicy(
                pins: [strangePin(UInt8(number)), strangePin(99)], anchors: ours.anchors)
            _ = try transports.transport(for: policy)
        }
        #expect(try transports.transport(for: TrustPolicy(anchors: ours.anchors)) !== first)
        gate.open()
        #expect(try await slow.text == "ok")
        await transports.shutdown()
    }

    @Test("After a shutdown no request is sent, and the reports of every policy are delivered")
    func ends() async throws {
        let ours = try Authority()
        let server = try ours.server { _ in .response(body: "ok") }
        let transports = CurlTransports(trust: TrustPolicy(anchors: ours.anchors))
        var reports = transports.trustReports.makeAsyncIterator()
        let strict = try TrustPolicy(pins: [strangePin(1), strangePin(2)], anchors: ours.anchors)
        _ = await failure { try await transports.send(request(server, strict)) }
        let report = try #require(await reports.next())
        #expect(report.reason == .pinMismatch)
        #expect(report.host == "localhost" && report.port == server.port && report.isEnforced)
        #expect(report.chain.first?.publicKeyPin.text == ours.leaf.publicKeyPin)
        #expect(report.json.contains(#""reason":"pinMismatch""#))
        await transports.shutdown()
        #expect(await failure { try await transports.send(request(server, nil)) }?.reason == .closed)
        let fault = CurlTransports(trust: TrustPolicy(anchors: try .only([PEM(Self.damaged)])))
        #expect(await failure { try await fault.send(request(server, nil)) }?.reason == .invalidPolicy)
    }

    private static let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
}
