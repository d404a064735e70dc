import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("How the wire ends a request over HTTP/2", .timeLimit(.minutes(5)))
struct EndingTests {
    /// An end of a stream without a response that shows that the server has not processed the request.
    enum Unprocessed: CaseIterable {
        case refusedStream, goAway, calmingGoAway, goAwayForHTTP1, streamForHTTP1

        func frame(_ stream: UInt32) -> RawFrame {
            let last = stream > 2 ? stream - 2 : 0
            return switch self {
            case .refusedStream: .reset(.refusedStream, stream: stream)
            case .goAway: .goAway(lastStream: last)
            case .calmingGoAway: .goAway(lastStream: last, .enhanceYourCalm)
            case .goAwayForHTTP1: .goAway(lastStream: last, .http11Required)
            case .streamForHTTP1: .reset(.http11Required, stream: stream)
            }
        }

        var demandsHTTP1: Bool { self == .goAwayForHTTP1 || self == .streamForHTTP1 }
    }

    private func bench(
        _ end: Unprocessed, _ run: (TestBench) async throws -> Void
    ) async throws {
        try await TestBench.secure(
            handler: { request in
                let isFirst = request.path == "/order" && request.ordinal == 1
                return isFirst ? .frames { [end.frame($0)] } : .text("done \(request.body.count)")
            }, run: run)
    }

    @Test(
        "A POST that the server has not processed is sent again, on a new connection or a kept one",
        arguments: Unprocessed.allCases, [false, true])
    func post(_ end: Unprocessed, isKept: Bool) async throws {
        try await bench(end) { bench in
            if isKept { try await bench.text("/warm") }
            let request = try bench.request("/order", method: .post, body: .bytes(Data("one".utf8)))
            let response = try await bench.transport.send(request)
            #expect(response.status == .ok)
            #expect(response.metrics.sendings == 2)
            #expect(response.connection.protocolName == (end.demandsHTTP1 ? "HTTP/1.1" : "HTTP/2"))
            #expect(bench.server.record.requests["/order"] == 2)
            #expect(try await bench.text("/later").hasPrefix("done"))
        }
    }

    @Test("A body that was sent is sent again from its beginning", arguments: [10_000, 300_000], [false, true])
    func bodies(size: Int, isStream: Bool) async throws {
        try await bench(.refusedStream) { bench in
            try await bench.text("/warm")
            let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
            let body: RequestBody =
                isStream ? .replayable(length: size) { Self.source(of: data) } : .bytes(data)
            let answer = try await bench.text("/order", method: .post, body: body)
            #expect(answer == "done \(size)")
            #expect(bench.server.record.requests["/order"] == 2)
        }
    }

    private static func source(of data: Data) -> RequestBody.Source {
        let pieces = Mutex(stride(from: 0, to: data.count, by: 50_000).map { data[$0..<min($0 + 50_000, data.count)] })
        return { pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    @Test("A request that insists on HTTP/2 is not sent over HTTP/1.1", arguments: [true, false])
    func insists(isGoAway: Bool) async throws {
        try await bench(isGoAway ? .goAwayForHTTP1 : .streamForHTTP1) { bench in
            let failure = try await bench.failure(
                of: bench.request("/order", method: .post) { $0.protocolVersion = .http2 })
            #expect(failure?.reason == .protocolViolation)
            #expect(failure?.transmission == .refused)
            #expect(failure?.remedy?.contains("HTTP/1.1") == true)
            #expect(bench.server.record.requests["/order"] == 1)
        }
    }

    @Test("A request field that reads like a GOAWAY says nothing about the connection", arguments: [0, 13])
    func fieldLikeGoAway(code: Int) async throws {
        try await TestBench.secure(handler: { request in
            request.path == "/order" ? .frames { [.reset(.internalError, stream: $0)] } : .text("done")
        }) { bench in
            var warm = try bench.request("/warm")
            warm.headerFields[.userAgent] = "received GOAWAY, error=\(code), last_stream=0"
            warm.headerFields[.cookie] = "recveived GOAWAY, error=\(code), last_stream=0"
            _ = try await bench.transport.send(warm)
            var order = try bench.request("/order", method: .post, body: .bytes(Data("one".utf8)))
            order.headerFields = warm.headerFields
            let failure = await bench.failure(of: order)
            #expect(failure?.reason == .interrupted && failure?.transmission == .sent)
            #expect(bench.server.record.requests["/order"] == 1)
        }
    }

    @Test("A streamed response to a request that was sent again is delivered once")
    func streamedResponse() async throws {
        try await bench(.goAway) { bench in
            try await bench.text("/warm")
            let response = try await bench.transport.send(
                bench.request("/order", method: .post) { $0.delivery = .streamed })
            #expect(try await response.body.collect(upTo: 100) == Data("done 0".utf8))
        }
    }

    // MARK: Refused again and again

    /// A server that refuses every request for `/busy`, and a request that it has refused a few times.
    private func refusedRequest(
        _ end: @escaping @Sendable (TestBench, Task<RequestFailure?, Never>) async throws -> Void
    ) async throws {
        let refusals = Countdown(3)
        try await TestBench.secure(handler: { request in
            guard request.path == "/busy" else { return .text("done") }
            refusals.arrive()
            return .unanswered(.reset(.refusedStream))
        }) { bench in
            let request = try bench.request("/busy", method: .post)
            let sent = Task { await bench.failure(of: request) }
            await refusals.gate.opened()
            try await end(bench, sent)
        }
    }

    @Test("A request that waits before it is sent again can be cancelled")
    func cancelled() async throws {
        try await refusedRequest { bench, sent in
            sent.cancel()
            #expect(await sent.value?.reason == .cancelled)
            #expect(await bench.transport.load.inFlight == 0)
            let other = try await bench.text("/other")
            #expect(other == "done")
        }
    }

    @Test("A shutdown ends a request that waits before it is sent again", arguments: [false, true])
    func shutdown(isGraceful: Bool) async throws {
        let isInPause = Mutex(false)
        // The server knows when it has refused a request, but not when the client has heard of it.
        for round in 0..<20 where !isInPause.withLock({ $0 }) {
            try await refusedRequest { bench, sent in
                try await Task.sleep(for: .milliseconds(round * round / 2))
                await bench.transport.shutdown(grace: isGraceful ? .milliseconds(50) : .zero)
                let failure = await sent.value
                #expect(failure?.reason == .cancelled)
                #expect(failure?.transmission == .refused || failure?.transmission == .sent)
                isInPause.withLock { $0 = failure?.transmission == .refused }
            }
        }
        #expect(isInPause.withLock { $0 })
    }

    @Test("A request that its server refuses until the deadline fails with its own reason, and as unprocessed")
    func deadline() async throws {
        try await TestBench.secure(handler: { _ in .unanswered(.reset(.refusedStream)) }) { bench in
            let failure = try await bench.failure(
                of: bench.request("/busy", method: .post) { $0.totalTimeout = .milliseconds(300) })
            // On a busy machine the deadline passes while the request is on its way.
            #expect(failure?.reason == .interrupted || failure?.reason == .timeout)
            #expect(failure?.reason == .timeout || failure?.isUnprocessed == true)
            #expect(bench.server.record.requests["/busy"] ?? 0 >= 2)
        }
    }

    @Test("No request is lost if a server allows one stream at a time")
    func oneStream() async throws {
        var options = HTTP2Server.Options()
        options.maximumStreams = 1
        try await TestBench.secure(options, handler: { .text($0.path) }) { bench in
            let paths = (0..<60).map { "/\($0)" }
            let requests = try paths.enumerated().map { index, path in
                try bench.request(path, method: index.isMultiple(of: 2) ? .get : .post)
            }
            #expect(try await bench.bodies(of: requests) == paths)
            for path in paths { #expect(bench.server.record.requests[path] == 1) }
        }
    }

    @Test("Many POSTs at once survive the end of their connection, and none is processed twice")
    func rollingConnections() async throws {
        // Each connection processes ten requests, and excludes what comes later.
        try await TestBench.secure(handler: { request in
            StreamReply(
                body: StreamBody(Array(request.path.utf8)),
                steps: [
                    .frames { stream, index in index == 0 && stream == 19 ? .goAway(lastStream: 19) : nil }
                ])
        }) { bench in
            try await bench.text("/warm")
            let paths = (0..<60).map { "/\($0)" }
            let requests = try paths.map { try bench.request($0, method: .post) }
            #expect(try await bench.bodies(of: requests) == paths)
        }
    }
}
