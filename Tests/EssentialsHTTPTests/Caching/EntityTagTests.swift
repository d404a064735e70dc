import TestTools
import Testing

@testable import EssentialsHTTP

@Suite struct EntityTagTests {
    @Test(
        "A tag is quoted, weak with W/ before it, or a text without quotes, which is weak",
        arguments: [
            ("\"a\"", false), ("\"\"", false), ("W/\"a\"", true), ("\"a,b c\"", nil), ("\"a,b\"", false),
            ("\"\u{e9}\"", false), ("abc", true), ("W/abc", true), ("", nil), ("*", nil), ("\"", nil), ("\"a", nil),
            ("a\"", nil), ("w/\"a\"", nil), ("W/", true), ("W/\"", nil), ("\"a\"b\"", nil), ("a,b", nil), ("a b", nil),
            ("\"\u{fffd}\"", nil), ("\u{e9}", nil), ("\"\u{7f}\"", nil),
        ] as [(String, Bool?)])
    func parsing(text: String, isWeak: Bool?) {
        let tag = EntityTag(text)
        #expect(tag?.isWeak == isWeak)
        #expect(tag?.text == (isWeak == nil ? nil : text))
    }

    @Test(
        "The table of RFC 9110, 8.8.3.2",
        arguments: [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true),
            ("\"1\"", "\"1\"", true, true), ("1", "1", false, true), ("1", "\"1\"", false, false),
            ("W/1", "1", false, false), ("\"\u{e9}\"", "\"e\u{301}\"", false, false),
        ])
    func comparison(one: String, other: String, isStrong: Bool, isWeak: Bool) throws {
        let (one, other) = (try #require(EntityTag(one)), try #require(EntityTag(other)))
        #expect(one.matchesStrongly(other) == isStrong && other.matchesStrongly(one) == isStrong)
        #expect(one.matchesWeakly(other) == isWeak && other.matchesWeakly(one) == isWeak)
        #expect(!one.matchesStrongly(nil) && !one.matchesWeakly(nil))
    }

    @Test(
        "A list is split at the commas outside of quotation marks, and members that are no tags are skipped",
        arguments: [
            ("", false, []), ("*", true, []), (" * ", true, []), ("\"*\"", false, ["\"*\""]),
            ("\"a\"", false, ["\"a\""]), ("\"a\",W/\"b,c\" , d", false, ["\"a\"", "W/\"b,c\"", "d"]),
            (",, \"a\"", false, ["\"a\""]), ("\"a\" x, \"b\"", false, ["\"b\""]), ("\"a, \"b\"", false, []),
            ("w/\"a\", \"b\"", false, ["\"b\""]),
        ] as [(String, Bool, [String])])
    func list(text: String, isAny: Bool, tags: [String]) {
        let list = EntityTag.list(text)
        #expect(list.isAny == isAny)
        #expect(list.tags.map(\.text) == tags)
    }

    @Test("Lists of any text are read without a trap and in linear time", arguments: [1, 2] as [UInt64])
    func anyText(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for _ in 0..<3_000 {
            let text = numbers.text(of: ["\"", ",", "W/", "a", " ", "*", "\\", "\u{e9}", "\t"], upTo: 14)
            for tag in EntityTag.list(text).tags { #expect(EntityTag(tag.text) == tag, "seed \(seed): \(text)") }
            if let tag = EntityTag(text) { #expect(tag.matchesWeakly(tag), "seed \(seed): \(text)") }
        }
        for unit in ["\"", "\",", "a,", "\"a\",", "W/\"", ",", "*,"] {
            let isLinear = GrowthOfTime.isLinear { size in
                let text = String(repeating: unit, count: size / unit.utf8.count)
                return { _ = EntityTag.list(text) }
            }
            #expect(isLinear, "\(unit)")
        }
    }
}
