import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("An exchange's metrics", .timeLimit(.minutes(5)))
struct MetricsTests {
    /// The time that a server waits before it responds.
    private static let thought = Duration.milliseconds(200)
    /// The amount by which a wait may appear shorter, because several clocks are read and rounded.
    private static let tolerance = Duration.milliseconds(20)

    /// Expects that all moments exist, and that none is before its predecessor.
    private func expectOrder(
        _ moments: [(name: String, moment: Duration?)], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var previous = (name: "beginning", moment: Duration.zero)
        for (name, moment) in moments {
            let found = try #require(moment, "\(name) is missing", sourceLocation: sourceLocation)
            #expect(
                found >= previous.moment, "\(name) \(found) before \(previous.name) \(previous.moment)",
                sourceLocation: sourceLocation)
            previous = (name: name, moment: found)
        }
    }

    @Test("Metrics increase phase by phase over TLS, and a kept connection lacks the first three")
    func phases() async throws {
        let authority = try Authority()
        let packed = try Gzip.zeros(count: 100_000)
        // The connection is established when the system has accepted it. The handshake begins after the pause.
        let pause = Duration.milliseconds(300)
        let options = ServerOptions(onAccept: { _ in [.pause(pause), .keepAlive] })
        let server = try LoopbackServer(tls: ServerTLS(certificate: authority.leaf), options: options) { _ in
            .raw([
                .pause(Self.thought),
                .head(headers: [("Content-Encoding", "gzip"), ("Content-Length", "\(packed.count)")]), .send(packed),
                .keepAlive,
            ])
        }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
        let start = ContinuousClock.now
        let response = try await transport.send(request(server))
        let elapsed = start.duration(to: .now)
        let metrics = response.metrics
        #expect(response.body.data?.count == 100_000)
        try expectOrder([
            ("name resolution", metrics.nameResolved), ("connection", metrics.connected), ("TLS", metrics.secured),
            ("request", metrics.requestBegan), ("first byte", metrics.firstByte), ("end", metrics.finished),
        ])
        let resolved = try #require(metrics.nameResolved)
        let connected = try #require(metrics.connected)
        let secured = try #require(metrics.secured)
        let began = try #require(metrics.requestBegan)
        let first = try #require(metrics.firstByte)
        let finished = try #require(metrics.finished)
        #expect(resolved > .zero)
        #expect(secured >= pause - Self.tolerance)
        #expect(secured - connected >= pause / 3)
        #expect(first - began >= Self.thought - Self.tolerance)
        #expect(finished <= elapsed + Self.tolerance)
        #expect(metrics.bodyBytesReceived == packed.count)
        #expect(metrics.bodyBytesSent == 0 && metrics.sendings == 1)

        let kept = try await transport.send(request(server))
        #expect(kept.connection.isReused && !response.connection.isReused)
        #expect(kept.metrics.nameResolved == nil)
        #expect(kept.metrics.connected == nil)
        #expect(kept.metrics.secured == nil)
        try expectOrder([
            ("request", kept.metrics.requestBegan), ("first byte", kept.metrics.firstByte),
            ("end", kept.metrics.finished),
        ])
        #expect(kept.metrics.bodyBytesReceived == packed.count)
        #expect(server.connectionCount == 1)
        await transport.shutdown()
    }

    @Test(
        "The metrics of an upload have the time of its last byte, before the response's first byte",
        arguments: [true, false])
    func upload(isStream: Bool) async throws {
        let server = try LoopbackServer { _ in
            .raw([.pause(Self.thought), .head(headers: [("Content-Length", "2")]), .text("ok"), .keepAlive])
        }
        let transport = try CurlTransport()
        let bytes = Data(count: 1_000_000)
        let pieces = AsyncStream<Data> { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
        let body: RequestBody = isStream ? .stream(pieces, length: bytes.count) : .bytes(bytes)
        let metrics = try await transport.send(request(.put, server, body: body)).metrics
        try expectOrder([
            ("connection", metrics.connected), ("request", metrics.requestBegan), ("sent", metrics.requestSent),
            ("first byte", metrics.firstByte), ("end", metrics.finished),
        ])
        // The server has read all of it before it begins to wait.
        let last = try #require(metrics.requestSent)
        let first = try #require(metrics.firstByte)
        #expect(first - last >= Self.thought / 2)
        #expect(metrics.bodyBytesSent == 1_000_000)
        #expect(metrics.bodyBytesReceived == 2)
        await transport.shutdown()
    }

    @Test("Plain http has no handshake in its metrics, and no TLS version or cipher")
    func plain() async throws {
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try CurlTransport()
        let response = try await transport.send(request(server))
        #expect(response.metrics.secured == nil)
        #expect(response.connection.tlsVersion == nil)
        #expect(response.connection.tlsCipher == nil)
        try expectOrder([
            ("connection", response.metrics.connected), ("request", response.metrics.requestBegan),
            ("first byte", response.metrics.firstByte), ("end", response.metrics.finished),
        ])
        await transport.shutdown()
    }

    @Test("The metrics of a stream's head have no end, and otherwise equal those of its end")
    func stream() async throws {
        let gate = LoopbackGate()
        let authority = try Authority()
        let server = try authority.server { _ in
            .raw([
                .pause(Self.thought), .head(headers: [("Content-Length", "10")]), .gate(gate), .text("0123456789"),
                .keepAlive,
            ])
        }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: authority.anchors))
        var sent = try request(server)
        sent.options.delivery = .streamed
        let response = try await transport.send(sent)
        let head = response.metrics
        #expect(head.finished == nil)
        #expect(head.bodyBytesReceived == 0)
        gate.open()
        #expect(try await response.body.collect(upTo: 10).count == 10)
        let ending = try #require(response.body.ending)
        let whole = ending.metrics
        try expectOrder([
            ("name resolution", head.nameResolved), ("connection", head.connected), ("TLS", head.secured),
            ("request", head.requestBegan), ("first byte", head.firstByte), ("end", whole.finished),
        ])
        let first = try #require(head.firstByte)
        #expect(first >= Self.thought - Self.tolerance)
        #expect(whole.nameResolved == head.nameResolved)
        #expect(whole.connected == head.connected)
        #expect(whole.secured == head.secured)
        #expect(whole.requestBegan == head.requestBegan)
        #expect(whole.firstByte == head.firstByte)
        #expect(whole.bodyBytesReceived == 10)
        await transport.shutdown()
    }
}
