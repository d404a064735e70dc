import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// What a test server sends instead of a response, frame by frame.
struct FrameScript: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let frame: @Sendable (_ stream: UInt32, _ index: Int) -> RawFrame?

    /// Sends these frames.
    init(_ name: String, _ frames: @escaping @Sendable (_ stream: UInt32) -> [RawFrame]) {
        testDescription = name
        frame = { stream, index in
            let frames = frames(stream)
            return index < frames.count ? frames[index] : nil
        }
    }

    /// Sends the first frame, and then the others without end.
    init(_ name: String, endless frame: @escaping @Sendable (_ stream: UInt32, _ index: Int) -> RawFrame) {
        testDescription = name
        self.frame = { frame($0, $1) }
    }

    /// One response head and the body "body".
    static func response(_ name: String, _ fields: HeaderList) -> FrameScript {
        FrameScript(name) { [.headers(fields, stream: $0), .data("body", stream: $0)] }
    }

    /// One response head as compressed bytes and the body "body".
    static func response(_ name: String, block: [UInt8]) -> FrameScript {
        FrameScript(name) {
            [RawFrame(.headers, flags: RawFrame.endHeaders, stream: $0, payload: block), .data("body", stream: $0)]
        }
    }

    /// Some frames before a sound response.
    static func frames(
        _ name: String, _ frames: @escaping @Sendable (_ stream: UInt32) -> [RawFrame]
    ) -> FrameScript {
        FrameScript(name) { stream in
            frames(stream) + [.headers([":status": "200"], stream: stream), .data("body", stream: stream)]
        }
    }
}

extension TestBench {
    /// Runs a test against a server that plays the script for "/script". Its other responses name the connection.
    static func scripted(_ script: FrameScript, run: (TestBench) async throws -> Void) async throws {
        try await secure(handler: { request in
            request.path == "/script" ? .endlessFrames(script.frame) : .text("connection \(request.connection)")
        }) { bench in
            try await bench.text("/before")
            try await run(bench)
        }
    }
}

@Suite("Frames that a server may send", .timeLimit(.minutes(5)))
struct SoundFrameTests {
    private static let scripts: [FrameScript] = [
        .frames("a frame of an unknown kind") { stream in
            var frame = RawFrame(.ping, stream: stream, payload: [1, 2, 3])
            frame.kind = 0x77
            return [frame]
        },
        .frames("an informational head") { [.headers([":status": "103", "link": "</style>"], stream: $0)] },
        .frames("twenty informational heads") { stream in
            (0..<20).map { _ in .headers([":status": "100"], stream: stream) }
        },
        FrameScript("a padded body") {
            let payload = [3] + Array("body".utf8) + [0, 0, 0]
            return [
                .headers([":status": "200"], stream: $0),
                RawFrame(.data, flags: 0x9, stream: $0, payload: payload),
            ]
        },
        FrameScript("a head in four frames") { stream in
            [.headers([":status": "200"], stream: stream, flags: 0)]
                + (0..<3).map { .continuation(["x-\($0)": "y"], stream: stream, flags: $0 == 2 ? 0x4 : 0) }
                + [.data("body", stream: stream)]
        },
        FrameScript("a reset without an error after the end") {
            [.headers([":status": "200"], stream: $0), .data("body", stream: $0), .reset(.noError, stream: $0)]
        },
        FrameScript("empty pieces of a body") { stream in
            [.headers([":status": "200"], stream: stream)]
                + (0..<50).map { _ in .data("", stream: stream, flags: 0) } + [.data("body", stream: stream)]
        },
    ]

    @Test("A response with unusual frames arrives, and its connection stays usable", arguments: scripts)
    func unusual(_ script: FrameScript) async throws {
        try await TestBench.scripted(script) { bench in
            let body = try await bench.text("/script")
            #expect(body == "body")
            #expect(try await bench.text("/after") == "connection 0")
        }
    }

    @Test(
        "A GOAWAY spares a stream up to its last one, and later requests get another connection",
        arguments: [nil, 0x7fff_ffff] as [UInt32?], [HTTP2ErrorCode.noError, .enhanceYourCalm])
    func goAway(_ lastStream: UInt32?, _ code: HTTP2ErrorCode) async throws {
        let script = FrameScript.frames("GOAWAY") { [.goAway(lastStream: lastStream ?? $0, code)] }
        try await TestBench.scripted(script) { bench in
            let body = try await bench.text("/script")
            #expect(body == "body")
            #expect(try await bench.text("/after") == "connection 1")
            #expect(bench.server.record.requests["/script"] == 1)
        }
    }

    @Test("A field that one response adds to the compression table can be referenced by the next")
    func sharedTable() async throws {
        try await TestBench.secure(handler: { request in
            // 0x88 is ":status: 200" of the static table; 0xbe is the newest entry of the dynamic one.
            let added = [0x40] + RawFrame.string("x-kept") + RawFrame.string("value")
            let block = [0x88] + (request.path == "/first" ? added : [0xbe])
            return .frames { [RawFrame(.headers, flags: 0x5, stream: $0, payload: block)] }
        }) { bench in
            let name = try #require(HTTPField.Name("x-kept"))
            for path in ["/first", "/second", "/third"] {
                let response = try await bench.transport.send(bench.request(path))
                #expect(response.headerFields[name] == "value", "\(path)")
            }
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("A stream limit that the server lowers later is respected on that connection")
    func loweredStreamLimit() async throws {
        try await TestBench.secure(handler: { request in
            var reply = StreamReply.text(request.path)
            if request.path == "/first" { reply.steps = [.maximumStreams(2)] }
            return reply
        }) { bench in
            try await bench.text("/first")
            let answers = try await bench.bodies(of: (0..<20).map { try bench.request("/\($0)") })
            #expect(answers == (0..<20).map { "/\($0)" })
            #expect((bench.server.record.maximumOpen[0] ?? 0) <= 2)
        }
    }

    @Test(
        "A request whose stream is always refused is sent again ten times, and then fails as unprocessed",
        arguments: [HTTPRequest.Method.get, .post])
    func alwaysRefused(_ method: HTTPRequest.Method) async throws {
        let script = FrameScript("refused") { [.reset(.refusedStream, stream: $0)] }
        try await TestBench.scripted(script) { bench in
            let failure = try await bench.failure(of: bench.request("/script", method: method))
            #expect(failure?.reason == .interrupted)
            #expect(failure?.transmission == .refused)
            #expect(bench.server.record.requests["/script"] == 11)
        }
    }
}

@Suite("Frames that break the protocol", .timeLimit(.minutes(5)))
struct BrokenFrameTests {
    private static let ok: HeaderList = [":status": "200"]

    /// Faults that end one stream (RFC 9113, sections 8.1.1 and 6.9).
    private static let streamFaults: [FrameScript] = [
        .response("a name in upper case", [":status": "200", "X-Upper": "1"]),
        .response("no status", ["x-a": "b"]),
        .response("two statuses", [":status": "200", ":status": "201"]),
        .response("a status after a field", ["x-a": "b", ":status": "200"]),
        .response("a status that is no number", [":status": "2x"]),
        .response("a status 101", [":status": "101"]),
        .response("a pseudo-header field of requests", [":status": "200", ":path": "/"]),
        .response("a connection field", [":status": "200", "connection": "close"]),
        .response("a transfer coding", [":status": "200", "transfer-encoding": "chunked"]),
        .response("a line break in a value", [":status": "200", "x-a": "b\r\nset-cookie: c"]),
        .response("a NUL in a value", [":status": "200", "x-a": "b\0c"]),
        .response("a control character in a value", [":status": "200", "set-cookie": "b\u{1}=c"]),
        .response("a delete character in a value", [":status": "200", "x-a": "b\u{7f}c"]),
        .response("a body shorter than its length", [":status": "200", "content-length": "5"]),
        .response("a body longer than its length", [":status": "200", "content-length": "3"]),
        .response("two lengths", [":status": "200", "content-length": "4", "content-length": "5"]),
        FrameScript("an end after an informational head") { [.headers([":status": "103"], stream: $0, flags: 0x5)] },
        FrameScript("a status in trailers") {
            [
                .headers(ok, stream: $0), .data("body", stream: $0, flags: 0),
                .headers([":status": "201"], stream: $0, flags: 0x5),
            ]
        },
        FrameScript("a window over its maximum") {
            [.headers(ok, stream: $0), .windowUpdate(0x7fff_ffff, stream: $0), .data("body", stream: $0)]
        },
    ]

    /// Faults that end the connection.
    private static let connectionFaults: [FrameScript] = [
        .response("an index beyond the table", block: [0x88, 0xff, 0x20]),
        .response("a table over its maximum", block: RawFrame.integer(1 << 20, prefix: 5, pattern: 0x20) + [0x88]),
        .response("a table size behind a field", block: [0x88, 0x20]),
        .response("a field that is cut off", block: [0x88, 0, 10, 65]),
        .response("an integer without end", block: [0x88, 0, 0x7f] + Array(repeating: 0xff, count: 10)),
        .response("an end of string in Huffman code", block: [0x88, 0, 0x84, 0xff, 0xff, 0xff, 0xff, 1, 65]),
        FrameScript("a body before the head") { [.data("body", stream: $0)] },
        FrameScript("a body within the head") {
            [.headers(ok, stream: $0, flags: 0), .data("body", stream: $0), .continuation([:], stream: $0, flags: 0x4)]
        },
        .frames("a push") {
            let fields = RawFrame.literal(":method", "GET")
            return [RawFrame(.pushPromise, flags: 0x4, stream: $0, payload: [0, 0, 0, 2] + fields)]
        },
        .frames("a reset of a stream that was never opened") { [.reset(.cancel, stream: $0 + 20)] },
        .frames("a GOAWAY whose last stream rises") { [.goAway(lastStream: $0), .goAway(lastStream: $0 + 10)] },
        .frames("a window over its maximum in the settings") { _ in [.settings([(4, 0x8000_0000)])] },
        .frames("a frame size below its minimum in the settings") { _ in [.settings([(5, 1)])] },
        FrameScript("a frame over the size that was agreed upon, with a length") {
            [
                .headers([":status": "200", "content-length": "20000"], stream: $0),
                RawFrame(.data, flags: 0x1, stream: $0, payload: Array(repeating: 65, count: 20_000)),
            ]
        },
    ]

    /// What a fault is called depends on libcurl, which says of some that the peer has hung up.
    private static let reasons: Set<RequestFailure.Reason> = [.interrupted, .protocolViolation]

    @Test("A fault of a stream ends its request alone", arguments: streamFaults)
    func stream(_ script: FrameScript) async throws {
        let other = LoopbackGate()
        try await TestBench.secure(handler: { request in
            switch request.path {
            case "/script": .endlessFrames(script.frame)
            case "/other": .text("other", after: other)
            default: .text("connection \(request.connection)")
            }
        }) { bench in
            try await bench.text("/before")
            let waiting = Task { try await bench.text("/other") }
            let failure = try await bench.failure(of: bench.request("/script"))
            #expect(failure.map { Self.reasons.contains($0.reason) } == true)
            #expect(try await bench.text("/after") == "connection 0")
            other.open()
            #expect(try await waiting.value == "other")
            #expect(bench.server.record.requests["/script"] == 1)
        }
    }

    @Test(
        "A fault of the connection ends its requests, and the next one gets another connection",
        arguments: connectionFaults)
    func connection(_ script: FrameScript) async throws {
        try await TestBench.scripted(script) { bench in
            let failure = try await bench.failure(of: bench.request("/script"))
            #expect(failure.map { Self.reasons.contains($0.reason) } == true)
            #expect(try await bench.text("/after") != "connection 0")
            #expect((1...2).contains(bench.server.record.requests["/script"] ?? 0))
        }
    }
}

@Suite("Heads and frames without end", .timeLimit(.minutes(5)))
struct EndlessFrameTests {
    private static let ok: HeaderList = [":status": "200"]

    private static let heads: [FrameScript] = [
        FrameScript(
            "continuations of a few bytes",
            endless: { stream, index in
                index == 0 ? .headers(ok, stream: stream, flags: 0) : .continuation(["x-\(index)": "y"], stream: stream)
            }),
        FrameScript(
            "empty continuations",
            endless: { stream, index in
                index == 0 ? .headers(ok, stream: stream, flags: 0) : .continuation([:], stream: stream)
            }),
        FrameScript(
            "large continuations",
            endless: { stream, index in
                let value = String(repeating: "y", count: 10_000)
                return index == 0
                    ? .headers(ok, stream: stream, flags: 0) : .continuation(["x-\(index)": value], stream: stream)
            }),
        FrameScript("informational heads", endless: { stream, _ in .headers([":status": "103"], stream: stream) }),
        FrameScript(
            "settings", endless: { stream, index in index == 0 ? .headers(ok, stream: stream) : .settings([]) }),
    ]

    @Test("A server that sends without end is abandoned after a few megabytes", arguments: heads)
    func endless(_ script: FrameScript) async throws {
        try await TestBench.scripted(script) { bench in
            let failure = try await bench.failure(of: bench.request("/script"))
            let isKnown = [.interrupted, .protocolViolation, .tooLarge].contains(failure?.reason)
            #expect(isKnown, "\(failure?.reason as Any)")
            let after = try await bench.text("/after")
            #expect(after.hasPrefix("connection"))
            #expect(bench.server.record.rawByteCount < 16 << 20)
        }
    }

    @Test("A head has as many lines as its limit allows, and no more", arguments: [(900, true), (1_100, false)])
    func headLines(_ count: Int, _ isEnough: Bool) async throws {
        let script = FrameScript("lines") { stream in
            var parts = Array(repeating: HeaderList(), count: 4)
            for index in 0..<count { parts[index % 4].append(name: "x-\(index)", value: "y") }
            return [.headers(Self.ok, stream: stream, flags: 0)]
                + parts.enumerated().map { .continuation($1, stream: stream, flags: $0 == 3 ? 0x4 : 0) }
                + [.data("body", stream: stream)]
        }
        try await TestBench.scripted(script) { bench in
            if isEnough {
                let response = try await bench.transport.send(bench.request("/script"))
                #expect(response.headerFields.count == count)
            } else {
                let failure = try await bench.failure(of: bench.request("/script"))
                #expect(failure?.reason == .tooLarge)
            }
            #expect(try await bench.text("/after") == "connection 0")
        }
    }

    @Test("Informational heads count towards the limit of lines")
    func informationalLines() async throws {
        let script = FrameScript.frames("lines") { stream in
            (0..<600).map { _ in .headers([":status": "103", "x-a": "b"], stream: stream) }
        }
        try await TestBench.scripted(script) { bench in
            let failure = try await bench.failure(of: bench.request("/script"))
            #expect(failure?.reason == .tooLarge)
        }
    }

    @Test(
        "Frames without content do not stop a deadline, and other requests continue",
        arguments: [RawFrame.Kind.data, .priority])
    func idleFrames(_ kind: RawFrame.Kind) async throws {
        let script = FrameScript(
            "nothing",
            endless: { stream, index in
                if index == 0 { return .headers(Self.ok, stream: stream) }
                return RawFrame(kind, stream: stream, payload: kind == .data ? [] : [0, 0, 0, 0, 1])
            })
        try await TestBench.scripted(script) { bench in
            let failure = try await bench.failure(
                of: bench.request("/script") { $0.totalTimeout = .milliseconds(200) })
            #expect(failure?.reason == .timeout)
            let after = try await bench.text("/after")
            #expect(after.hasPrefix("connection"))
        }
    }
}
