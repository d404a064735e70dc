import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Synchronization
import Testing

/// Responses that end before their requests, whose streams the server then resets with NO_ERROR (RFC 9113, 8.1).
@Suite("A response over HTTP/2 that comes before the end of its request", .timeLimit(.minutes(5)))
struct EarlyResponseTests {
    private static let size = 3_000_000

    private static func frames(_ stream: UInt32, status: String, hasLength: Bool) -> [RawFrame] {
        var fields: HeaderList = [":status": status]
        if hasLength { fields.append(name: "content-length", value: "5") }
        return [
            .headers(fields, stream: stream), .data("early", stream: stream), .reset(.noError, stream: stream),
        ]
    }

    private static func body(isStream: Bool) -> RequestBody {
        guard isStream else { return .bytes(Data(count: size)) }
        return .replayable(length: size) {
            let left = Mutex(size / 10_000)
            return {
                left.withLock { left in
                    left -= 1
                    return left >= 0 ? Data(count: 10_000) : nil
                }
            }
        }
    }

    private func bench(
        isWhole: Bool, status: String, hasLength: Bool, _ run: (TestBench) async throws -> Void
    ) async throws {
        var options = HTTP2Server.Options()
        options.answersHeads = true
        options.readsRequests = false
        try await TestBench.secure(
            options,
            handler: { request in
                guard request.path == "/upload", request.ordinal == 1 else { return .text("later") }
                if isWhole { return .frames { Self.frames($0, status: status, hasLength: hasLength) } }
                return .separateFrames({ Self.frames($0, status: status, hasLength: hasLength) }, count: 3)
            }, run: run)
    }

    @Test(
        "It is delivered although its stream is reset", arguments: [true, false], [true, false])
    func delivered(isStream: Bool, hasLength: Bool) async throws {
        for method in [HTTPRequest.Method.put, .post] {
            for status in ["200", "401", "413"] {
                try await bench(isWhole: false, status: status, hasLength: hasLength) { bench in
                    let sent = try bench.request("/upload", method: method, body: Self.body(isStream: isStream))
                    let response = try await bench.transport.send(sent)
                    #expect(response.status.code == Int(status))
                    #expect(response.body.data == Data("early".utf8))
                    #expect(response.metrics.sendings == 1)
                    #expect(bench.server.record.requests["/upload"] == 1)
                    #expect(try await bench.text("/next") == "later")
                }
            }
        }
    }

    @Test("It is delivered as a stream, which ends in order")
    func streamed() async throws {
        try await bench(isWhole: false, status: "200", hasLength: false) { bench in
            let sent = try bench.request("/upload", method: .post, body: Self.body(isStream: true)) {
                $0.delivery = .streamed
            }
            let response = try await bench.transport.send(sent)
            #expect(try await response.body.collect(upTo: 100) == Data("early".utf8))
        }
    }

    @Test("It is interrupted if its stream is reset with an error, or before its length")
    func cut() async throws {
        for isShort in [true, false] {
            var options = HTTP2Server.Options()
            options.answersHeads = true
            options.readsRequests = false
            try await TestBench.secure(
                options,
                handler: { _ in
                    .separateFrames(
                        { stream in
                            [
                                .headers(
                                    isShort ? [":status": "200", "content-length": "9"] : [":status": "200"],
                                    stream: stream),
                                .data("early", stream: stream, flags: 0),
                                .reset(isShort ? .noError : .internalError, stream: stream),
                            ]
                        }, count: 3)
                }
            ) { bench in
                let failure = try await bench.failure(
                    of: bench.request("/upload", method: .post, body: Self.body(isStream: false)))
                #expect(failure?.reason == .interrupted)
                #expect(bench.server.record.requests["/upload"] == 1)
            }
        }
    }

    // libcurl before 8.1 drops a response that it reads together with the reset of its stream.

    @Test("In one TLS record with its reset, a PUT gets it, over HTTP/1.1 if need be")
    func lostByPut() async throws {
        try await bench(isWhole: true, status: "200", hasLength: true) { bench in
            let text = try await bench.text("/upload", method: .put, body: Self.body(isStream: false))
            #expect(text == "early" || text == "later")
            #expect((1...2).contains(bench.server.record.requests["/upload"] ?? 0))
        }
    }

    @Test("In one TLS record with its reset, a POST gets it or a failure that says what happened, and is sent once")
    func lostByPost() async throws {
        try await bench(isWhole: true, status: "401", hasLength: true) { bench in
            let sent = try bench.request("/upload", method: .post, body: Self.body(isStream: false))
            do throws(RequestFailure) {
                let response = try await bench.transport.send(sent)
                #expect(response.status == .unauthorized)
            } catch {
                #expect(error.reason == .interrupted)
                #expect(error.message.contains("before it had read the request"))
                #expect(error.transmission == .sent)
            }
            #expect(bench.server.record.requests["/upload"] == 1)
            // The next upload to the origin cannot lose its response.
            #expect(try await bench.text("/upload", method: .post, body: Self.body(isStream: true)) == "later")
        }
    }
}
