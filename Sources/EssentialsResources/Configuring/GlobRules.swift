import EssentialsHTTP

/// A compiled pattern for paths and URLs.
///
/// | wildcard | matches |
/// |---|---|
/// | `*` | any characters of one segment, also none |
/// | `**` | any characters, also slashes and none |
/// | `/**/` | as above, and also a single slash |
/// | `?` | one character, but no slash; a character that is escaped in the URL counts as one |
///
/// The wildcards become an automaton with one state for each place in the pattern. All states are followed at once, as
/// bits, so that the time is linear in the length of the text, for every pattern. This is a class because its many
/// constants would be retained one by one.
final class GlobRules: Sendable {
    /// The maximum length of a pattern in bytes.
    static let maximumBytes = 1024

    /// One place of the pattern after the literal prefix.
    enum Token: Hashable, Sendable {
        /// One character; see ``GlobSymbol``.
        case literal(GlobSymbol)
        /// `?`.
        case character
        /// `*`.
        case segment
        /// `**`.
        case anything
        /// `**` between two slashes. The literal slash follows, and both can be skipped.
        case directories
    }

    /// The bytes with which every match begins.
    private let prefix: [UInt8]
    /// The number of words that hold one bit for each state.
    private let words: Int
    /// The number of tokens, which is the accepting state.
    private let end: Int
    /// The class of each unescaped character. 0 is the class of the characters that are not in the pattern.
    private let classes: [UInt16]
    /// The class of each escaped character in the pattern.
    private let escapedClasses: [GlobSymbol: UInt16]
    /// For each class, the states that are left for the next one with a character of the class.
    private let advancing: [UInt64]
    /// The states of `**`, which stay with any character.
    private let staying: [UInt64]
    /// The states of all wildcards that can match nothing. They lead to the next state without a character, and stay
    /// with any character except a slash.
    private let skipping: [UInt64]
    /// The states of `/**/`, which lead to the second next state without a character.
    private let skippingTwo: [UInt64]

    /// Creates the automaton for tokens that follow a literal prefix.
    init(prefix: [UInt8], tokens: [Token]) {
        let words = tokens.count / 64 + 1
        var classes = [UInt16](repeating: 0, count: 256)
        var escapedClasses: [GlobSymbol: UInt16] = [:]
        var count: UInt16 = 2
        // The slash has a class of its own in every pattern, because most wildcards do not match it.
        classes[Int(UInt8(ascii: "/"))] = 1
        for case .literal(let symbol) in tokens {
            if let byte = symbol.unescaped {
                if classes[Int(byte)] == 0 { classes[Int(byte)] = count; count += 1 }
            } else if escapedClasses[symbol] == nil {
                escapedClasses[symbol] = count
                count += 1
            }
        }
        var advancing = [UInt64](repeating: 0, count: Int(count) * words)
        let none = [UInt64](repeating: 0, count: words)
        var (staying, skipping, skippingTwo) = (none, none, none)
        for (index, token) in tokens.enumerated() {
            let (word, bit) = (index / 64, UInt64(1) << UInt64(index % 64))
            switch token {
            case .literal(let symbol):
                let group = symbol.unescaped.map { classes[Int($0)] } ?? escapedClasses[symbol] ?? 0
                advancing[Int(group) * words + word] |= bit
            case .character:
                for group in 0..<Int(count) where group != 1 { advancing[group * words + word] |= bit }
            case .segment: skipping[word] |= bit
            case .anything:
                skipping[word] |= bit
                staying[word] |= bit
            case .directories:
                skipping[word] |= bit
                staying[word] |= bit
                skippingTwo[word] |= bit
            }
        }
        (self.prefix, self.staying, self.skipping, self.skippingTwo) = (prefix, staying, skipping, skippingTwo)
        (self.words, end, self.classes, self.escapedClasses) = (words, tokens.count, classes, escapedClasses)
        self.advancing = advancing
    }

    /// Whether the pattern matches a whole text. The text is part of a canonical URL.
    func matches(_ text: Substring) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    /// Whether the pattern matches the bytes of a text.
    func matches(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var steps = 0
        return matches(bytes, countingSteps: &steps)
    }

    /// Whether the pattern matches the bytes of a text, with the number of words that were computed.
    func matches(_ bytes: UnsafeBufferPointer<UInt8>, countingSteps steps: inout Int) -> Bool {
        guard bytes.hasPrefix(prefix) else { return false }
        let rest = bytes[prefix.count...]
        return words == 1 ? matchesInOneWord(rest, &steps) : matchesInWords(rest, &steps)
    }

    private func matchesInOneWord(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ steps: inout Int) -> Bool {
        let (skip, skipTwo, stay) = (skipping[0], skippingTwo[0], staying[0])
        func closed(entered: UInt64, stayed: UInt64) -> UInt64 {
            let states = entered | (entered & skipTwo) << 2 | stayed
            return states | (states & skip) << 1
        }
        var states = closed(entered: 1, stayed: 0)
        var rest = bytes
        while let symbol = GlobSymbol.next(in: &rest) {
            steps += 1
            let group = group(of: symbol)
            states = closed(
                entered: (states & advancing[group]) << 1, stayed: states & (group == 1 ? stay : skip))
            if states == 0 { return false }
        }
        return states & 1 << UInt64(end) != 0
    }

    private func matchesInWords(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ steps: inout Int) -> Bool {
        var states = [UInt64](repeating: 0, count: words)
        var entered = states
        entered[0] = 1
        close(entered: &entered, into: &states)
        var rest = bytes
        while let symbol = GlobSymbol.next(in: &rest) {
            steps += words
            let group = group(of: symbol)
            var carry: UInt64 = 0
            var isDead = true
            for word in 0..<words {
                let moved = states[word] & advancing[group * words + word]
                entered[word] = moved << 1 | carry
                carry = moved >> 63
                states[word] &= (group == 1 ? staying : skipping)[word]
                if entered[word] | states[word] != 0 { isDead = false }
            }
            if isDead { return false }
            close(entered: &entered, into: &states)
        }
        return states[end / 64] & 1 << UInt64(end % 64) != 0
    }

    /// Adds the states that were entered, and those that are reached from them and from the present states without a
    /// character. One pass is enough, because a state that skips one place never leads to one that skips further ones.
    ///
    /// The place of `/**/` is skipped with its slash only when it is entered: after other characters the slash has to
    /// follow.
    private func close(entered: inout [UInt64], into states: inout [UInt64]) {
        var carry: UInt64 = 0
        for word in 0..<words {
            let moved = entered[word] & skippingTwo[word]
            states[word] |= entered[word] | moved << 2 | carry
            carry = moved >> 62
        }
        carry = 0
        for word in 0..<words {
            let moved = states[word] & skipping[word]
            states[word] |= moved << 1 | carry
            carry = moved >> 63
        }
    }

    private func group(of symbol: GlobSymbol) -> Int {
        Int(symbol.unescaped.map { classes[Int($0)] } ?? escapedClasses[symbol] ?? 0)
    }
}

/// One character of a canonical URL: an unescaped byte, or the escapes that form one character of UTF-8.
struct GlobSymbol: Hashable, Sendable {
    /// The bytes. Those that are escaped have the bit 32 set.
    private let value: UInt64

    /// The byte, unless it is escaped.
    var unescaped: UInt8? { UInt8(exactly: value) }

    /// Takes the first character off a text.
    static func next(in text: inout Slice<UnsafeBufferPointer<UInt8>>) -> GlobSymbol? {
        guard let first = text.first else { return nil }
        guard first == UInt8(ascii: "%"), let lead = CanonicalRules.escapedByte(text) else {
            text.removeFirst()
            return GlobSymbol(value: UInt64(first))
        }
        var value = UInt64(1) << 32 | UInt64(lead)
        var count = 1
        let length = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1
        while count < length, let byte = CanonicalRules.escapedByte(text.dropFirst(3 * count)), byte & 0xc0 == 0x80 {
            value = UInt64(1) << 32 | (value << 8 | UInt64(byte)) & 0xffff_ffff
            count += 1
        }
        // An incomplete sequence consists of separate bytes.
        guard count == length else {
            text.removeFirst(3)
            return GlobSymbol(value: UInt64(1) << 32 | UInt64(lead))
        }
        text.removeFirst(3 * count)
        return GlobSymbol(value: value)
    }

    /// The characters of a text.
    static func symbols(of bytes: [UInt8]) -> [GlobSymbol] {
        bytes.withUnsafeBufferPointer { buffer in
            var rest = buffer[...]
            var symbols: [GlobSymbol] = []
            while let symbol = next(in: &rest) { symbols.append(symbol) }
            return symbols
        }
    }
}
