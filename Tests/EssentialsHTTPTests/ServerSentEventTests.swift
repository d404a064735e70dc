import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct ServerSentEventTests {
    private func events(of sequence: ServerSentEventSequence) async throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for try await event in sequence { events.append(event) }
        return events
    }

    private func outcome(
        of sequence: ServerSentEventSequence
    ) async throws -> (events: [ServerSentEvent], failure: RequestFailure?) {
        var events: [ServerSentEvent] = []
        var iterator = sequence.makeAsyncIterator()
        do throws(RequestFailure) {
            while let event = try await iterator.next() { events.append(event) }
            #expect(try await iterator.next() == nil)
            return (events, nil)
        } catch {
            #expect(try await iterator.next() == nil)
            return (events, error)
        }
    }

    private func expect(_ bytes: [UInt8], gives expected: [ServerSentEvent]) async throws {
        for body in PiecewiseSource.bodies(of: bytes) {
            #expect(try await events(of: body.serverSentEvents()) == expected)
        }
    }

    /// The examples of WHATWG HTML, 9.2.1 and 9.2.6, and their results.
    private static let exampleVectors: [(String, [ServerSentEvent])] = [
        (
            "data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\n"
                + "data: This is the third message.\n\n",
            [
                ServerSentEvent(data: "This is the first message."),
                ServerSentEvent(data: "This is the second message, it\nhas two lines."),
                ServerSentEvent(data: "This is the third message."),
            ]
        ),
        (
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
            [
                ServerSentEvent(event: "add", data: "73857293"), ServerSentEvent(event: "remove", data: "2153"),
                ServerSentEvent(event: "add", data: "113411"),
            ]
        ),
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event",
            [ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event")]
        ),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [
                ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event"),
                ServerSentEvent(data: " third event"),
            ]
        ),
        ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
        ("data:test\n\ndata: test\n\n", [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]),
    ]

    @Test(
        "The examples of the standard have the specified results with each line ending and regardless of the chunks",
        arguments: exampleVectors)
    func examples(text: String, expected: [ServerSentEvent]) async throws {
        for ending in ["\n", "\r", "\r\n"] {
            let bytes = text.utf8.flatMap { $0 == 0x0A ? Array(ending.utf8) : [$0] }
            try await expect(bytes, gives: expected)
        }
    }

    private static let streamVectors: [(String, [ServerSentEvent])] = [
        ("", []),
        ("\n\n\r\r\n", []),
        // One stream can mix line endings. CR LF is one line ending, and LF CR are two.
        ("data: a\rdata: b\ndata: c\r\n\r\n", [ServerSentEvent(data: "a\nb\nc")]),
        ("data: a\r\ndata: b\r\n\r\n", [ServerSentEvent(data: "a\nb")]),
        ("data: a\n\rdata: b\n\r", [ServerSentEvent(data: "a"), ServerSentEvent(data: "b")]),
        ("data: a\r\r\ndata: b\r\n\r", [ServerSentEvent(data: "a"), ServerSentEvent(data: "b")]),
        ("data: a\u{2028}\u{85}\u{B}b\n\n", [ServerSentEvent(data: "a\u{2028}\u{85}\u{B}b")]),
        // Comments and unknown fields.
        (":\n:a\n: data: b\ndata: c\n:d\n\n", [ServerSentEvent(data: "c")]),
        ("Data: a\n data: b\ndata : c\nxdata: d\ndat: e\ndatas: f\n\n", []),
        ("field\nevents: x\nids: 3\ndata: a\n\n", [ServerSentEvent(data: "a")]),
        ("\u{0}data: a\ndata:b\u{0}c\n\n", [ServerSentEvent(data: "b\u{0}c")]),
        // Values of fields.
        ("data:a:b\ndata:: c\ndata:\td\ndata:  e \n\n", [ServerSentEvent(data: "a:b\n: c\n\td\n e ")]),
        ("data: \n\n", [ServerSentEvent(data: "")]),
        ("data\ndata: a\ndata\n\n", [ServerSentEvent(data: "\na\n")]),
        ("data: häß 😀 日本\n\n", [ServerSentEvent(data: "häß 😀 日本")]),
        // A name applies to one event, also to one without data.
        (
            "event: a\ndata: 1\n\ndata: 2\n\nevent: b\n\ndata: 3\n\n",
            [ServerSentEvent(event: "a", data: "1"), ServerSentEvent(data: "2"), ServerSentEvent(data: "3")]
        ),
        ("event: a\nevent: b\ndata: 1\n\n", [ServerSentEvent(event: "b", data: "1")]),
        ("event: a\nevent\ndata: 1\n\n", [ServerSentEvent(data: "1")]),
        ("event:\ndata: 1\n\n", [ServerSentEvent(data: "1")]),
        ("data: 1\nevent:  a \n\n", [ServerSentEvent(event: " a ", data: "1")]),
        // An id applies until the next one, also if its event has no data.
        (
            "id: 1\ndata: a\n\ndata: b\n\nid: 2\n\ndata: c\n\nid\n\ndata: d\n\n",
            [
                ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "b", id: "1"),
                ServerSentEvent(data: "c", id: "2"), ServerSentEvent(data: "d"),
            ]
        ),
        ("id: 1\nid: 2\u{0}3\ndata: a\n\n", [ServerSentEvent(data: "a", id: "1")]),
        ("id: 1\nid: \u{0}\ndata: a\n\n", [ServerSentEvent(data: "a", id: "1")]),
        ("id: 1\nid: ü 2\ndata: a\n\n", [ServerSentEvent(data: "a", id: "ü 2")]),
        // The end of the body discards an incomplete event.
        ("data: a", []),
        ("data: a\n", []),
        ("data: a\n\ndata: b\nid: 2\n", [ServerSentEvent(data: "a")]),
        ("data: a\n\ndata: b\n:", [ServerSentEvent(data: "a")]),
    ]

    @Test("A stream is parsed as the standard specifies, regardless of the chunks", arguments: streamVectors)
    func vectors(text: String, expected: [ServerSentEvent]) async throws {
        try await expect(Array(text.utf8), gives: expected)
    }

    private static let encodingVectors: [([UInt8], [ServerSentEvent])] = [
        ([0xEF, 0xBB, 0xBF] + Array("data: a\n\n".utf8), [ServerSentEvent(data: "a")]),
        ([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + Array("data: a\ndata: b\n\n".utf8), [ServerSentEvent(data: "b")]),
        (Array("\n".utf8) + [0xEF, 0xBB, 0xBF] + Array("data: a\ndata: b\n\n".utf8), [ServerSentEvent(data: "b")]),
        ([0xEF, 0xBB] + Array("data: a\n\n".utf8), []),
        (Array("data: a".utf8) + [0xFF] + Array("b\n\n".utf8), [ServerSentEvent(data: "a\u{FFFD}b")]),
        (
            Array("data: ".utf8) + [0xF0, 0x9F, 0x98] + Array("\ndata: ".utf8) + [0x80] + Array("\n\n".utf8),
            [ServerSentEvent(data: "\u{FFFD}\n\u{FFFD}")]
        ),
        (
            Array("event: ".utf8) + [0xC3] + Array("\nid: ".utf8) + [0xC3, 0x28] + Array("\ndata\n\n".utf8),
            [ServerSentEvent(event: "\u{FFFD}", data: "", id: "\u{FFFD}(")]
        ),
    ]

    @Test(
        "A byte order mark is skipped once and invalid UTF-8 is replaced, regardless of the chunks",
        arguments: encodingVectors)
    func encodings(bytes: [UInt8], expected: [ServerSentEvent]) async throws {
        try await expect(bytes, gives: expected)
    }

    private static let retryVectors: [(String, Duration?)] = [
        ("retry: 3000", .seconds(3)),
        ("retry:0", .zero),
        ("retry: 0000000000000000000000010", .milliseconds(10)),
        ("retry: 9223372036854775807", .milliseconds(Int64.max)),
        ("retry: 9223372036854775808", nil),
        ("retry: 92233720368547758070", nil),
        ("retry: 99999999999999999999999999", nil),
        ("retry: 18446744073709551617", nil),
        ("retry", nil),
        ("retry:", nil),
        ("retry: ", nil),
        ("retry:  1", nil),
        ("retry: 1 ", nil),
        ("retry: -1", nil),
        ("retry: +1", nil),
        ("retry: 1.5", nil),
        ("retry: 1e3", nil),
        ("retry: 0x10", nil),
        ("retry: ٣", nil),
        ("Retry: 1", nil),
    ]

    @Test("A reconnection time is a number of digits within range", arguments: retryVectors)
    func retries(line: String, expected: Duration?) async throws {
        try await expect(Array("\(line)\ndata: a\n\n".utf8), gives: [ServerSentEvent(data: "a", retry: expected)])
    }

    @Test("A reconnection time applies until the next valid one, also if its event has no data")
    func retryStays() async throws {
        let text = "retry: 1\n\ndata: a\n\ndata: b\nretry: 2\n\nretry: x\ndata: c\n\n"
        try await expect(
            Array(text.utf8),
            gives: [
                ServerSentEvent(data: "a", retry: .milliseconds(1)),
                ServerSentEvent(data: "b", retry: .milliseconds(2)),
                ServerSentEvent(data: "c", retry: .milliseconds(2)),
            ])
    }

    private static let blockVectors: [(text: String, id: String?, retry: Duration?)] = [
        ("", nil, nil), ("\n\n: a\n\n", nil, nil), ("id: 7\nretry: 5", nil, nil), ("id: 7\nretry: 5\n", nil, nil),
        ("id: 7\nretry: 5\n\n", "7", .milliseconds(5)), ("retry: 5\n\n", nil, .milliseconds(5)),
        ("id\n\n", "", nil), ("data: a\n\n", "", nil), ("id: 7\ndata: a\n\nid: 8\n\n", "8", nil),
        ("id: 7\ndata: a\n\nid: 8\n", "7", nil), ("id: 7\ndata: a\n\nid\n\n", "", nil),
        ("retry: 5\n\nretry: 6\ndata: a\n\nretry: 7\n", "", .milliseconds(6)), ("id: 7\u{0}\n\n", nil, nil),
    ]

    @Test("An id and a reconnection time count when their block ends, also without data", arguments: blockVectors)
    func blocks(text: String, id: String?, retry: Duration?) async throws {
        for body in PiecewiseSource.bodies(of: Array(text.utf8)) {
            var iterator = body.serverSentEvents().makeAsyncIterator()
            while try await iterator.next() != nil {}
            #expect(iterator.lastEventID == id)
            #expect(iterator.retry == retry)
        }
        let broken = RequestFailure(.interrupted, "It ended.", phase: .receiving)
        let source = PiecewiseSource([Array(text.utf8)], failure: broken)
        var iterator = ResponseBody(source: source).serverSentEvents().makeAsyncIterator()
        await #expect(throws: RequestFailure.self) { while try await iterator.next() != nil {} }
        #expect(iterator.lastEventID == id && iterator.retry == retry)
    }

    private static let limitVectors: [(text: String, maximum: Int, count: Int, isOver: Bool)] = [
        ("\n\n", 0, 0, false),
        (":\n", 0, 0, true),
        ("data:123\n\n", 8, 1, false),
        ("data:1234\n\n", 8, 0, true),
        ("data:123\r\n\r\ndata:1234", 8, 1, true),
        (":1234567\n:1234567\n:1234567\n\n", 8, 0, false),
        (":12345678\n", 8, 0, true),
        ("data:123\ndata:1234\n\n", 9, 1, false),
        ("data:12345\ndata:1234\n\n", 10, 1, false),
        ("data:12345\ndata:12345\n\n", 10, 0, true),
        ("data:1234\ndata:1234\ndata\n\n", 10, 1, false),
        ("data:1234\ndata:1234\ndata\ndata\n\n", 10, 0, true),
        ("event:1234\ndata:12345\nid:1\n\n", 10, 1, false),
        ("event:1234\ndata:12345\nid:12\n\n", 10, 0, true),
        ("id:12\ndata:12345\nevent:1234\n\n", 10, 0, true),
        ("id:12\n\ndata:12345\n\nevent:1234\n\ndata:12345\n\n", 10, 2, false),
        ("id:1234567\ndata:1234\n\n", 10, 0, true),
        ("data:12345\n\ndata:12345\n\ndata:12345\n\n", 10, 3, false),
        ("data:12345\n\n", -1, 0, true),
        ("data:12345\n\n", .max, 1, false),
    ]

    @Test("Lines and events have a maximum size, regardless of the chunks", arguments: limitVectors)
    func limits(text: String, maximum: Int, count: Int, isOver: Bool) async throws {
        for body in PiecewiseSource.bodies(of: Array(text.utf8)) {
            let outcome = try await outcome(of: body.serverSentEvents(maximumSize: maximum))
            #expect(outcome.events.count == count)
            #expect((outcome.failure != nil) == isOver)
            if let failure = outcome.failure {
                #expect(failure.reason == .tooLarge)
                #expect(failure.phase == .receiving)
                #expect(failure.message.contains("\(maximum) bytes"))
            }
        }
    }

    @Test("By default an event has at most one mebibyte")
    func defaultLimit() async throws {
        let line = Array("data:".utf8) + [UInt8](repeating: 0x78, count: 1 << 19)
        let two = line + [0x0A] + line + [0x0A, 0x0A]
        #expect(try await outcome(of: ResponseBody(Data(two)).serverSentEvents()).failure?.reason == .tooLarge)
        let fitting = line + [0x0A] + line.dropLast() + [0x0A, 0x0A]
        let outcome = try await outcome(of: ResponseBody(Data(fitting)).serverSentEvents())
        #expect(outcome.events.map(\.data.utf8.count) == [1 << 20])
        #expect(outcome.failure == nil)
    }

    @Test(
        "An event or line above the maximum cancels the transfer once and stops reading",
        arguments: ["data:12345\ndata:12345\n", "1234567890a"])
    func cancelling(tooLong: String) async throws {
        let source = PiecewiseSource([Array("data:1\n\n".utf8), Array(tooLong.utf8), Array("\n\n".utf8)])
        let outcome = try await outcome(of: ResponseBody(source: source).serverSentEvents(maximumSize: 10))
        #expect(outcome.events == [ServerSentEvent(data: "1")])
        #expect(outcome.failure?.reason == .tooLarge)
        #expect(source.cancelCount == 1)
        #expect(source.readCount == 2)
    }

    @Test("The failure of the transfer follows the complete events, and nothing follows it")
    func failing() async throws {
        let broken = RequestFailure(.interrupted, "It ended.", phase: .receiving)
        let source = PiecewiseSource([Array("data: a\n\ndata: b\n".utf8)], failure: broken)
        let outcome = try await outcome(of: ResponseBody(source: source).serverSentEvents())
        #expect(outcome.events == [ServerSentEvent(data: "a")])
        #expect(outcome.failure?.reason == .interrupted)
        #expect(source.cancelCount == 0)
        #expect(source.readCount == 2)
    }

    @Test("An event is delivered as soon as its empty line is received, also if it ends with CR")
    func pace() async throws {
        let source = PiecewiseSource(["data: a\r\n\r", "\ndata: b\n\n", "data: c\r\r"].map { Array($0.utf8) })
        var iterator = ResponseBody(source: source).serverSentEvents().makeAsyncIterator()
        #expect(source.readCount == 0)
        for (read, data) in ["a", "b", "c"].enumerated() {
            #expect(try await iterator.next()?.data == data)
            #expect(source.readCount == read + 1)
        }
        #expect(try await iterator.next() == nil)
    }

    @Test("A loop on an actor reads on that actor")
    @MainActor func actor() async throws {
        let source = PiecewiseSource([Array("data: a\n\n".utf8), Array("data: b\n\n".utf8)])
        for try await _ in ResponseBody(source: source).serverSentEvents() {}
        #expect(source.readers == Array(repeating: ObjectIdentifier(MainActor.shared), count: 3))
    }

    @Test("Five megabytes of events are delivered completely", arguments: [1_000, 16_384])
    func large(pieceLength: Int) async throws {
        var text: [UInt8] = []
        var count = 0
        while text.count < 5_242_880 {
            text += Array(
                "id: \(count)\nevent: tick\ndata: \(count)\ndata: \(String(repeating: "x", count: 200))\n\n".utf8)
            count += 1
        }
        let pieces = stride(from: 0, to: text.count, by: pieceLength).map {
            Array(text[$0..<min($0 + pieceLength, text.count)])
        }
        var seen = 0
        for try await event in ResponseBody(source: PiecewiseSource(pieces)).serverSentEvents(maximumSize: 300) {
            if event.id != "\(seen)" || event.event != "tick" || !event.data.hasPrefix("\(seen)\nxxx") {
                Issue.record("Event \(seen) is \(event).")
            }
            seen += 1
        }
        #expect(seen == count)
    }
}
