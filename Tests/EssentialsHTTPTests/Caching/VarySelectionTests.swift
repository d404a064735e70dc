import TestTools
import Testing

@testable import EssentialsHTTP

@Suite struct VarySelectionTests {
    private func names(_ lines: [String]) -> [String]? {
        VaryRules.names(in: HTTPFields(lines.map { HTTPField(name: .vary, value: $0) }))?.map(\.rawName)
    }

    @Test(
        "The names of Vary are those of all lines, in lower case and each once",
        arguments: [
            ([], []), ([""], []), (["Foo"], ["foo"]), (["Foo, bar\t,,FOO"], ["foo", "bar"]),
            (["a", "b, A"], ["a", "b"]),
            (["*"], nil), (["a, *"], nil), (["a", " * "], nil), (["a b c"], nil), (["a;b"], nil), (["\"a\""], nil),
            (["*a"], ["*a"]), ([(0..<64).map { "a\($0)" }.joined(separator: ",")], (0..<64).map { "a\($0)" }),
            ([(0..<65).map { "a\($0)" }.joined(separator: ",")], nil),
        ] as [([String], [String]?)])
    func names(lines: [String], expected: [String]?) { #expect(names(lines) == expected) }

    @Test(
        "The fields of content negotiation are equal without blanks, case and needless weights",
        arguments: [
            ("en, de", " en ,   de", true), ("en, de", "EN,de", true), ("en, de", "de, en", false),
            ("en;q=1.0, de; q=0.50", "en,de;q=0.5", true), ("en;q=0.5", "en;q=0.6", false),
            ("en;q=0.000", "en;q=0", true), ("en;q=1.001", "en", false), ("en;q=2", "en", false),
            ("en;q=0.5000", "en;q=0.5", false), ("en,,de,", "en,de", true), ("", ",", true), ("en", "", false),
            ("text/html;q=1;level=1", "text/html;level=1", false), ("a;b=\"X\"", "a;b=\"x\"", false),
            ("a;b=\"x, y\"", "a;b=\"x,y\"", false), ("é", "É", false),
        ])
    func negotiation(one: String, other: String, isEqual: Bool) {
        for name in [HTTPField.Name.accept, .acceptLanguage, .acceptEncoding] {
            let (first, second) = (CacheFixtures.selection([(name, one)]), CacheFixtures.selection([(name, other)]))
            #expect(first.matches { _ in other } == isEqual && second.matches { _ in one } == isEqual)
            #expect((first == second) == isEqual)
            if isEqual { #expect(first.hashValue == second.hashValue) }
        }
    }

    @Test("Other fields are equal byte for byte, with their lines joined")
    func others() throws {
        let name = try #require(HTTPField.Name("X-Foo"))
        let selection = CacheFixtures.selection([(name, "1, 2")])
        let lines = HTTPFields([HTTPField(name: name, value: "1"), HTTPField(name: name, value: "2")])
        #expect(CacheFixtures.request(lines).fits(CacheFixtures.head([:], selection: selection)))
        #expect(selection.matches { _ in "1, 2" })
        for other in ["1,2", "1 , 2", "1", ""] { #expect(!selection.matches { _ in other }, "\(other)") }
        #expect(!selection.matches { _ in nil })
        // Equal for a reader of Unicode, and not for a server.
        #expect(!CacheFixtures.selection([(name, "\u{e9}")]).matches { _ in "e\u{301}" })
    }

    @Test("A field that is missing is equal to a missing one only")
    func missing() {
        let selection = CacheFixtures.selection([(.accept, nil), (.acceptLanguage, "en")])
        #expect(selection.matches { $0 == .accept ? nil : "en" })
        #expect(!selection.matches { $0 == .accept ? "" : "en" })
        #expect(!selection.matches { $0 == .accept ? nil : "de" })
    }

    @Test("What later stages add counts before what the caller has set")
    func fieldsToCome() {
        let coded = CacheFixtures.head(
            [.vary: "Accept-Encoding"], selection: CacheFixtures.selection([(.acceptEncoding, "gzip")]))
        #expect(CacheFixtures.request(fieldToCome: { $0 == .acceptEncoding ? "GZIP" : nil }).fits(coded))
        #expect(CacheFixtures.request([.acceptEncoding: "gzip"]).fits(coded))
        #expect(!CacheFixtures.request([.acceptEncoding: "gzip"], fieldToCome: { _ in "br" }).fits(coded))
        let scoped = CacheFixtures.head([:], selection: CacheFixtures.selection([(.authorization, "account 1")]))
        #expect(CacheFixtures.request([.authorization: "Bearer x"], fieldToCome: { _ in "account 1" }).fits(scoped))
        #expect(!CacheFixtures.request([.authorization: "Bearer x"], fieldToCome: { _ in "account 2" }).fits(scoped))
    }

    @Test("A response has no selection if it depends on more than text fields")
    func noSelection() {
        #expect(VaryRules.selection(of: [:], { _ in "x" }) == .empty)
        #expect(VaryRules.selection(of: [.vary: "*"], { _ in "x" }) == nil)
        #expect(VaryRules.selection(of: [.vary: "a"], { _ in "\u{fffd}" }) == nil)
        #expect(VaryRules.selection(of: [.vary: "a"], { _ in nil })?.members.map(\.value) == [nil])
    }

    @Test("Any text is read without a trap, and a form is its own form", arguments: [1, 2] as [UInt64])
    func anyText(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        let parts = ["en", ";", ",", "q=", "0", "1", ".", "5", " ", "\t", "A", "\"", "é", "*", "="]
        for _ in 0..<3_000 {
            let text = numbers.text(of: parts, upTo: 14)
            _ = VaryRules.names(in: [.vary: text])
            let form = VaryRules.form(of: text, in: .accept)
            #expect(VaryRules.form(of: form, in: .accept) == form, "seed \(seed): \(text)")
            #expect(CacheFixtures.selection([(.accept, text)]).matches { _ in form }, "seed \(seed): \(text)")
        }
        for unit in [",", "a,", "a;", ";q=0,", "b , "] {
            let isLinear = GrowthOfTime.isLinear { size in
                let text = String(repeating: unit, count: size / unit.utf8.count)
                let fields: HTTPFields = [.vary: text]
                return {
                    _ = VaryRules.names(in: fields)
                    _ = VaryRules.form(of: text, in: .accept)
                }
            }
            #expect(isLinear, "\(unit)")
        }
    }
}
