import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("The deadline for silence")
struct RestingTests {
    /// Much longer than the silence of a busy machine, and much shorter than a pause.
    private static let silence = Duration.milliseconds(500)
    private static let rest = Duration.seconds(2)
    private static let pieceSize = 64 << 10

    /// Three pieces. The second one arrives after a pause.
    private func restingSource() -> AsyncStream<Data> {
        let given = Atomic(0)
        return AsyncStream<Data>(unfolding: {
            let number = given.wrappingAdd(1, ordering: .relaxed).newValue
            if number == 2 { try? await Task.sleep(for: Self.rest) }
            return number <= 3 ? Data(count: Self.pieceSize) : nil
        })
    }

    @Test(
        "The idle deadline does not count while the reader of a stream pauses", arguments: [true, false])
    func reader(restsFirst: Bool) async throws {
        // Far more than the transport reads ahead.
        let total = 16 << 20
        let piece = [UInt8](repeating: 7, count: Self.pieceSize)
        let server = try LoopbackServer { _ in
            .raw([
                .head(headers: [("Content-Length", "\(total)")]),
                .repeatSend(piece, count: total / piece.count), .keepAlive,
            ])
        }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.idleTimeout = Self.silence
        sent.options.delivery = .streamed
        let response = try await transport.send(sent)
        if restsFirst { try await Task.sleep(for: Self.rest) }
        var received = 0
        for try await chunk in response.body {
            if received == 0, !restsFirst { try await Task.sleep(for: Self.rest) }
            received += chunk.count
        }
        #expect(received == total)
        await transport.shutdown()
    }

    @Test(
        "The idle deadline does not count while the source of an upload pauses",
        arguments: [true, false])
    func source(knowsLength: Bool) async throws {
        let server = try LoopbackServer { .response(body: "\($0.body.count)") }
        let transport = try CurlTransport()
        let length = 3 * Self.pieceSize
        var sent = try request(.post, server, body: .stream(restingSource(), length: knowsLength ? length : nil))
        sent.options.idleTimeout = Self.silence
        #expect(try await transport.send(sent).text == "\(length)")
        #expect(server.requestCount == 1)
        await transport.shutdown()
    }

    @Test("The idle deadline counts again after a pause")
    func afterRest() async throws {
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "10")]), .text("abc"), .hang])
        }
        let transport = try CurlTransport()
        var sent = try request(.post, server, body: .stream(restingSource(), length: nil))
        sent.options.idleTimeout = Self.silence
        let start = ContinuousClock.now
        let outcome = await transport.outcome(of: sent)
        let elapsed = ContinuousClock.now - start
        #expect(outcome.failure?.reason == .timeout, "\(outcome)")
        #expect(outcome.failure?.phase == .receiving)
        #expect(elapsed >= Self.rest + Self.silence - .milliseconds(50), "\(elapsed)")
        await transport.shutdown()
    }
}
