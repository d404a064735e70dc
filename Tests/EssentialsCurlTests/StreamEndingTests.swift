import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("The end of a streamed body")
struct StreamEndingTests {
    private func streamed(_ server: LoopbackServer) throws -> TransportRequest {
        var sent = try request(server)
        sent.options.delivery = .streamed
        return sent
    }

    @Test("Trailers and metrics arrive with the end of a stream, and not earlier")
    func ending() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            .raw([
                .head(headers: [("Transfer-Encoding", "chunked")]), .text("3\r\nabc\r\n"), .gate(gate),
                .text("3\r\ndef\r\n0\r\nX-Sum: 7\r\n\r\n"), .keepAlive,
            ])
        }
        let transport = try CurlTransport()
        let response = try await transport.send(streamed(server))
        #expect(response.metrics.finished == nil)
        #expect(response.trailerFields.isEmpty)
        var reader = response.body.makeAsyncIterator()
        var text = ""
        while let chunk = try await reader.next() {
            if text.isEmpty { #expect(response.body.ending == nil) }
            text += String(decoding: chunk.array, as: UTF8.self)
            gate.open()
        }
        #expect(text == "abcdef")
        let ending = try #require(response.body.ending)
        #expect(ending.trailerFields[try #require(HTTPField.Name("X-Sum"))] == "7")
        #expect(ending.metrics.bodyBytesReceived == 6)
        #expect(ending.metrics.sendings == 1)
        let (first, finished) = (try #require(ending.metrics.firstByte), try #require(ending.metrics.finished))
        #expect(finished >= first)
    }

    @Test("A stream that fails or is not read to its end has no trailers and no metrics")
    func failed() async throws {
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "6")]), .text("abc"), .close])
        }
        let transport = try CurlTransport()
        let response = try await transport.send(streamed(server))
        let found = await failure { try await response.body.collect(upTo: 100) }
        #expect(found?.reason == .interrupted)
        #expect(response.body.ending == nil)
        let other = try LoopbackServer { _ in .response(body: "ok") }
        let collected = try await transport.send(request(other))
        #expect(collected.body.ending == nil)
        #expect(collected.metrics.finished != nil)
    }
}
