/// How texts are compared when they are searched.
///
/// ```swift
/// let filter = ModelFilter("Zoë", in: \Contact.name, comparing: [.caseSensitive, .diacriticSensitive])
/// ```
public struct TextComparison: OptionSet, Sendable, Hashable {
    /// Upper-case and lower-case letters differ. Without this option they are equal, by rules that belong to no
    /// particular language, and “ß” equals “ss”.
    public static let caseSensitive = TextComparison(rawValue: 1)
    /// Letters with different diacritics differ. Without this option a mark above, below or around a letter is ignored,
    /// so “é” equals “e”. Letters such as “ø” and “ł” are letters of their own in both cases.
    public static let diacriticSensitive = TextComparison(rawValue: 2)

    /// The bits.
    public let rawValue: UInt8

    /// Creates a value from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// A text to search for in other texts, folded once. A search takes time linear in the length of both texts.
struct TextSearch: Sendable {
    private let folding: TextFolding
    private let needle: [Unicode.Scalar]
    /// For each beginning of the text, the length of the longest shorter beginning that is also its end.
    private let borders: [Int]

    init(_ text: String, _ comparison: TextComparison) {
        folding = TextFolding(comparison)
        needle = folding.folded(text)
        var borders = [Int](repeating: 0, count: needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[index] != needle[length] { length = borders[length - 1] }
            if needle[index] == needle[length] { length += 1 }
            borders[index] = length
        }
        self.borders = borders
    }

    /// Whether every text contains this one.
    var isEmpty: Bool { needle.isEmpty }

    /// Whether a text contains this one.
    func isContained(in text: String) -> Bool {
        var text = text
        let isFound = text.withUTF8 { bytes -> Bool? in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            return isContained(inFolded: bytes.lazy.map { folding.folded(Unicode.Scalar($0)) })
        }
        return isFound ?? isContained(inFolded: folding.folded(text))
    }

    /// Each scalar is compared at most twice, even if texts repeat themselves (Knuth, Morris and Pratt).
    @inline(__always)
    private func isContained(inFolded text: some Sequence<Unicode.Scalar>) -> Bool {
        if needle.isEmpty { return true }
        var matched = 0
        for scalar in text {
            if matched == needle.count {
                // The last letter may have a mark that makes it another one.
                if !folding.isMark(scalar) { return true }
                matched = borders[matched - 1]
            }
            while matched > 0, needle[matched] != scalar { matched = borders[matched - 1] }
            if needle[matched] == scalar { matched += 1 }
        }
        return matched == needle.count
    }
}

/// Folds texts, so that texts that are equal in a comparison have the same scalars.
struct TextFolding: Sendable {
    private let foldsCase: Bool
    private let dropsMarks: Bool

    /// The maximum number of marks of one letter that are put in order.
    private static let maximumMarks = 32

    init(_ comparison: TextComparison) {
        foldsCase = !comparison.contains(.caseSensitive)
        dropsMarks = !comparison.contains(.diacriticSensitive)
    }

    /// A folded text. Marks that can stand in any order are put in the canonical one.
    func folded(_ text: String) -> [Unicode.Scalar] {
        var scalars: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            CanonicalDecompositions.forEach(in: scalar) { part in
                let order = Self.order(of: part)
                if dropsMarks && Self.isDiacritic(order) { return }
                var place = scalars.count
                let first = max(0, place - Self.maximumMarks)
                while order > 0, place > first, Self.order(of: scalars[place - 1]) > order { place -= 1 }
                scalars.insert(part, at: place)
            }
        }
        guard foldsCase else { return scalars }
        var folded: [Unicode.Scalar] = []
        folded.reserveCapacity(scalars.count)
        for scalar in scalars {
            guard !scalar.isASCII, scalar.properties.changesWhenCaseFolded else {
                folded.append(self.folded(scalar))
                continue
            }
            // Each step may give several characters: “ẞ” becomes “ß”, then “SS”, then “ss”.
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                for upper in lower.properties.uppercaseMapping.unicodeScalars {
                    folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
                }
            }
        }
        return folded
    }

    /// A folded ASCII letter. Other scalars are returned as they are.
    func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        foldsCase && ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
    }

    /// Whether a scalar of a folded text is a mark that makes the preceding letter another one.
    func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch Self.order(of: scalar) {
        case 0, Unicode.CanonicalCombiningClass.virama.rawValue: false
        case Unicode.CanonicalCombiningClass.nukta.rawValue, Unicode.CanonicalCombiningClass.kanaVoicing.rawValue: true
        default: !dropsMarks
        }
    }

    /// The canonical combining class; zero if the scalar is not a mark.
    private static func order(of scalar: Unicode.Scalar) -> UInt8 {
        scalar.value < 0x300 ? 0 : scalar.properties.canonicalCombiningClass.rawValue
    }

    /// Whether a mark of a combining class is a diacritic: one above, below or around a letter, or a point of Hebrew or
    /// Arabic ([UAX #44, 5.7.4](https://www.unicode.org/reports/tr44/#Canonical_Combining_Class_Values)). Other marks
    /// are parts of letters, such as the voicing of kana.
    private static func isDiacritic(_ order: UInt8) -> Bool { order >= 200 || (10...36).contains(order) }
}
