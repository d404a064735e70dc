import EssentialsRequests

/// A compiled pattern for paths and URLs.
///
/// | wildcard | matches |
/// |---|---|
/// | `*` | any characters of one segment, also none |
/// | `**` | any characters, also slashes and none |
/// | `/**/` | as above, and also a single slash |
/// | `?` | one character, but no slash; a character that is escaped in the URL counts as one |
///
/// Each wildcard first takes as little as possible. After a mismatch the last `*` takes one more character, up to the
/// next slash, and then the last `**` takes more. Earlier wildcards are never extended, because that would only leave
/// less text for the rest of the pattern. The time is at most the length of the pattern times that of the text.
struct GlobRules: Sendable {
    /// The maximum length of a pattern in bytes.
    static let maximumBytes = 1024
    static let slash = UInt8(ascii: "/")

    // Literals never contain these bytes of the wildcards `?`, `*`, `**`, and `**/` after a slash or at the beginning.
    static let character = UInt8(ascii: "?")
    static let segment = UInt8(ascii: "*")
    static let anything: UInt8 = 0
    static let directories: UInt8 = 1

    /// Wildcards and literal bytes. The bytes have the form of canonical URLs.
    let pattern: [UInt8]

    /// Whether the pattern matches a whole text. The text is part of a canonical URL.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var steps = 0
        return matches(text, countingSteps: &steps)
    }

    /// Whether the pattern matches a whole text. The function also counts the compared characters.
    func matches(_ text: UnsafeBufferPointer<UInt8>, countingSteps steps: inout Int) -> Bool {
        pattern.withUnsafeBufferPointer { pattern in
            var match = GlobMatch(pattern: pattern, text: text)
            while match.place < pattern.count || match.index < text.count {
                guard match.advance(&steps) || match.extendWildcard() else { return false }
            }
            return true
        }
    }
}

/// The state of one comparison.
private struct GlobMatch {
    let pattern: UnsafeBufferPointer<UInt8>
    let text: UnsafeBufferPointer<UInt8>
    /// The place in the pattern.
    var place = 0
    /// The current index in the text.
    var index = 0
    /// The place after the last `*`, and the index to which it reaches. It is `nil` after a `**`.
    var star: (place: Int, index: Int)?
    /// The place after the last `**`, and the index to which it reaches.
    var doubleStar: (place: Int, index: Int)?

    /// Passes a wildcard or one matching character. Returns `false` after a mismatch.
    mutating func advance(_ steps: inout Int) -> Bool {
        guard place < pattern.count else { return false }
        let token = pattern[place]
        switch token {
        case GlobRules.segment:
            place += 1
            star = (place, index)
        case GlobRules.anything, GlobRules.directories:
            place += 1
            (star, doubleStar) = (nil, (place, index))
        default:
            guard index < text.count else { return false }
            steps += 1
            let next = index + lengthOfCharacter
            if token == GlobRules.character {
                guard text[index] != GlobRules.slash else { return false }
                (place, index) = (place + 1, next)
            }
            while index < next {
                guard place < pattern.count, pattern[place] == text[index] else { return false }
                (place, index) = (place + 1, index + 1)
            }
        }
        return true
    }

    /// Continues after the last wildcard that can take more characters. Returns `false` if there is none.
    mutating func extendWildcard() -> Bool {
        if let last = star, last.index < text.count, text[last.index] != GlobRules.slash {
            (place, index) = last
            index += lengthOfCharacter
            star = (place, index)
            return true
        }
        guard let last = doubleStar, last.index < text.count else { return false }
        (place, index) = last
        if star != nil || pattern[place - 1] == GlobRules.directories {
            // A slash that stopped a `*` would stop it again, so the `**` takes at least the text up to the next slash.
            index += text.from(index).offset(of: GlobRules.slash) + 1
            guard index <= text.count else { return false }
        } else {
            index += lengthOfCharacter
        }
        (star, doubleStar) = (nil, (place, index))
        return true
    }

    /// The number of bytes of the next character: an unescaped byte, or the escapes that form a character of UTF-8.
    private var lengthOfCharacter: Int {
        guard text[index] == UInt8(ascii: "%"), let lead = CanonicalRules.escapedByte(text[index...]) else { return 1 }
        let count = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1
        // An incomplete sequence consists of separate bytes.
        let isComplete = (1..<count).allSatisfy {
            CanonicalRules.escapedByte(text[index...].dropFirst(3 * $0)).map { $0 & 0xc0 == 0x80 } ?? false
        }
        return isComplete ? 3 * count : 3
    }
}
