import EssentialsTransport
import Testing

@Suite struct HeaderBlockTests {
    private func read(_ text: String) -> [String] {
        HeaderBlock.read(Array(text.utf8)).map { "\($0.name.rawName)=\($0.value)" }
    }

    @Test("Repeated fields keep their order among all fields")
    func order() throws {
        let block = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nVary: x\r\nset-cookie: b=2\r\nSet-Cookie: c=3\r\n\r\n"
        #expect(read(block) == ["Set-Cookie=a=1", "Vary=x", "set-cookie=b=2", "Set-Cookie=c=3"])
        #expect(HeaderBlock.read(Array(block.utf8))[values: .setCookie] == ["a=1", "b=2", "c=3"])
    }

    @Test(
        "White space around a value is dropped, and white space within it is kept",
        arguments: [
            ("A:b", "A=b"), ("A: b", "A=b"), ("A:  \t b \t ", "A=b"), ("A: b c\td", "A=b c\td"), ("A:", "A="),
            ("A: ", "A="), ("A: \t\t", "A="), ("A: b:c", "A=b:c"), ("A: :", "A=:"),
        ])
    func whiteSpace(line: String, expected: String) {
        #expect(read("\(line)\r\n\r\n") == [expected])
        #expect(read("\(line)\n\n") == [expected])
        #expect(read(line) == [expected])
    }

    @Test("Bytes outside ASCII are kept unchanged")
    func obsoleteText() throws {
        let block = Array("A: \u{e9}t\u{e9}\r\n".utf8) + Array("B: x".utf8) + [0xe9, 0xff, 0x80, 0x0d, 0x0a]
        let fields = HeaderBlock.read(block)
        let name = try #require(HTTPField.Name("B"))
        let bytes = try #require(fields.first { $0.name == name }).withUnsafeBytesOfValue { Array($0) }
        #expect(bytes == [UInt8(ascii: "x"), 0xe9, 0xff, 0x80])
        #expect(fields.first?.value == "été")
    }

    @Test(
        "A control character in a value is kept", arguments: (1...0x1f).filter { ![9, 10, 13].contains($0) } + [0x7f])
    func controls(byte: UInt8) throws {
        let fields = HeaderBlock.read(Array("A: a".utf8) + [byte] + Array("b\r\nB: x\r\n".utf8))
        #expect(fields.map(\.name.rawName) == ["A", "B"])
        let field = try #require(fields.first)
        #expect(field.withUnsafeBytesOfValue { Array($0) } == [UInt8(ascii: "a"), byte, UInt8(ascii: "b")])
        #expect(field.hasControlCharacters)
    }

    @Test("A field with a carriage return in its value is left out, with the lines that continue it")
    func carriageReturns() {
        #expect(read("A: 1\r\nB: a\rSet-Cookie: b=c\r\n d\r\nC: 3\r\n\r\n") == ["A=1", "C=3"])
        #expect(read("A: a\r\n b\rc\r\nC: 3\r\n\r\n") == ["C=3"])
        #expect(read("A: a\r\r\n\r\n") == ["A=a"])
    }

    @Test(
        "Lines that are not fields are skipped, and the fields around them are kept",
        arguments: [
            "", "garbage", ": no name", "a b: c", "A : b", "é: x", "HTTP/1.1 100 Continue",
            "HTTP/1.1 200 OK: fine", "HTTP/2 200", "\u{0}: x",
        ])
    func garbage(line: String) {
        #expect(read("First: 1\r\n\(line)\r\nLast: 2\r\n\r\n") == ["First=1", "Last=2"])
    }

    @Test("A folded line continues the previous field with one blank, and is skipped without one")
    func folded() {
        #expect(read("A: one\r\n two\r\n\t  three \r\nB: x\r\n\r\n") == ["A=one two three", "B=x"])
        #expect(read("A:\r\n one\r\n \r\n two\r\n\r\n") == ["A=one two"])
        #expect(read(" folded: x\r\nB: x\r\n\r\n") == ["B=x"])
        #expect(read("garbage\r\n folded: x\r\nB: x\r\n\r\n") == ["B=x"])
    }

    @Test("Parsing never traps")
    func anyBytes() {
        for first in UInt8(0)...255 {
            for second in [UInt8(ascii: ":"), 0x0a, 0x0d, 0x20, 0x00, 0xff] {
                let fields = HeaderBlock.read([first, second, UInt8(ascii: ":"), first, second, first])
                #expect(fields.count <= 2)
            }
        }
        #expect(HeaderBlock.read([]).isEmpty)
    }
}
