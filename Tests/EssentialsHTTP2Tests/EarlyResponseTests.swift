import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// Responses that end before their requests, whose streams the server then resets with NO_ERROR (RFC 9113, 8.1).
@Suite("A response over HTTP/2 that comes before the end of its request", .timeLimit(.minutes(5)))
struct EarlyResponseTests {
    private static let size = 3_000_000

    /// A server that responds to heads, and leaves the bodies of requests unread.
    private static var options: HTTP2Server.Options {
        var options = HTTP2Server.Options()
        options.answersHeads = true
        options.readsRequests = false
        return options
    }

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
        try await TestBench.secure(
            Self.options,
            handler: { request in
                guard request.path == "/upload", request.ordinal == 1 else { return .text("later") }
                if isWhole { return .frames { Self.frames($0, status: status, hasLength: hasLength) } }
                return .separateFrames({ Self.frames($0, status: status, hasLength: hasLength) }, count: 3)
            }, run: run)
    }

    @Test("It is delivered although its stream is reset", arguments: [true, false])
    func delivered(isStream: Bool) async throws {
        for method in [HTTPRequest.Method.put, .post] {
            for status in ["200", "401", "413"] {
                try await bench(isWhole: false, status: status, hasLength: true) { bench in
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
        try await bench(isWhole: false, status: "200", hasLength: true) { bench in
            let sent = try bench.request("/upload", method: .post, body: Self.body(isStream: true)) {
                $0.delivery = .streamed
            }
            let response = try await bench.transport.send(sent)
            #expect(try await response.body.collect(upTo: 100) == Data("early".utf8))
        }
    }

    @Test("It is delivered, or interrupted, if the connection is reset behind it while the upload waits for the server")
    func connectionReset() async throws {
        var options = Self.options
        options.resetsConnections = true
        try await TestBench.secure(
            options,
            handler: { request in
                guard request.path == "/upload" else { return .text("later") }
                return StreamReply(
                    body: nil,
                    steps: [
                        .frames { stream, index in
                            [
                                RawFrame.headers([":status": "200", "content-length": "5"], stream: stream),
                                .data("early", stream: stream),
                            ].dropFirst(index).first
                        }, .flush,
                    ], end: .close)
            }
        ) { bench in
            for _ in 0..<20 {
                let request = try bench.request("/upload", method: .post, body: Self.body(isStream: false))
                do throws(RequestFailure) {
                    #expect(try await bench.transport.send(request).body.data == Data("early".utf8))
                } catch {
                    #expect(error.reason == .interrupted, "\(error)")
                }
            }
            #expect(try await bench.text("/next") == "later")
        }
    }

    @Test("It is interrupted if its stream is reset with an error, or before its length")
    func cut() async throws {
        for isShort in [true, false] {
            try await TestBench.secure(
                Self.options,
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

    @Test("Without a length it may lack its last bytes, so that it is interrupted and never cut short")
    func openEnd() async throws {
        try await TestBench.secure(
            Self.options,
            handler: { request in
                guard request.ordinal == 1 else { return .text("later") }
                // The last bytes come in one TLS record with the reset.
                return StreamReply(
                    body: nil,
                    steps: [
                        .frames { stream, index in index == 0 ? .headers([":status": "200"], stream: stream) : nil },
                        .flush,
                        .frames { stream, index in
                            switch index {
                            case 0: .data("first", stream: stream, flags: 0)
                            default: nil
                            }
                        }, .flush,
                        .frames { stream, index in
                            switch index {
                            case 0: .data("last", stream: stream)
                            case 1: .reset(.noError, stream: stream)
                            default: nil
                            }
                        },
                    ], end: .never)
            }
        ) { bench in
            let request = try bench.request("/upload", method: .post, body: Self.body(isStream: false))
            do throws(RequestFailure) {
                let response = try await bench.transport.send(request)
                #expect(response.body.data == Data("firstlast".utf8))
            } catch {
                #expect(error.reason == .interrupted && error.transmission == .sent)
            }
            #expect(bench.server.record.requests["/upload"] == 1)
            #expect(try await bench.text("/upload", method: .post, body: Self.body(isStream: true)) == "later")
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
            for _ in 0..<2 {
                #expect(try await bench.text("/upload", method: .post, body: Self.body(isStream: true)) == "later")
            }
            let protocols = bench.server.record.protocols
            #expect(protocols.allSatisfy { $0 == "h2" } || protocols == ["h2", "http/1.1"])
        }
    }

    @Test("After a lost response, uploads to a server that speaks only HTTP/2 go over HTTP/2")
    func onlyHTTP2() async throws {
        var options = Self.options
        options.applicationProtocols = ["h2"]
        try await TestBench.secure(
            options,
            handler: { request in
                guard request.path == "/upload", request.ordinal == 1 else { return .text("later") }
                return .frames { Self.frames($0, status: "401", hasLength: true) }
            }
        ) { bench in
            _ = try? await bench.text("/upload", method: .post, body: Self.body(isStream: false))
            for _ in 0..<2 {
                let body = RequestBody.bytes(Data(count: 70_000))
                let text = try await bench.text("/later", method: .post, body: body)
                #expect(text == "later")
            }
            #expect(bench.server.record.requests["/later"] == 2)
        }
    }
}
