import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A deadline")
struct DeadlineTests {
    /// Runs a request that must time out, and checks that this deadline ended it, neither earlier nor by one of the
    /// much longer defaults. The upper bound leaves room for a busy machine.
    private func expectTimeout(
        _ transport: CurlTransport, _ request: TransportRequest, after deadline: Duration,
        phase: RequestFailure.Phase? = nil
    ) async {
        // The task runs on the engine's thread, because waiting for a thread of the tests would also count.
        let (found, elapsed) = await withTaskExecutorPreference(transport.taskExecutor(for: request.url.origin)) {
            var found: RequestFailure?
            let elapsed = await ContinuousClock().measure {
                found = await failure { try await transport.send(request) }
            }
            return (found, elapsed)
        }
        #expect(found?.reason == .timeout, "\(String(describing: found))")
        if let phase { #expect(found?.phase == phase) }
        #expect(elapsed >= deadline - .milliseconds(20))
        #expect(elapsed < .seconds(30))
        #expect(found?.message.contains("\(deadline)") == true, "\(String(describing: found))")
    }

    @Test("The total deadline ends an exchange without a response")
    func total() async throws {
        let server = try LoopbackServer { _ in .hang }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.totalTimeout = .milliseconds(150)
        await expectTimeout(transport, sent, after: .milliseconds(150), phase: .waiting)
    }

    @Test("The idle deadline ends an exchange in which nothing moves, before and within the response")
    func idle() async throws {
        let server = try LoopbackServer { request in
            request.path == "/silent"
                ? .hang : .raw([.head(headers: [("Content-Length", "10")]), .text("abc"), .hang])
        }
        let transport = try CurlTransport()
        for (path, phase) in [("/silent", RequestFailure.Phase.waiting), ("/half", .receiving)] {
            var sent = try request(server, path)
            sent.options.idleTimeout = .milliseconds(150)
            // A longer time for connecting must not delay the end.
            sent.options.connectTimeout = .seconds(3_600)
            await expectTimeout(transport, sent, after: .milliseconds(150), phase: phase)
        }
    }

    @Test("The first-byte deadline ends an exchange without a response, whatever the other deadlines are")
    func firstByte() async throws {
        let server = try LoopbackServer { _ in .hang }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.firstByteTimeout = .milliseconds(150)
        sent.options.idleTimeout = nil
        // Without a limit for connecting, no other deadline comes first.
        sent.options.connectTimeout = .zero
        await expectTimeout(transport, sent, after: .milliseconds(150), phase: .waiting)
    }

    @Test("The idle deadline does not end an exchange in which bytes keep moving")
    func trickle() async throws {
        let piece: [ServerStep] = [.text("0123456789"), .pause(.milliseconds(40))]
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "100")])] + (0..<10).flatMap { _ in piece } + [.keepAlive])
        }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.idleTimeout = .milliseconds(250)
        #expect(try await transport.send(sent).body.data?.count == 100)
    }

    @Test("The connect deadline includes the TLS handshake")
    func connect() async throws {
        // The server accepts the connection and never begins its side of the handshake.
        let server = try LoopbackServer(options: ServerOptions(onAccept: { _ in [.hang] })) { _ in .close }
        let transport = try CurlTransport()
        var sent = TransportRequest(.get, try RequestURL("https://localhost:\(server.port)/"))
        sent.options.connectTimeout = .milliseconds(150)
        await expectTimeout(transport, sent, after: .milliseconds(150), phase: .handshake)
    }

    @Test("A deadline ends the reading of a streamed body")
    func stream() async throws {
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "10")]), .text("abc"), .hang])
        }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.idleTimeout = .milliseconds(150)
        sent.options.delivery = .streamed
        let response = try await transport.send(sent)
        #expect(response.status == .ok)
        #expect(await failure { try await response.body.collect(upTo: 100) }?.reason == .timeout)
    }

    @Test("A connect timeout of zero means no limit")
    func none() async throws {
        let server = try LoopbackServer { _ in .response(body: "x") }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.connectTimeout = .zero
        sent.options.idleTimeout = nil
        #expect(try await transport.send(sent).text == "x")
    }
}
