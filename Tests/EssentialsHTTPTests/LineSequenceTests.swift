import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Testing

/// A stream of given chunks that ends or fails, and records how it was used.
final class PiecewiseSource: ResponseBody.Source {
    private let pieces: Mutex<ArraySlice<[UInt8]>>
    private let failure: RequestFailure?
    private let cancels = Mutex(0)
    private let actors = Mutex<[ObjectIdentifier?]>([])

    init(_ pieces: [[UInt8]], failure: RequestFailure? = nil) {
        self.pieces = Mutex(pieces[...])
        self.failure = failure
    }

    var cancelCount: Int { cancels.withLock { $0 } }
    var readCount: Int { readers.count }
    /// The actor on which each chunk was requested.
    var readers: [ObjectIdentifier?] { actors.withLock { $0 } }

    func next() async throws(RequestFailure) -> BodyChunk? {
        let reader = #isolation.map { ObjectIdentifier($0) }
        actors.withLock { $0.append(reader) }
        if let piece = pieces.withLock({ $0.popFirst() }) { return BodyChunk(piece) }
        if let failure { throw failure }
        return nil
    }

    func cancel() { cancels.withLock { $0 += 1 } }

    /// Every split of a text: whole, in memory, into two chunks at each offset, with an empty chunk, byte by byte.
    static func bodies(of bytes: [UInt8]) -> [ResponseBody] {
        var cuts: [[[UInt8]]] = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
        cuts.append([bytes])
        cuts.append(bytes.map { [$0] })
        cuts.append(bytes.flatMap { [[], [$0]] })
        return [ResponseBody(Data(bytes))] + cuts.map { ResponseBody(source: PiecewiseSource($0)) }
    }
}

@Suite struct LineSequenceTests {
    private func lines(of sequence: LineSequence) async throws -> [String] {
        var lines: [String] = []
        for try await line in sequence { lines.append(line) }
        return lines
    }

    /// The lines before the end or a failure, the failure, and whether `nil` follows.
    private func outcome(of sequence: LineSequence) async throws -> (lines: [String], failure: RequestFailure?) {
        var lines: [String] = []
        var iterator = sequence.makeAsyncIterator()
        do throws(RequestFailure) {
            while let line = try await iterator.next() { lines.append(line) }
            #expect(try await iterator.next() == nil)
            return (lines, nil)
        } catch {
            #expect(try await iterator.next() == nil)
            return (lines, error)
        }
    }

    private static let endingVectors: [(String, [String])] = [
        ("", []),
        ("\n", [""]),
        ("\r\n", [""]),
        ("\r", ["\r"]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\n", ["a"]),
        ("a\r", ["a\r"]),
        ("a\nb", ["a", "b"]),
        ("a\n\nb\n", ["a", "", "b"]),
        ("a\r\n\r\nb", ["a", "", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("a\r\r\n\r", ["a\r", "\r"]),
        ("\n\r\n\r", ["", "", "\r"]),
        (
            "one line that is longer than a word\nand another, also longer\r\nend",
            [
                "one line that is longer than a word", "and another, also longer", "end",
            ]
        ),
        ("\u{0}\n\u{2028}\u{85}\u{B}\n", ["\u{0}", "\u{2028}\u{85}\u{B}"]),
        ("häß\r\n😀😀😀\n日本", ["häß", "😀😀😀", "日本"]),
    ]

    @Test("Lines end with LF or CR LF, regardless of the chunks", arguments: endingVectors)
    func endings(text: String, expected: [String]) async throws {
        for body in PiecewiseSource.bodies(of: Array(text.utf8)) {
            #expect(try await lines(of: body.lines()) == expected)
        }
    }

    private static let encodingVectors: [([UInt8], [String])] = [
        // Byte order marks: the first one is removed; a second, an incomplete and a later one are text.
        ([0xEF, 0xBB, 0xBF], []),
        ([0xEF, 0xBB, 0xBF, 0x0A], [""]),
        ([0xEF, 0xBB, 0xBF, 0x61, 0x0A, 0x62], ["a", "b"]),
        ([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x61], ["\u{FEFF}a"]),
        ([0x61, 0x0A, 0xEF, 0xBB, 0xBF, 0x62], ["a", "\u{FEFF}b"]),
        ([0x0A, 0xEF, 0xBB, 0xBF], ["", "\u{FEFF}"]),
        ([0xEF], ["\u{FFFD}"]),
        ([0xEF, 0xBB], ["\u{FFFD}"]),
        ([0xEF, 0x0A, 0xBB, 0xBF], ["\u{FFFD}", "\u{FFFD}\u{FFFD}"]),
        ([0xEF, 0xBB, 0xBE, 0x0A], ["\u{FEFE}"]),
        ([0xEF, 0xBB, 0x61], ["\u{FFFD}a"]),
        // Invalid UTF-8: single bytes, a character cut by a line ending, an overlong one, a surrogate.
        ([0x61, 0xFF, 0x62, 0x0A], ["a\u{FFFD}b"]),
        ([0xC3, 0x0A, 0xA9, 0x0A], ["\u{FFFD}", "\u{FFFD}"]),
        ([0xF0, 0x9F, 0x98, 0x0A, 0x78], ["\u{FFFD}", "x"]),
        ([0xF0, 0x9F, 0x98, 0x80, 0x0A], ["😀"]),
        ([0xC0, 0x8A, 0x0A], ["\u{FFFD}\u{FFFD}"]),
        ([0xED, 0xA0, 0x80], ["\u{FFFD}\u{FFFD}\u{FFFD}"]),
        // A byte that differs from a line ending only in its high bit does not end a line.
        (
            [0x8A, 0x8D, 0x0B, 0x09, 0x0C, 0x8A, 0x0B, 0x09, 0x8A, 0x0A],
            [
                "\u{FFFD}\u{FFFD}\u{B}\t\u{C}\u{FFFD}\u{B}\t\u{FFFD}"
            ]
        ),
    ]

    @Test(
        "A byte order mark is removed and invalid UTF-8 is replaced, regardless of the chunks",
        arguments: encodingVectors)
    func encodings(bytes: [UInt8], expected: [String]) async throws {
        for body in PiecewiseSource.bodies(of: bytes) { #expect(try await lines(of: body.lines()) == expected) }
    }

    @Test("A line ending is found at every offset of a chunk", arguments: 0..<40)
    func places(length: Int) async throws {
        let bytes = [UInt8](repeating: 0x78, count: length) + [0x0A] + [UInt8](repeating: 0x79, count: 40 - length)
        let line = String(repeating: "x", count: length)
        let rest = String(repeating: "y", count: 40 - length)
        #expect(try await lines(of: ResponseBody(Data(bytes)).lines()) == [line, rest])
    }

    private static let limitVectors: [(text: String, maximum: Int, lines: [String], isOver: Bool)] = [
        ("", 0, [], false),
        ("\n\r\n\n", 0, ["", "", ""], false),
        ("a", 0, [], true),
        ("\r", 0, [], true),
        ("\u{FEFF}\n", 0, [""], false),
        ("abc\nabc\r\nabc", 3, ["abc", "abc", "abc"], false),
        ("\u{FEFF}abc\r\n", 3, ["abc"], false),
        ("abc\nabcd\n", 3, ["abc"], true),
        ("abc\nabcd", 3, ["abc"], true),
        ("abcd\r\n", 3, [], true),
        ("abc\r", 3, [], true),
        ("abc\rd\n", 3, [], true),
        ("abc\r\r\n", 3, [], true),
        ("ab\r\n", 3, ["ab"], false),
        ("ab\r\r\n", 3, ["ab\r"], false),
        ("äb\nää\n", 3, ["äb"], true),
        ("\n", -1, [], true),
        ("a\nb", .max, ["a", "b"], false),
    ]

    @Test(
        "The maximum counts the bytes of a line without its ending, regardless of the chunks", arguments: limitVectors)
    func limits(text: String, maximum: Int, expected: [String], isOver: Bool) async throws {
        for body in PiecewiseSource.bodies(of: Array(text.utf8)) {
            let outcome = try await outcome(of: body.lines(maximumLength: maximum))
            #expect(outcome.lines == expected)
            #expect((outcome.failure != nil) == isOver)
            if let failure = outcome.failure {
                #expect(failure.reason == .tooLarge)
                #expect(failure.phase == .receiving)
                #expect(failure.message.contains("\(maximum) bytes"))
            }
        }
    }

    @Test(
        "An incomplete byte order mark is text",
        arguments: [[0xEF, 0xBB, 0x0A], [0xEF, 0xBB]] as [[UInt8]])
    func limitOfCutMark(bytes: [UInt8]) async throws {
        for body in PiecewiseSource.bodies(of: bytes) {
            #expect(try await outcome(of: body.lines(maximumLength: 2)).lines == ["\u{FFFD}"])
        }
        for body in PiecewiseSource.bodies(of: bytes) {
            #expect(try await outcome(of: body.lines(maximumLength: 1)).failure?.reason == .tooLarge)
        }
    }

    @Test("By default a line has at most 65,536 bytes")
    func defaultLimit() async throws {
        let longest = [UInt8](repeating: 0x78, count: 65_536)
        #expect(try await lines(of: ResponseBody(Data(longest)).lines()).first?.utf8.count == 65_536)
        #expect(try await outcome(of: ResponseBody(Data(longest + [0x78])).lines()).failure?.reason == .tooLarge)
    }

    @Test("A line above the maximum cancels the transfer once and stops reading")
    func cancelling() async throws {
        let source = PiecewiseSource([Array("ok\nab".utf8), Array("cd".utf8), Array("ef\n".utf8)])
        let outcome = try await outcome(of: ResponseBody(source: source).lines(maximumLength: 3))
        #expect(outcome.lines == ["ok"])
        #expect(outcome.failure?.reason == .tooLarge)
        #expect(source.cancelCount == 1)
        #expect(source.readCount == 2)
    }

    @Test("A body that ends normally is not cancelled, and not read after its end")
    func ending() async throws {
        let source = PiecewiseSource([Array("a\nb".utf8)])
        let outcome = try await outcome(of: ResponseBody(source: source).lines())
        #expect(outcome.lines == ["a", "b"])
        #expect(outcome.failure == nil)
        #expect(source.cancelCount == 0)
        #expect(source.readCount == 2)
    }

    @Test("The failure of the transfer follows the complete lines, and nothing follows it")
    func failing() async throws {
        let broken = RequestFailure(.interrupted, "It ended.", phase: .receiving)
        let source = PiecewiseSource([Array("a\nb".utf8)], failure: broken)
        let outcome = try await outcome(of: ResponseBody(source: source).lines())
        #expect(outcome.lines == ["a"])
        #expect(outcome.failure?.reason == .interrupted)
        #expect(source.cancelCount == 0)
        #expect(source.readCount == 2)
    }

    @Test("A line is delivered before the next chunk is requested")
    func pace() async throws {
        let source = PiecewiseSource([Array("a\nb\nc".utf8), Array("\n".utf8)])
        var iterator = ResponseBody(source: source).lines().makeAsyncIterator()
        #expect(source.readCount == 0)
        #expect(try await iterator.next() == "a")
        #expect(try await iterator.next() == "b")
        #expect(source.readCount == 1)
        #expect(try await iterator.next() == "c")
        #expect(source.readCount == 2)
    }

    @Test("A loop on an actor reads on that actor")
    @MainActor func actor() async throws {
        let source = PiecewiseSource([Array("a\n".utf8), Array("b\n".utf8)])
        for try await _ in ResponseBody(source: source).lines() {}
        #expect(source.readers == Array(repeating: ObjectIdentifier(MainActor.shared), count: 3))
    }

    @Test("The source is released at the end and after a failure", arguments: [3, 100])
    func release(maximum: Int) async throws {
        weak var released: PiecewiseSource?
        var iterator: LineSequence.AsyncIterator
        do {
            let source = PiecewiseSource([Array("abcdef\n".utf8)])
            released = source
            iterator = ResponseBody(source: source).lines(maximumLength: maximum).makeAsyncIterator()
        }
        #expect(released != nil)
        while let line = try? await iterator.next() { #expect(line == "abcdef") }
        #expect(released == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test("Five megabytes of lines are delivered completely", arguments: [1_000, 16_384, 5_300_000])
    func large(pieceLength: Int) async throws {
        var text: [UInt8] = []
        var expected = 0
        var index = 0
        while text.count < 5_242_880 {
            text += repeatElement(UInt8(0x61 + index % 26), count: index % 211)
            text += index % 3 == 0 ? [0x0D, 0x0A] : [0x0A]
            expected += index % 211
            index += 1
        }
        let pieces = stride(from: 0, to: text.count, by: pieceLength).map {
            Array(text[$0..<min($0 + pieceLength, text.count)])
        }
        var lengths = 0
        var count = 0
        for try await line in ResponseBody(source: PiecewiseSource(pieces)).lines(maximumLength: 210) {
            if line.utf8.count != count % 211 { Issue.record("Line \(count) has \(line.utf8.count) bytes.") }
            lengths += line.utf8.count
            count += 1
        }
        #expect(lengths == expected)
        #expect(count == index)
    }

    @Test("One line of five megabytes in small chunks is delivered completely")
    func longLine() async throws {
        let pieces = [[UInt8]](repeating: [UInt8](repeating: 0x78, count: 100), count: 52_429)
        let lines = try await lines(of: ResponseBody(source: PiecewiseSource(pieces)).lines(maximumLength: 6_000_000))
        #expect(lines.map(\.utf8.count) == [5_242_900])
    }
}
