import EssentialsHTTP
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

/// Compares patterns with a recursive search that follows the table of wildcards.
@Suite struct GlobReferenceTests {
    /// Whether a pattern matches a text without escapes. `isStart` says that a slash or the beginning precedes.
    private static func matches(
        _ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>, isStart: Bool = true
    ) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            let isDouble = pattern.dropFirst().first == "*"
            let rest = pattern.dropFirst(isDouble ? 2 : 1)
            if isDouble, isStart, rest.first == "/", matches(rest.dropFirst(), text) { return true }
            // The wildcard takes the first 0, 1, 2 … characters.
            var left = text
            while true {
                if matches(rest, left, isStart: false) { return true }
                guard let next = left.first, isDouble || next != "/" else { return false }
                left = left.dropFirst()
            }
        }
        guard let next = text.first, first == "?" ? next != "/" : next == first else { return false }
        return matches(pattern.dropFirst(), text.dropFirst(), isStart: first == "/")
    }

    private static let patternPieces = ["a", "b", "/", "*", "**", "/**/", "?", "a", "ab", "/*/", "é"]
    private static let textPieces = ["a", "b", "/", "ab", "ba", "a/b", "é", "/"]

    @Test("Random patterns match as in a recursive search", arguments: [1, 2, 3, 4] as [UInt64])
    func random(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let base = ResourceBase(try RequestURL("https://example.com/v1"))
        var found = 0
        for round in 0..<1_500 {
            let pattern = numbers.text(of: Self.patternPieces, upTo: 8)
            guard !pattern.contains("***") else { continue }
            let glob = try Glob(pattern)
            let characters = Array(pattern.hasPrefix("/") ? pattern.dropFirst() : pattern[...])[...]
            for _ in 0..<4 {
                let text = numbers.text(of: Self.textPieces, upTo: 7)
                let isMatch = Self.matches(characters, Array(text.hasPrefix("/") ? text.dropFirst() : text[...])[...])
                found += isMatch ? 1 : 0
                #expect(
                    glob.matches(base.url(path: text), below: base) == isMatch,
                    "seed \(seed), round \(round): \(pattern) with \(text)")
            }
        }
        #expect(found > 200, "seed \(seed)")
    }

    @Test("Long patterns match as in a recursive search", arguments: [5, 6] as [UInt64])
    func long(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let base = ResourceBase(try RequestURL("https://example.com/v1"))
        var found = 0
        for round in 0..<100 {
            // The literals between the wildcards are distinct, so that the recursive search is quick.
            let literals = (0..<40).map { _ in numbers.text(of: ["x", "y", "z", "w"], upTo: 6) + "/" }
            let wildcards = ["*", "**", "?", "", "", "/**/"]
            let pattern = literals.map { (wildcards.randomElement(using: &numbers) ?? "") + $0 }.joined()
            guard !pattern.contains("***") else { continue }
            let fillings = ["", "", "q", "q", "q/", "/"]
            let text = literals.map { (fillings.randomElement(using: &numbers) ?? "") + $0 }.joined()
            // Most random texts fail early, so that another text is made from the pattern.
            let made = pattern.replacing("/**/", with: "/q/q/").replacing("**", with: "q/q").replacing("*", with: "qq")
                .replacing("?", with: "q")
            let glob = try Glob(pattern)
            let characters = Array(pattern.hasPrefix("/") ? pattern.dropFirst() : pattern[...])[...]
            for text in [text, made] {
                let isMatch = Self.matches(characters, Array(text.hasPrefix("/") ? text.dropFirst() : text[...])[...])
                found += isMatch ? 1 : 0
                #expect(
                    glob.matches(base.url(path: text), below: base) == isMatch,
                    "seed \(seed), round \(round): \(pattern) with \(text)")
            }
        }
        #expect(found > 30, "seed \(seed)")
    }

    @Test(
        "A pattern with many wildcards compares each character at most once for each 64 bytes of the pattern",
        arguments: [
            "**a**a**a**a**a**b", "*a*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/b", "?*?*?*?*?*b",
            String(repeating: "*a", count: 200) + "b", String(repeating: "**/a/", count: 100) + "b",
        ])
    func linear(pattern: String) throws {
        let rules = try Glob(pattern).rules
        for unit in ["a", "a/", "aaab"] {
            for count in [10, 1_000] {
                var text = String(repeating: unit, count: count)
                var steps = 0
                _ = text.withUTF8 { rules.matches($0, countingSteps: &steps) }
                #expect(steps <= text.utf8.count * (pattern.utf8.count / 64 + 1))
            }
        }
    }

    @Test(
        "No pattern compares a character more often than the pattern is long",
        arguments: [
            "**aaaaaaab", "*aaaaaaab", "**a?a?a*b", "**/x*a*a*b/c", "**a/a/a/b", "**xa*aab*b/x**q",
            "**a*aaaa*aaaab**x", "**/" + String(repeating: "a", count: 500) + "*b",
        ])
    func bounded(pattern: String) throws {
        let rules = try Glob(pattern).rules
        for unit in ["a", "a/", "aaab", "xaaaa/", "xa", "aaaaaaaa/aaaab"] {
            var text = String(repeating: unit, count: 1_000)
            var steps = 0
            _ = text.withUTF8 { rules.matches($0, countingSteps: &steps) }
            #expect(steps <= text.utf8.count * pattern.utf8.count)
        }
    }
}
