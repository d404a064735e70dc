import EssentialsHTTP
import FoundationEssentials
import Testing

/// Values whose encodings the JSON codec puts in order.
@Suite struct OrderedEncodingTests {
    private enum Suit: Int16, Codable, CaseIterable { case clubs, hearts }
    private enum Name: String, Codable, CodingKeyRepresentable, CaseIterable { case ada, grace }

    private struct Numbers: Codable, Equatable {
        var small: [Int8] = [.min, 7], short: [Int16] = [.max], word: [Int32] = [.min], long: [Int64] = [.min, .max]
        var byte: [UInt8] = [.max], half: [UInt16] = [.max], single: [UInt32] = [.max], double: [UInt64] = [.max]
        var plain: [UInt] = [.max], float: [Float] = [0.5, -1], flags: [Bool] = [true], texts: [String?] = ["a", nil]
        var optional: Int64? = 3, none: UInt32?
        var suit = Suit.hearts, suits: [Suit] = [.clubs], names: [Name: [Int64]] = [.ada: [1]]
        var byNumber: [Int: UInt64] = [7: 8], dates = [Date(timeIntervalSince1970: 7)], data = [Data([1, 2])]
        var deep: [String: [String: [UInt32?]]] = ["a": ["b": [1, nil]]]
    }

    /// The text of the plain encoder, as the codec sets it up.
    private func plain(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func coded(_ value: some Encodable) throws -> String {
        String(decoding: try JSONCodec().encode(value, as: .json), as: UTF8.self)
    }

    @Test("Values that have an order are encoded as by the plain encoder, alone and in lists, at every depth")
    func ordered() throws {
        var numbers = Numbers()
        numbers.dates = []
        #expect(try coded(numbers) == plain(numbers))
        #expect(try coded([numbers]) == plain([numbers]))
        for text in [
            try (coded(Int64.min), plain(Int64.min)), try (coded(UInt8(7)), plain(UInt8(7))),
            try (coded(Float(0.5)), plain(Float(0.5))), try (coded([UInt64.max]), plain([UInt64.max])),
            try (coded(Optional(Int32(3))), plain(Optional(Int32(3)))), try (coded(Suit.hearts), plain(Suit.hearts)),
            try (coded([[Int64]()]), plain([[Int64]()])), try (coded(["a": Int16(1)]), plain(["a": Int16(1)])),
            try (coded([Suit: Int]()), plain([Suit: Int]())), try (coded([Name: Int]()), plain([Name: Int]())),
            try (coded([String: Int]()), plain([String: Int]())), try (coded(Set<String>()), plain(Set<String>())),
            try (coded([Suit.clubs: [Int]()]), plain([Suit.clubs: [Int]()])),
            try (coded("text"), plain("text")), try (coded(true), plain(true)),
        ] {
            #expect(text.0 == text.1)
        }
    }

    @Test("Equal sets and dictionaries have one encoding, whatever their elements are")
    func unordered() throws {
        func texts<Element: Hashable & Encodable>(_ elements: [Element]) throws -> Set<String> {
            Set(
                try (0..<20).map { round in
                    var set = Set<Element>(minimumCapacity: 16 << round % 6)
                    set.formUnion(elements.shuffled())
                    return try coded([set])
                })
        }
        #expect(try texts((0..<20).map { Int64($0) }).count == 1)
        #expect(try texts((0..<20).map { UInt16($0) }).count == 1)
        #expect(try texts((0..<20).map { "\($0)" }).count == 1)
        #expect(try texts([[Int32(2)], [1, 3], []]).count == 1)
        #expect(try texts(Suit.allCases) == ["[[0,1]]"])
    }
}
