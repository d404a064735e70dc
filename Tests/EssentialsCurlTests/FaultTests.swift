import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("A fault")
struct FaultTests {
    @Test(
        "Each fault of an address has its own reason",
        arguments: [
            ("http://127.0.0.1:1/", "connection"), ("http://nope.invalid/", "nameResolution"),
        ])
    func addresses(url: String, reason: String) async throws {
        let transport = try CurlTransport()
        let found = await failure {
            try await transport.send(TransportRequest(.get, RequestURL(url)))
        }
        #expect(found?.reason.name == reason)
        #expect(found?.remedy?.isEmpty == false)
    }

    struct Framing: Sendable, CustomTestStringConvertible {
        var name: String
        var steps: [ServerStep]
        var reason: RequestFailure.Reason
        var testDescription: String { name }
    }

    static let framings: [Framing] = [
        Framing(name: "closes without a word", steps: [.close], reason: .interrupted),
        Framing(name: "resets without a word", steps: [.reset], reason: .interrupted),
        Framing(name: "closes in the status line", steps: [.text("HTTP/1.1 20"), .close], reason: .interrupted),
        Framing(
            name: "closes in the fields", steps: [.text("HTTP/1.1 200 OK\r\nX-A: 1\r\n"), .close], reason: .interrupted),
        Framing(
            name: "closes in a body of known length",
            steps: [.head(headers: [("Content-Length", "10")]), .text("abc"), .close], reason: .interrupted),
        Framing(
            name: "resets in a body of known length",
            steps: [.head(headers: [("Content-Length", "10")]), .text("abc"), .reset], reason: .interrupted),
        Framing(
            name: "closes in a chunk",
            steps: [.head(headers: [("Transfer-Encoding", "chunked")]), .text("5\r\nab"), .close], reason: .interrupted),
        Framing(
            name: "closes before the last chunk",
            steps: [.head(headers: [("Transfer-Encoding", "chunked")]), .text("2\r\nab\r\n"), .close],
            reason: .interrupted),
        Framing(
            name: "sends a chunk size that is no number",
            steps: [.head(headers: [("Transfer-Encoding", "chunked")]), .text("zz\r\nab\r\n0\r\n\r\n"), .close],
            reason: .protocolViolation),
        Framing(name: "answers in HTTP/0.9", steps: [.text("hello\n"), .close], reason: .protocolViolation),
        Framing(
            name: "names a length that is no number",
            steps: [.text("HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\nab"), .close], reason: .protocolViolation),
        Framing(
            name: "sends damaged gzip",
            steps: [
                .head(headers: [("Content-Encoding", "gzip"), ("Content-Length", "6")]), .text("abcdef"), .close,
            ], reason: .protocolViolation),
        Framing(
            name: "sends endless fields",
            steps: [
                .text("HTTP/1.1 200 OK\r\n"), .repeatSend(Array("X-Filler: 0123456789\r\n".utf8), count: 100_000),
                .close,
            ], reason: .tooLarge),
        Framing(
            name: "sends endless informational responses",
            steps: [.repeatSend(Array("HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\n".utf8), count: 50_000), .close],
            reason: .tooLarge),
    ]

    @Test("Faults in framing have their own reasons", arguments: framings)
    func framing(_ framing: Framing) async throws {
        let server = try LoopbackServer { _ in .raw(framing.steps) }
        let transport = try CurlTransport()
        for delivery in [TransportOptions.Delivery.collected(upTo: 1 << 20), .streamed] {
            var sent = try request(server)
            sent.options.delivery = delivery
            sent.options.totalTimeout = .seconds(20)
            let prepared = sent
            let found = await failure {
                try await transport.send(prepared).body.collect(upTo: 1 << 20)
            }
            #expect(found?.reason == framing.reason, "\(String(describing: found))")
        }
    }

    @Test("A body over its limit is `tooLarge`, whether or not its length was announced")
    func bodyLimit() async throws {
        let server = try LoopbackServer { request in
            let bytes = [UInt8](repeating: 0x61, count: 1001)
            return request.path == "/known" ? .response(body: bytes) : .chunked(chunks: [bytes])
        }
        let transport = try CurlTransport()
        for path in ["/known", "/chunked"] {
            var over = try request(server, path)
            over.options.delivery = .collected(upTo: 1000)
            let prepared = over
            #expect(await failure { try await transport.send(prepared) }?.reason == .tooLarge)
            over.options.delivery = .collected(upTo: 1001)
            #expect(try await transport.send(over).body.data?.count == 1001)
        }
    }

    @Test("A body that exceeds its limit when it is decoded is `tooLarge`")
    func bomb() async throws {
        let packed = try Gzip.zeros(count: 16 << 20)
        let server = try LoopbackServer { _ in .response(headers: [("Content-Encoding", "gzip")], body: packed) }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.delivery = .collected(upTo: 1 << 20)
        let prepared = sent
        #expect(packed.count < 1 << 20)
        #expect(await failure { try await transport.send(prepared) }?.reason == .tooLarge)
    }

    @Test("A fault in a request is found before anything is sent")
    func badRequests() async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport()
        var framed = try request(.post, server)
        framed.headerFields[.transferEncoding] = "chunked"
        let first = framed
        #expect(await failure { try await transport.send(first) }?.reason == .invalidRequest)
        let second = try request(.head, server, body: .bytes(Data("x".utf8)))
        #expect(await failure { try await transport.send(second) }?.reason == .invalidRequest)
        #expect(server.connectionCount == 0)
    }

    @Test("A transport still works after a fault")
    func recovery() async throws {
        let server = try LoopbackServer { $0.path == "/bad" ? .reset : .response(body: "good") }
        let transport = try CurlTransport()
        for _ in 0..<20 {
            #expect(await failure { try await transport.send(bad(server)) } != nil)
            #expect(try await transport.send(request(server)).text == "good")
        }
    }

    private func bad(_ server: LoopbackServer) throws(RequestFailure) -> TransportRequest {
        TransportRequest(.post, try RequestURL(server.url + "/bad"))
    }
}
