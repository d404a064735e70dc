import EssentialsHTTP
import TestTools
import Testing

@testable import EssentialsRequests

@Suite struct PathTextTests {
    private static let pieces = [
        "a", "users", "7", "/", "//", ".", "..", "...", "%", "%41", "?", "#", " ", "é", ":", "@", "+", "~", "[", "\\",
        "\n", "-",
    ]

    @Test(
        "A plain text needs no escape and has no dot segment and no empty segment",
        arguments: [
            ("users/7", true), ("/users/7", true), ("users/", true), ("", true), ("/", true), ("a.b/c..", true),
            ("...", true), (".a", true), ("a:b@c!$&'()*+,;=~_-", true), ("//a", false), ("a//b", false), ("a//", false),
            (".", false), ("a/..", false), ("a/../b", false), ("./a", false), ("a b", false), ("a%41", false),
            ("a?b", false), ("a#b", false), ("é", false), ("a[", false), ("a\\b", false), ("a\u{0}", false),
            ("a\u{7f}", false),
            ("^", false), ("`", false), ("{", false), ("|", false), ("\"", false), ("<", false), (">", false),
        ])
    func plain(text: String, isPlain: Bool) { #expect(PathText.isPlain(text) == isPlain) }

    @Test(
        "Random texts are found by their plain bytes exactly if the URL consists of them",
        arguments: [1, 2, 3] as [UInt64])
    func lookUp(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let bases = [
            ResourceBase(try RequestURL("https://example.com/v1")),
            ResourceBase(try RequestURL("https://example.com/v1?k=1&b")), .missing,
        ]
        for round in 0..<1_000 {
            let base = bases[round % bases.count]
            let text = numbers.text(of: Self.pieces, upTo: 6)
            let other = numbers.text(of: Self.pieces, upTo: 6)
            let url = base.url(path: text)
            let stripped = text.hasPrefix("/") ? String(text.dropFirst()) : text
            let isUnchanged = url.text == base.prefix + stripped + base.suffix && !"?#%".contains { text.contains($0) }
            let hasFault = url.place == .unusable(.dotSegment)
            let isEmptyInside = stripped.hasPrefix("/") || stripped.contains("//")
            #expect(
                PathText.isPlain(text) == (isUnchanged && !hasFault && !isEmptyInside),
                "seed \(seed), round \(round): \(text)")
            if PathText.isPlain(text) {
                // Segments are escaped one by one.
                let parent = base.url(segments: stripped.split(separator: "/").map { String($0) })
                #expect(url == (stripped.hasSuffix("/") ? base.child(of: parent, "") : parent), "seed \(seed): \(text)")
            }
            PathText.withPlain(text) { bytes in
                #expect(base.hash(ofPlain: bytes) == base.hash(of: url), "seed \(seed), round \(round): \(text)")
                #expect(base.matches(plain: bytes, url), "seed \(seed), round \(round): \(text)")
                let different = base.url(path: other)
                #expect(
                    base.matches(plain: bytes, different) == (different == url),
                    "seed \(seed), round \(round): \(other)")
            }
        }
    }

    @Test("The canonical form of a URL is its own canonical form", arguments: [1, 2, 3] as [UInt64])
    func idempotent(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let pieces = Self.pieces + ["%2e", "%2E%2e", "%2f", "%7e", "%c3%a9", "?", "&", "="]
        for round in 0..<1_000 {
            let text = "HTTPS://Example.com/" + numbers.text(of: pieces, upTo: 8)
            guard let once = try? CanonicalRules.canonical(text) else { continue }
            #expect(try CanonicalRules.canonical(once) == once, "seed \(seed), round \(round): \(text)")
            #expect(try RequestURL(once).description == once, "seed \(seed), round \(round): \(text)")
        }
    }
}
