import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Model filter", .timeLimit(.minutes(5)))
struct ModelFilterTests {
    struct Coin: Codable, Sendable, Equatable, Identifiable {
        var id: Int
        var name: String
        var symbol: String
        var note: String?
    }

    private let coins = [
        Coin(id: 1, name: "Bitcoin", symbol: "BTC"), Coin(id: 2, name: "Ether", symbol: "ETH", note: "orbit"),
        Coin(id: 3, name: "Straße", symbol: "É"), Coin(id: 4, name: "", symbol: "\u{1F600}bit"),
    ]

    private func ids(_ filter: ModelFilter<Coin>) -> [Int] { filter.matching(coins).map(\.id) }

    @Test("A text is found in any of the properties, in the order of the models")
    func texts() {
        #expect(ids(ModelFilter("bit", in: \Coin.name)) == [1])
        #expect(ids(ModelFilter("bit", in: \Coin.name, \Coin.symbol)) == [1, 4])
        #expect(ids(ModelFilter("eth", in: \.symbol, \.name)) == [2])
        #expect(ids(ModelFilter("BIT", in: \Coin.note)) == [2])
        #expect(ids(ModelFilter("strasse", in: \Coin.name)) == [3])
        #expect(ids(ModelFilter("e", in: \Coin.symbol)) == [2, 3])
        #expect(ids(ModelFilter("absent", in: \Coin.name)) == [])
        #expect(ModelFilter("bit", in: \Coin.name).matches(coins[0]))
        #expect(ModelFilter("bit", in: \Coin.name).matching([]) == [])
    }

    @Test("A filter without conditions and a filter for an empty text match all models")
    func empty() {
        #expect(ids(ModelFilter()) == [1, 2, 3, 4])
        #expect(ids(ModelFilter("", in: \Coin.name)) == [1, 2, 3, 4])
        #expect(ids(ModelFilter("", in: \Coin.note)) == [1, 2, 3, 4])
        #expect(ids(ModelFilter("\u{301}", in: \Coin.name)) == [1, 2, 3, 4])
        #expect(ids(!ModelFilter()) == [])
        #expect(ids(ModelFilter(ids: [9]) || ModelFilter()) == [1, 2, 3, 4])
        #expect(ids(ModelFilter(ids: [2]) && ModelFilter()) == [2])
        #expect(ids(ModelFilter(ids: [2]) || !ModelFilter()) == [2])
    }

    @Test("Identifiers and property values select models, and an empty list selects none")
    func identifiers() {
        #expect(ids(ModelFilter(ids: [4, 1, 9])) == [1, 4])
        #expect(ids(ModelFilter(ids: ["ETH"], at: \Coin.symbol)) == [2])
        #expect(ids(ModelFilter(ids: [Int]())) == [])
    }

    @Test("Case and diacritics matter only on request")
    func comparisons() {
        let texts: [(String, String, TextComparison, Bool)] = [
            ("bit", "BITCOIN", [], true), ("bit", "Bitcoin", .caseSensitive, false),
            ("Bit", "Bitcoin", .caseSensitive, true), ("zoe", "Zoë", [], true),
            ("zoe", "Zoë", .diacriticSensitive, false), ("ZOË", "zoe\u{308}", .diacriticSensitive, true),
            ("zo", "Zoë", .diacriticSensitive, true), ("zoe", "Zoe\u{308}", .diacriticSensitive, false),
            ("zoë", "Zoe\u{308}", [.caseSensitive, .diacriticSensitive], false),
            ("Zoë", "Zoe\u{308}", [.caseSensitive, .diacriticSensitive], true),
            ("Zoe", "ZoëZoe", [.caseSensitive, .diacriticSensitive], true),
            // Two marks in another order, and a character with two marks.
            ("ệ", "e\u{302}\u{323}", .diacriticSensitive, true), ("ệ", "E\u{323}\u{302}", .diacriticSensitive, true),
            ("ê", "ệ", .diacriticSensitive, false), ("e", "ệ", [], true),
            ("straße", "STRASSE", [], true), ("STRASSE", "straße", [], true), ("ẞ", "ss", [], true),
            ("σ", "ς", [], true), ("ΑΘΗΝΑ", "Αθήνα", [], true), ("Å", "\u{212B}", .diacriticSensitive, true),
            ("k", "\u{212A}", [], true), ("istanbul", "İstanbul", [], true), ("fi", "ﬁsch", [], true),
            ("й", "и", [], true), ("й", "и", .diacriticSensitive, false), ("か", "が", [], false), ("か", "がか", [], true),
            ("が", "か\u{3099}", [], true), ("שלום", "שָׁלוֹם", [], true),
            ("क", "क्या", .diacriticSensitive, true),
            ("o", "ø", [], false), ("가", "각", [], false), ("\u{1F600}", "a\u{1F600}b", [], true),
            ("a", "", [], false), ("@", "`", [], false), ("[", "{", [], false), ("a\u{0}", "A\u{0}", [], true),
        ]
        for (needle, text, comparison, expected) in texts {
            let coin = Coin(id: 1, name: text, symbol: "")
            let filter = ModelFilter(needle, in: \Coin.name, comparing: comparison)
            #expect(filter.matches(coin) == expected, "“\(needle)” in “\(text)”")
        }
    }

    @Test("Deep combinations, long texts and thousands of marks do not trap")
    func noTrap() {
        var filter = ModelFilter<Coin>(ids: [1])
        for number in 0..<3_000 {
            filter = number.isMultiple(of: 2) ? !filter || ModelFilter(ids: [1]) : ModelFilter() && !filter
        }
        _ = ids(filter)
        let marks = "e" + String(repeating: "\u{301}\u{323}\u{5B0}", count: 20_000)
        let coin = Coin(id: 1, name: marks, symbol: String(repeating: "a", count: 100_000))
        for comparison: TextComparison in [[], .caseSensitive, .diacriticSensitive] {
            #expect(
                ModelFilter("e", in: \Coin.name, comparing: [comparison, .caseSensitive]).matches(coin)
                    != comparison.contains(.diacriticSensitive))
            #expect(!ModelFilter(marks + marks, in: \Coin.name, comparing: .diacriticSensitive).matches(coin))
            #expect(!ModelFilter("b", in: \Coin.symbol, comparing: comparison).matches(coin))
        }
    }

    /// Pieces of texts, with their default folding.
    private static let pieces: [(String, String)] = [
        ("a", "a"), ("A", "a"), ("é", "e"), ("E\u{301}", "e"), ("ß", "ss"), ("Σ", "σ"), ("ς", "σ"), ("Å", "a"),
        ("ǘ", "u"), ("Ж", "ж"), ("Ё", "е"), ("ή", "η"), ("ﬁ", "fi"), ("\u{1F600}", "\u{1F600}"), ("が", "が"),
        ("各", "各"), ("z", "z"), ("Z", "z"), (" ", " "), ("s", "s"), ("f", "f"), ("ı\u{1DC4}", "ı"),
    ]

    @Test("Random combinations agree with a plain evaluation over folded texts, beyond ASCII too")
    func againstPlain() {
        let seed = UInt64.random(in: .min ... .max)
        var numbers = SeededNumbers(state: seed)
        for _ in 0..<2_000 {
            var texts: [(text: String, folded: [Unicode.Scalar])] = []
            for _ in 0..<8 {
                let chosen = (0..<Int.random(in: 0...7, using: &numbers)).map { _ in
                    Self.pieces.randomElement(using: &numbers) ?? ("", "")
                }
                texts.append((chosen.map(\.0).joined(), Array(chosen.map(\.1).joined().unicodeScalars)))
            }
            let models = (0..<3).map { Coin(id: $0, name: texts[$0].text, symbol: texts[$0 + 3].text) }
            let (filter, plain) = random(3, &numbers, texts)
            for (index, model) in models.enumerated() {
                let folded = [texts[index].folded, texts[index + 3].folded]
                #expect(filter.matches(model) == plain(index, folded), "seed \(seed)")
            }
            #expect(filter.matching(models) == models.filter { filter.matches($0) }, "seed \(seed)")
        }
    }

    @Test(
        "A repetitive text is found where it occurs, even after parts of it", arguments: [1, 2, 3] as [UInt64])
    func repeatingTexts(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for _ in 0..<3_000 {
            let pieces = Bool.random(using: &numbers) ? ["a", "b"] : ["a", "b", "é"]
            let (text, part) = (numbers.text(of: pieces, upTo: 14), numbers.text(of: pieces, upTo: 6))
            let coin = Coin(id: 0, name: text.uppercased(), symbol: "")
            let folded = Array(text.replacing("é", with: "e").unicodeScalars)
            let isFound = Self.contains(folded, Array(part.replacing("é", with: "e").unicodeScalars))
            #expect(ModelFilter(part, in: \Coin.name).matches(coin) == isFound, "seed \(seed): \(part) in \(text)")
            let exact = ModelFilter(part, in: \Coin.name, comparing: [.caseSensitive, .diacriticSensitive])
            let isExact = Self.contains(Array(text.unicodeScalars), Array(part.unicodeScalars))
            let same = Coin(id: 0, name: text, symbol: "")
            #expect(exact.matches(same) == isExact, "seed \(seed): \(part) in \(text)")
        }
    }

    @Test("A search takes time linear in the length of the texts", arguments: ["", "é"])
    func linearSearch(first: String) {
        let isLinear = GrowthOfTime.isLinear { size in
            let filter = ModelFilter(String(repeating: "a", count: size / 2) + "b", in: \Coin.name)
            let coin = Coin(id: 0, name: first + String(repeating: "a", count: size), symbol: "")
            return { _ = filter.matches(coin) }
        }
        #expect(isLinear)
    }

    private typealias Plain = (Int, [[Unicode.Scalar]]) -> Bool

    private func random(
        _ depth: Int, _ numbers: inout SeededNumbers, _ texts: [(text: String, folded: [Unicode.Scalar])]
    ) -> (ModelFilter<Coin>, Plain) {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &numbers) {
        case 0: return (ModelFilter(), { _, _ in true })
        case 1:
            let ids = Set((0..<3).filter { _ in Bool.random(using: &numbers) })
            return (ModelFilter(ids: ids), { id, _ in ids.contains(id) })
        case 2, 3:
            let text = texts[Int.random(in: 6...7, using: &numbers)]
            return (
                ModelFilter(text.text, in: \Coin.name, \Coin.symbol),
                { _, folded in folded.contains { text.folded.isEmpty || Self.contains($0, text.folded) } }
            )
        case 4:
            let (filter, plain) = random(depth - 1, &numbers, texts)
            return (!filter, { !plain($0, $1) })
        case 5:
            let (first, firstPlain) = random(depth - 1, &numbers, texts)
            let (second, secondPlain) = random(depth - 1, &numbers, texts)
            return (first && second, { firstPlain($0, $1) && secondPlain($0, $1) })
        default:
            let (first, firstPlain) = random(depth - 1, &numbers, texts)
            let (second, secondPlain) = random(depth - 1, &numbers, texts)
            return (first || second, { firstPlain($0, $1) || secondPlain($0, $1) })
        }
    }

    private static func contains(_ text: [Unicode.Scalar], _ part: [Unicode.Scalar]) -> Bool {
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains { text[$0..<($0 + part.count)].elementsEqual(part) }
    }

    @Test("Every decomposition is canonically equivalent to its character, and letters with marks have one")
    func decompositions() throws {
        var decomposed = 0
        for value in UInt32(0x80)...0xffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            var parts = String.UnicodeScalarView()
            CanonicalDecompositions.forEach(in: scalar) { parts.append($0) }
            if parts.elementsEqual([scalar]) { continue }
            decomposed += 1
            // The standard library compares texts by canonical equivalence.
            #expect(String(parts) == String(Character(scalar)))
        }
        #expect(decomposed == CanonicalDecompositions.count)
        #expect(decomposed == 1_033)
        for (whole, parts) in [
            ("\u{1EC7}", "e\u{323}\u{302}"), ("\u{390}", "ι\u{308}\u{301}"), ("\u{212B}", "A\u{30A}"),
        ] {
            var found = String.UnicodeScalarView()
            CanonicalDecompositions.forEach(in: try #require(whole.unicodeScalars.first)) { found.append($0) }
            #expect(found.elementsEqual(parts.unicodeScalars))
        }
    }
}
