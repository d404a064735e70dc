import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsHTTP

/// Encoded texts are parsed byte by byte again, as receivers do.
@Suite struct EscapingTests {
    /// The content of a quoted string that ends where the bytes end (RFC 9110, 5.6.4); `nil` if it ends before.
    private func unquoted(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        var rest = Array(bytes)[...]
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var content: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return rest.isEmpty ? content : nil
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { return nil }
                content.append(next)
            default: content.append(byte)
            }
        }
        return nil
    }

    @Test("A quoted string is parsed byte by byte to the same value")
    func quotedStrings() {
        var numbers = SeededNumbers(state: 9110)
        for _ in 0..<2_000 {
            let text = numbers.text(of: GraphemePieces.text, upTo: 8)
            #expect(unquoted(MultipartHeadRules.quoted(text).utf8) == Array(text.utf8), "\(text.debugDescription)")
        }
    }

    @Test("The name of a part is encoded as one quoted value without line breaks")
    func partNames() {
        var numbers = SeededNumbers(state: 7578)
        for _ in 0..<2_000 {
            let name = numbers.text(of: GraphemePieces.all.filter { $0 != "%" && $0 != "\\" }, upTo: 8)
            let escaped = Array(MultipartHeadRules.escaped(name).utf8)
            #expect(!escaped.contains { $0 == 0x0d || $0 == 0x0a })
            let content = unquoted(escaped) ?? []
            #expect(PercentCoding.decoded(content, plusIsSpace: false).elementsEqual(name.utf8))
        }
    }

    @Test("Encoded query items are parsed to the same items")
    func queryItems() throws {
        var numbers = SeededNumbers(state: 3986)
        for _ in 0..<2_000 {
            let (name, value) = (
                "n" + numbers.text(of: GraphemePieces.all, upTo: 5), numbers.text(of: GraphemePieces.all, upTo: 5)
            )
            let items: QueryItems = [(name, value), ("last", "1")]
            let allowed = items.encodedQuery.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
            let read = try QueryItems(parsing: items.encodedQuery).items
            #expect(allowed && read.count == 2)
            #expect(read[0].name.utf8.elementsEqual(name.utf8))
            #expect(read[0].value?.utf8.elementsEqual(value.utf8) == true)
        }
    }
}
