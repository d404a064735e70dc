import EssentialsRedis
import Testing

@Suite("The machine for Redis messages")
struct RESPMachineTests {
    /// Reads bytes in pieces of these sizes; what is left is one more piece.
    private static func read(
        _ bytes: [UInt8], pieces: some Sequence<Int> = [], limits: RESPLimits = RESPLimits()
    ) throws(RESPFailure) -> [RESPMessage] {
        var machine = RESPMachine(limits: limits)
        var messages: [RESPMessage] = []
        var rest = bytes[...]
        for size in pieces {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            try feed(&machine, piece, &messages)
        }
        try feed(&machine, Array(rest), &messages)
        return messages
    }

    private static func feed(
        _ machine: inout RESPMachine, _ piece: [UInt8], _ messages: inout [RESPMessage]
    ) throws(RESPFailure) {
        // `withUnsafeBytes` cannot throw a typed error of a closure that captures an `inout` value.
        let result = piece.withUnsafeBytes { bytes in
            Result { () throws(RESPFailure) in try machine.read(bytes) { messages.append($0) } }
        }
        try result.get()
    }

    private static func bytes(_ text: String) -> RESPValue { .bytes(Array(text.utf8)) }

    struct Vector: Sendable, CustomTestStringConvertible {
        let text: String
        let messages: [RESPMessage]
        var testDescription: String { text.replacing("\r\n", with: "⏎") }

        init(_ text: String, _ value: RESPValue) { self.init(text, [.reply(value)]) }

        init(_ text: String, _ messages: [RESPMessage]) {
            self.text = text.replacing("\n", with: "\r\n")
            self.messages = messages
        }
    }

    static let vectors = [
        Vector("+OK\n", .status("OK")),
        Vector("+\n", .status("")),
        Vector("-ERR unknown command\n", .error(RESPError("ERR unknown command"))),
        Vector("-NOSCRIPT\n", .error(RESPError("NOSCRIPT"))),
        Vector(":1000\n", .integer(1_000)),
        Vector(":+7\n", .integer(7)),
        Vector(":-9223372036854775808\n", .integer(.min)),
        Vector(":9223372036854775807\n", .integer(.max)),
        Vector("$5\nhello\n", bytes("hello")),
        Vector("$0\n\n", bytes("")),
        Vector("$3\na\n\n", bytes("a\r\n")),
        Vector("$-1\n", .null),
        Vector("*-1\n", .null),
        Vector("_\n", .null),
        Vector("#t\n", .boolean(true)),
        Vector("#f\n", .boolean(false)),
        Vector(",1.23\n", .double(1.23)),
        Vector(",-1e10\n", .double(-1e10)),
        Vector(",10\n", .double(10)),
        Vector(",inf\n", .double(.infinity)),
        Vector(",-inf\n", .double(-.infinity)),
        Vector(
            "(3492890328409238509324850943850943825024385\n", .bigNumber("3492890328409238509324850943850943825024385")),
        Vector("(-1\n", .bigNumber("-1")),
        Vector("(+12\n", .bigNumber("+12")),
        Vector("!21\nSYNTAX invalid syntax\n", .error(RESPError("SYNTAX invalid syntax"))),
        Vector("=15\ntxt:Some string\n", bytes("Some string")),
        Vector("*0\n", .array([])),
        Vector("*3\n:1\n*1\n+a\n_\n", .array([.integer(1), .array([.status("a")]), .null])),
        Vector("~2\n#t\n#f\n", .array([.boolean(true), .boolean(false)])),
        Vector("%0\n", .map([])),
        Vector("%2\n+a\n:1\n+b\n*0\n", .map([.status("a"), .integer(1), .status("b"), .array([])])),
        Vector("|1\n+ttl\n:5\n+OK\n", .status("OK")),
        Vector("|0\n+OK\n", .status("OK")),
        Vector("*2\n|1\n+a\n+b\n:1\n:2\n", .array([.integer(1), .integer(2)])),
        Vector(
            ">2\n+invalidate\n*1\n$1\nk\n",
            [.push([.status("invalidate"), .array([bytes("k")])])]),
        Vector(
            "+OK\n>2\n+invalidate\n_\n:1\n",
            [.reply(.status("OK")), .push([.status("invalidate"), .null]), .reply(.integer(1))]),
    ]

    @Test("Each type of RESP3 is read whole, byte by byte and in random pieces", arguments: vectors)
    func types(_ vector: Vector) throws {
        // A string of the table has its line break inside.
        let bytes = Array(vector.text.utf8)
        #expect(try Self.read(bytes) == vector.messages)
        #expect(try Self.read(bytes, pieces: bytes.map { _ in 1 }) == vector.messages)
        var machine = RESPMachine()
        var messages: [RESPMessage] = []
        for end in 1...bytes.count {
            try Self.feed(&machine, [bytes[end - 1]], &messages)
            let isAtEnd = end == bytes.count
            #expect(machine.isBetweenMessages == isAtEnd || vector.messages.count > 1)
        }
        for _ in 0..<50 {
            let pieces = (0..<8).map { _ in Int.random(in: 0...4) }
            #expect(try Self.read(bytes, pieces: pieces) == vector.messages)
        }
    }

    @Test("A number that is not one is read as such")
    func notANumber() throws {
        guard case .reply(.double(let number)) = try Self.read(Array(",nan\r\n".utf8)).first else {
            Issue.record("no number")
            return
        }
        #expect(number.isNaN)
    }

    static let malformed = [
        "OK\n", "\n", "?1\n", "+a\nb", ":\n", ":-\n", ":1a\n", ":9223372036854775808\n", ":-9223372036854775809\n",
        "$\n", "$a\n", "$-2\n", "$3\nabcd\n", "$1\nab", "_x\n", "#\n", "#true\n", ",\n", ",1.2.3\n", ",0x10\n", ", 1\n",
        "(\n", "(1.5\n", "(-\n", "=3\nabc\n", "=5\nabcde\n", "!-1\n", "=-1\n", "*-2\n", "~-1\n", "%-1\n", ">0\n",
        ">-1\n",
        "*1\n>1\n+a\n", "*a\n", "$?\n", "*?\n", "|-1\n", "%1000000000000\n", "*9999999999999999999\n",
    ]

    @Test("What is no RESP3 fails with a sentence, whatever its pieces, and keeps failing", arguments: malformed)
    func notOfTheProtocol(_ text: String) {
        // "+a\nb" has a line that ends without CR.
        let isBare = text == "+a\nb"
        let bytes = Array((isBare ? text : text.replacing("\n", with: "\r\n")).utf8)
        var machine = RESPMachine()
        var messages: [RESPMessage] = []
        var failures: [RESPFailure] = []
        for byte in bytes + [43, 79, 75, 13, 10] {
            do throws(RESPFailure) {
                try Self.feed(&machine, [byte], &messages)
            } catch {
                failures.append(error)
            }
        }
        #expect(messages.isEmpty)
        #expect(failures.count > 1 && Set(failures.map(\.description)).count == 1)
        #expect(failures.first?.description.hasSuffix(".") == true)
        #expect(throws: RESPFailure.self) { try Self.read(bytes + [43, 79, 75, 13, 10]) }
    }

    // MARK: Limits

    @Test("Each limit is exact")
    func limits() throws {
        var limits = RESPLimits()
        limits.depth = 3
        limits.bulkBytes = 10
        limits.elements = 6
        limits.lineBytes = 12
        func reads(_ text: String) -> Bool {
            (try? Self.read(Array(text.replacing("\n", with: "\r\n").utf8), limits: limits)) != nil
        }
        #expect(reads("*1\n*1\n*1\n:1\n") && !reads("*1\n*1\n*1\n*1\n:1\n"))
        #expect(reads("$10\n0123456789\n") && !reads("$11\n"))
        #expect(reads("*6\n:1\n:1\n:1\n:1\n:1\n:1\n") && !reads("*7\n"))
        #expect(reads("%3\n:1\n:1\n:1\n:1\n:1\n:1\n") && !reads("%4\n"))
        #expect(reads("*2\n*4\n:1\n:1\n:1\n:1\n:1\n") && !reads("*2\n*5\n"))
        #expect(reads("+01234567890\n") == false)
        #expect(reads("+0123456789\n"))
        // Each message begins anew.
        #expect(reads("*6\n:1\n:1\n:1\n:1\n:1\n:1\n*6\n:1\n:1\n:1\n:1\n:1\n:1\n"))
        // What is said about values counts as well, so that it has an end.
        #expect(!reads(String(repeating: "|1\n+a\n+b\n", count: 4)))
    }

    @Test("The memory of a message is limited before it is used")
    func memory() throws {
        var limits = RESPLimits()
        limits.messageBytes = 100_000
        let string = Array("$40000\r\n".utf8) + [UInt8](repeating: 97, count: 40_000) + [13, 10]
        #expect(try Self.read(string + string + string, limits: limits).count == 3)
        #expect(throws: RESPFailure.self) {
            try Self.read(Array("*3\r\n".utf8) + string + string + Array("$40000\r\n".utf8), limits: limits)
        }
        #expect(throws: RESPFailure.self) { try Self.read(Array("*99999\r\n".utf8), limits: limits) }
    }

    // MARK: Random

    /// A random value and its bytes, which this test writes by itself.
    private static func random(depth: Int, _ bytes: inout [UInt8]) -> RESPValue {
        func line(_ text: String) { bytes += Array(text.utf8) + [13, 10] }
        switch Int.random(in: 0..<(depth > 0 ? 11 : 8)) {
        case 0:
            line("_")
            return .null
        case 1:
            let number = Int64.random(in: .min ... .max) >> Int64.random(in: 0..<63)
            line(":\(number)")
            return .integer(number)
        case 2:
            line("#t")
            return .boolean(true)
        case 3:
            line("+word")
            return .status("word")
        case 4:
            line("-ERR x")
            return .error(RESPError("ERR x"))
        case 5:
            line(",0.5")
            return .double(0.5)
        case 6, 7:
            let text = (0..<Int.random(in: 0...200)).map { _ in UInt8.random(in: 0...255) }
            line("$\(text.count)")
            bytes += text + [13, 10]
            return .bytes(text)
        case 8, 9:
            let count = Int.random(in: 0...4)
            line("*\(count)")
            return .array((0..<count).map { _ in random(depth: depth - 1, &bytes) })
        default:
            let count = Int.random(in: 0...3)
            line("%\(count)")
            return .map((0..<2 * count).map { _ in random(depth: depth - 1, &bytes) })
        }
    }

    @Test("Random messages in random pieces are what was written")
    func randomMessages() throws {
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            let messages = (0..<10).map { _ in
                guard Int.random(in: 0..<5) == 0 else { return RESPMessage.reply(Self.random(depth: 5, &bytes)) }
                bytes += Array(">2\r\n+invalidate\r\n".utf8)
                return RESPMessage.push([.status("invalidate"), Self.random(depth: 4, &bytes)])
            }
            let most = 1 << Int.random(in: 0...9)
            let pieces = (0..<bytes.count / most + 1).map { _ in Int.random(in: 0...most) }
            #expect(try Self.read(bytes, pieces: pieces) == messages)
        }
    }

    @Test("Damaged messages fail or are read, and never end the process")
    func damage() {
        for _ in 0..<3_000 {
            var bytes: [UInt8] = []
            for _ in 0..<3 { _ = Self.random(depth: 5, &bytes) }
            for _ in 0..<Int.random(in: 1...4) {
                let place = Int.random(in: 0..<bytes.count)
                switch Int.random(in: 0..<3) {
                case 0: bytes[place] = UInt8.random(in: 0...255)
                case 1: bytes.remove(at: place)
                default: bytes.insert(Array("$*%|>:-0919\r\n".utf8).randomElement() ?? 0, at: place)
                }
                if bytes.isEmpty { bytes = [36] }
            }
            var machine = RESPMachine()
            var messages: [RESPMessage] = []
            try? Self.feed(&machine, bytes, &messages)
            #expect(messages.count <= bytes.count)
        }
    }
}
