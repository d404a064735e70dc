import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// Servers that close the connection or respond when they should not.
@Suite("A server that closes its connection early", .serialized)
struct HangUpTests {
    /// If a reset arrives before the client has noticed the open connection, the connection fails instead.
    @Test(
        "If a server closes an accepted connection, the failure is `interrupted`, or `tls` in the handshake",
        arguments: [true, false])
    func accepting(isReset: Bool) async throws {
        let options = ServerOptions(onAccept: { $0 < 20 ? [isReset ? .reset : .close] : [] })
        let server = try LoopbackServer(options: options) { .response(body: $0.target) }
        let transport = try CurlTransport()
        for number in 0..<10 {
            let found = await failure { try await transport.send(request(.post, server)) }
            let mayBeRefused = isReset && found?.phase == .connect
            #expect(
                found?.reason == (mayBeRefused ? .connection : .interrupted), "\(number): \(String(describing: found))")
            let secure = TransportRequest(.get, try RequestURL("https://localhost:\(server.port)/"))
            let handshake = await failure { try await transport.send(secure) }
            let isRefused = isReset && handshake?.phase == .connect
            #expect(
                handshake?.reason == (isRefused ? .connection : .tls), "\(number): \(String(describing: handshake))")
            #expect(isRefused || handshake?.phase == .handshake)
        }
        #expect(server.requestCount == 0)
        #expect(server.connectionCount == 20)
        #expect(try await transport.send(request(server, "/good")).text == "/good")
    }

    @Test("A server that does not speak TLS in a handshake is `tls`")
    func noTLS() async throws {
        let options = ServerOptions(onAccept: { _ in [.text("HTTP/1.1 400 Bad Request\r\n\r\n"), .close] })
        let server = try LoopbackServer(options: options) { _ in .close }
        let transport = try CurlTransport()
        let sent = TransportRequest(.get, try RequestURL("https://localhost:\(server.port)/"))
        let found = await failure { try await transport.send(sent) }
        #expect(found?.reason == .tls, "\(String(describing: found))")
        #expect(found?.phase == .handshake)
    }

    /// A body of `count` pieces, or without an end, that counts the requested pieces.
    private final class Source: Sendable {
        private let given = Atomic(0)
        var pieces: Int { given.load(ordering: .relaxed) }

        func stream(_ count: Int = .max) -> AsyncStream<Data> {
            AsyncStream(unfolding: {
                let number = self.given.wrappingAdd(1, ordering: .relaxed).newValue
                return number <= count ? Data(count: 64 << 10) : nil
            })
        }

        /// A source that supplies one piece, notifies of the next request, and ends when the gate opens.
        func stream(asked: LoopbackGate, end: LoopbackGate) -> AsyncStream<Data> {
            AsyncStream(unfolding: {
                if self.given.wrappingAdd(1, ordering: .relaxed).newValue == 1 { return Data(count: 64 << 10) }
                asked.open()
                await end.opened()
                return nil
            })
        }
    }

    @Test("A reset during an upload is `interrupted`, and nothing is sent twice", arguments: [true, false])
    func resetDuringUpload(isStream: Bool) async throws {
        let heads = Atomic(0)
        let options = ServerOptions(onHead: { request in
            guard request.path == "/bad" else { return nil }
            heads.wrappingAdd(1, ordering: .relaxed)
            return .reset
        })
        let bench = try Bench(options: options) { _ in [.close] }
        for delivery in deliveries {
            let body: RequestBody =
                isStream ? .stream(Source().stream(), length: nil) : .bytes(Data(count: 32 << 20))
            let outcome = try await bench.bad(.put, body: body, as: delivery)
            #expect(outcome.failure?.reason == .interrupted, "\(outcome)")
        }
        #expect(heads.load(ordering: .relaxed) == deliveries.count)
        try await bench.expectRecovery()
    }

    @Test("An early refusal of an upload is delivered, and its source is no longer read")
    func refusedEarly() async throws {
        let options = ServerOptions(onHead: { request in
            guard request.path == "/bad" else { return nil }
            // The server continues to read, so that a reset does not lose the response.
            return .raw([
                .text("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"), .waitForPeerClose,
            ])
        })
        let bench = try Bench(options: options) { _ in [.close] }
        for delivery in deliveries {
            let source = Source()
            let outcome = try await bench.bad(.post, body: .stream(source.stream(), length: nil), as: delivery)
            #expect(outcome.status == 413, "\(outcome)")
            #expect(outcome.text == "no")
            #expect(outcome.failure == nil)
            #expect(source.pieces < 10_000)
        }
        try await bench.expectRecovery()
    }

    /// The way in which a response arrives while an upload waits for its source.
    enum EarlyAnswer: String, CaseIterable, CustomTestStringConvertible {
        case whole, inSteps, kept, inChunks, success, empty

        var testDescription: String { rawValue }
        var status: Int { self == .success ? 200 : self == .empty ? 204 : 413 }
        var text: String { self == .empty ? "" : "no" }

        var steps: [ServerStep] {
            let moment = ServerStep.pause(.milliseconds(30))
            let length = "Content-Length: 2\r\n"
            let close = "Connection: close\r\n"
            switch self {
            case .whole: return [moment, .text("HTTP/1.1 413 No\r\n\(close)\(length)\r\nno"), .waitForPeerClose]
            case .inSteps:
                return [
                    moment, .text("HTTP/1.1 413 No\r\n\(close)\(length)\r\n"), moment, .text("n"), moment, .text("o"),
                    .waitForPeerClose,
                ]
            case .kept: return [moment, .text("HTTP/1.1 413 No\r\n\(length)\r\nno"), .waitForPeerClose]
            case .inChunks:
                return [
                    moment, .text("HTTP/1.1 413 No\r\n\(close)Transfer-Encoding: chunked\r\n\r\n"), moment,
                    .text("2\r\nno\r\n"), moment, .lastChunk(), .waitForPeerClose,
                ]
            case .success: return [moment, .text("HTTP/1.1 200 OK\r\n\(close)\(length)\r\nno"), .waitForPeerClose]
            case .empty: return [moment, .text("HTTP/1.1 204 OK\r\n\(close)\r\n"), .waitForPeerClose]
            }
        }
    }

    @Test(
        "An early response to an upload is delivered even while the source has no piece",
        arguments: EarlyAnswer.allCases)
    func answeredWhileWaiting(_ answer: EarlyAnswer) async throws {
        let never = LoopbackGate()
        defer { never.open() }
        for delivery in deliveries {
            let waits = LoopbackGate()
            let options = ServerOptions(onHead: { $0.path == "/bad" ? .raw([.gate(waits)] + answer.steps) : nil })
            let bench = try Bench(options: options) { _ in [.close] }
            let source = Source()
            let body = RequestBody.stream(source.stream(asked: waits, end: never), length: nil)
            let outcome = try await bench.bad(.post, body: body, as: delivery)
            #expect(outcome.status == answer.status, "\(outcome)")
            #expect(outcome.text == answer.text)
            #expect(outcome.failure == nil)
            #expect(source.pieces == 2)
            try await bench.expectRecovery()
        }
    }

    @Test("A complete response is delivered even if the connection breaks during the upload")
    func brokenAfterResponse() async throws {
        for delivery in deliveries {
            let options = ServerOptions(onHead: { request in
                guard request.path == "/bad" else { return nil }
                let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                return .raw([.text(text), .pause(.milliseconds(50)), .reset])
            })
            let bench = try Bench(options: options) { _ in [.close] }
            let outcome = try await bench.bad(.post, body: .bytes(Data(count: 64 << 20)), as: delivery)
            #expect(outcome.status == 200, "\(outcome)")
            #expect(outcome.text == "ok")
            #expect(outcome.failure == nil)
            try await bench.expectRecovery()
        }
    }

    @Test(
        "A response without its last chunk is interrupted if the connection breaks during the upload",
        arguments: [ServerStep.reset, .close])
    func brokenInResponse(end: ServerStep) async throws {
        for delivery in deliveries {
            let options = ServerOptions(onHead: { request in
                guard request.path == "/bad" else { return nil }
                let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
                return .raw([.text(text), .pause(.milliseconds(50)), end])
            })
            let bench = try Bench(options: options) { _ in [.close] }
            let outcome = try await bench.bad(.post, body: .bytes(Data(count: 64 << 20)), as: delivery)
            #expect(outcome.failure?.reason == .interrupted, "\(outcome)")
            try await bench.expectRecovery()
        }
    }

    @Test("A server that responds before it has read an upload receives the whole upload")
    func answeredEarly() async throws {
        for delivery in deliveries {
            let options = ServerOptions(onHead: { _ in
                .raw([.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForPeerClose])
            })
            let bench = try Bench(options: options) { _ in [.close] }
            let source = Source()
            let outcome = try await bench.bad(.post, body: .stream(source.stream(50), length: nil), as: delivery)
            #expect(outcome.status == 200, "\(outcome)")
            #expect(outcome.text == "ok")
            #expect(source.pieces == 51)
            await bench.transport.shutdown()
            while bench.server.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(2)) }
            #expect(bench.server.applicationBytesReceived >= 50 * 64 << 10)
        }
    }
}
