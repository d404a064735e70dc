import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// The scripted transport refuses the same requests as the network transport.
@Suite struct SendingRulesTests {
    private let transport = ScriptedTransport()

    private func failure(_ request: TransportRequest) async -> RequestFailure? {
        transport.on { _ in true }.answer()
        return await requestFailure { _ = try await transport.send(request) }
    }

    private static func stream(_ texts: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
    }

    @Test(arguments: [
        ("Transfer-Encoding", "chunked", "The request sets Transfer-Encoding."),
        ("expect", "100-continue", "The request sets expect."),
        ("Proxy-Authorization", "Basic x", "The request sets Proxy-Authorization."),
        ("Host", "other.example.com", "The request sets Host to another name than that of its URL."),
    ])
    func `Fields that belong to the transport are refused`(name: String, value: String, message: String) async throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): value]
        let failure = await failure(try scriptedRequest(headerFields: fields))
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message == message)
        #expect(transport.requestCount == 0)
    }

    @Test(arguments: ["a\u{1}b", "\u{7f}"])
    func `A field that was copied with a control character is refused`(value: String) async throws {
        let fields = HTTPFields([HTTPField(name: .eTag, lenientValue: Array(value.utf8))])
        let failure = await failure(try scriptedRequest(headerFields: fields))
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.message == "The value of the header ETag has a control character.")
        #expect(transport.requestCount == 0)
    }

    @Test func `A Host field that equals the URL's host is accepted`() async throws {
        let host = try #require(HTTPField.Name("Host"))
        #expect(await failure(try scriptedRequest(headerFields: [host: "API.example.com"])) == nil)
    }

    @Test func `A HEAD request with a body and a negative length are refused`() async throws {
        let head = await failure(try scriptedRequest(.head, body: .bytes(Data("x".utf8))))
        #expect(head?.message == "A HEAD request has a body.")
        let negative = await failure(try scriptedRequest(.post, body: .stream(Self.stream([]), length: -1)))
        #expect(negative?.message == "The body's length is negative.")
    }

    @Test(arguments: [nil, 5]) func `A stream is read to its end`(length: Int?) async throws {
        let request = try scriptedRequest(.post, body: .stream(Self.stream(["ab", "", "cde"]), length: length))
        #expect(await failure(request) == nil)
        #expect(transport.requests.map(\.bodyText) == ["abcde"])
        #expect(transport.requests.map(\.isBodyComplete) == [true])
    }

    @Test(arguments: [4, 6])
    func `A stream whose length differs from the declared one fails with encoding`(length: Int) async throws {
        let failure = await failure(
            try scriptedRequest(.post, body: .stream(Self.stream(["ab", "cde"]), length: length)))
        #expect(failure?.reason == .encoding)
        #expect(failure?.phase == .sending)
        #expect(transport.requestCount == 0)
    }

    @Test func `An error of a source is the underlying error, and its failure is thrown unchanged`() async throws {
        struct Broken: Error {}
        let broken = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) }
        let first = await failure(try scriptedRequest(.post, body: .stream(broken, length: nil)))
        #expect(first?.reason == .encoding)
        #expect(first?.underlying is Broken)
        let failed = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: RequestFailure(.file, "Gone.")) }
        let second = await failure(try scriptedRequest(.post, body: .stream(failed, length: nil)))
        #expect(second?.reason == .file)
        #expect(second?.message == "Gone.")
    }

    @Test func `A body over the recorded maximum is read completely, but only its start is kept`() async throws {
        var limits = ScriptedTransport.Limits()
        limits.recordedBody = 3
        let transport = ScriptedTransport(limits: limits)
        transport.on(.post, "/").answer()
        transport.on(.post, "/", body: .text("abc")).answer(.conflict)
        for body in [RequestBody.stream(Self.stream(["ab", "cd", "ef"]), length: 6), .bytes(Data("abcdef".utf8))] {
            let response = try await transport.send(scriptedRequest(.post, body: body))
            #expect(response.status == .ok)
            #expect(response.metrics.bodyBytesSent == 6)
        }
        #expect(transport.requests.map(\.bodyText) == ["abc", "abc"])
        #expect(transport.requests.map(\.bodyByteCount) == [6, 6])
        #expect(
            mismatch { () throws(RequestMismatch) in try transport.requests[0].expect(jsonText: "1") } == [
                "body: only 3 of its 6 bytes were kept"
            ])
    }
}
