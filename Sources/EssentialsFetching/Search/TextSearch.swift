import EssentialsRequests

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
///
/// ASCII texts are searched in place. Other texts are folded first, unless their ASCII part already contains the text.
struct TextSearch: Sendable {
    /// Memory that is reused from text to text.
    struct Scratch {
        fileprivate var folded: [UInt8] = []
    }

    private let comparison: TextComparison
    private let needle: [UInt8]
    private let borders: [Int]
    private let isASCII: Bool
    /// The bit in which upper-case and lower-case letters differ; zero if case matters.
    private let caseBit: UInt8

    init(_ text: String, _ comparison: TextComparison) {
        self.comparison = comparison
        var folded: [UInt8] = []
        TextFolding.append(text, to: &folded, comparison)
        needle = folded
        borders = Self.borders(of: folded)
        isASCII = folded.allSatisfy { $0 < 0x80 }
        caseBit = comparison.contains(.caseSensitive) ? 0 : 0x20
    }

    /// Whether every text contains this one.
    var isEmpty: Bool { needle.isEmpty }

    /// Whether a text contains this one.
    func isContained(in text: String, _ scratch: inout Scratch) -> Bool {
        if needle.isEmpty { return true }
        var text = text
        switch text.withUTF8({ searchInPlace($0) }) {
        case .some(let isFound): return isFound
        case .none:
            scratch.folded.removeAll(keepingCapacity: true)
            TextFolding.append(text, to: &scratch.folded, comparison)
            return scratch.folded.withUnsafeBufferPointer { isContained(inFolded: $0) }
        }
    }

    /// Searches the ASCII part of a text; `nil` if the text must be folded to decide.
    private func searchInPlace(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
        if isASCII {
            var needsFolding = false
            let isFound = search(text, caseBit) { end in
                // The last letter may have a mark that makes it another one.
                needsFolding =
                    end < text.count && text[end] >= 0x80 && comparison.contains(.diacriticSensitive)
                return true
            }
            if isFound { return needsFolding ? nil : true }
        }
        return text.contains { $0 >= 0x80 } ? nil : false
    }

    private func isContained(inFolded text: UnsafeBufferPointer<UInt8>) -> Bool {
        search(text, 0) { !TextFolding.isMark(text, at: $0, comparison) }
    }

    /// Passes the end of each occurrence of the text to a closure, until one is accepted. Returns whether one was
    /// accepted.
    ///
    /// Each byte is compared at most twice, even if texts repeat themselves (Knuth, Morris and Pratt).
    ///
    /// - Parameter caseBit: The bit that is set in upper-case letters before they are compared.
    @inline(__always)
    private func search(
        _ text: UnsafeBufferPointer<UInt8>, _ caseBit: UInt8, accepts: (_ end: Int) -> Bool
    ) -> Bool {
        needle.withUnsafeBufferPointer { needle in
            borders.withUnsafeBufferPointer { borders in
                let first = needle[0]
                // Only letters have another case.
                let firstBit = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) ? caseBit : 0
                var (index, matched) = (0, 0)
                while text.count - index >= needle.count - matched {
                    let byte = text[index]
                    if matched == 0 {
                        index += 1
                        guard byte | firstBit == first else { continue }
                        matched = 1
                    } else {
                        let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                        guard (isUpper ? byte | caseBit : byte) == needle[matched] else {
                            matched = borders[matched - 1]
                            continue
                        }
                        index += 1
                        matched += 1
                    }
                    guard matched == needle.count else { continue }
                    if accepts(index) { return true }
                    matched = borders[matched - 1]
                }
                return false
            }
        }
    }

    /// For each beginning of the text, the length of the longest shorter beginning that is also its end.
    private static func borders(of needle: [UInt8]) -> [Int] {
        var borders = [Int](repeating: 0, count: needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[index] != needle[length] { length = borders[length - 1] }
            if needle[index] == needle[length] { length += 1 }
            borders[index] = length
        }
        return borders
    }
}

/// Folds texts, so that texts that are equal in a comparison have the same bytes.
enum TextFolding {
    /// Whether a mark of a combining class is a diacritic: one above, below or around a letter, or a point of Hebrew or
    /// Arabic ([UAX #44, 5.7.4](https://www.unicode.org/reports/tr44/#Canonical_Combining_Class_Values)). Other marks
    /// are parts of letters, such as the voicing of kana.
    private static func isDiacritic(_ order: UInt8) -> Bool { order >= 200 || (10...36).contains(order) }

    /// The maximum number of marks of one letter that are put in order.
    private static let maximumMarks = 32

    /// Appends a folded text as UTF-8. Marks that can stand in any order are put in the canonical one.
    static func append(_ text: String, to bytes: inout [UInt8], _ comparison: TextComparison) {
        let foldsCase = !comparison.contains(.caseSensitive)
        let dropsMarks = !comparison.contains(.diacriticSensitive)
        var marks: [(scalar: Unicode.Scalar, order: UInt8)] = []
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                if !marks.isEmpty { flush(&marks, to: &bytes, foldsCase) }
                let byte = UInt8(truncatingIfNeeded: scalar.value)
                let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                bytes.append(isUpper && foldsCase ? byte | 0x20 : byte)
                continue
            }
            CanonicalDecompositions.forEach(in: scalar) { part in
                let order = part.isASCII ? 0 : part.properties.canonicalCombiningClass.rawValue
                if dropsMarks && isDiacritic(order) { return }
                if order > 0, marks.count < maximumMarks {
                    let place = marks.lastIndex { $0.order <= order }.map { $0 + 1 } ?? 0
                    marks.insert((part, order), at: place)
                } else {
                    flush(&marks, to: &bytes, foldsCase)
                    append(part, to: &bytes, foldsCase)
                }
            }
        }
        flush(&marks, to: &bytes, foldsCase)
    }

    /// Whether a mark that makes the preceding letter another one begins at a place in a folded text.
    static func isMark(_ text: UnsafeBufferPointer<UInt8>, at index: Int, _ comparison: TextComparison) -> Bool {
        guard index < text.count, text[index] >= 0x80 else { return false }
        let scalar = String(decoding: text[index..<min(index + 4, text.count)], as: UTF8.self).unicodeScalars.first
        switch scalar?.properties.canonicalCombiningClass ?? .notReordered {
        case .notReordered, .virama: return false
        case .nukta, .kanaVoicing: return true
        default: return comparison.contains(.diacriticSensitive)
        }
    }

    private static func flush(
        _ marks: inout [(scalar: Unicode.Scalar, order: UInt8)], to bytes: inout [UInt8], _ foldsCase: Bool
    ) {
        for mark in marks { append(mark.scalar, to: &bytes, foldsCase) }
        marks.removeAll(keepingCapacity: true)
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8], _ foldsCase: Bool) {
        guard foldsCase, scalar.properties.changesWhenCaseFolded else {
            bytes.append(contentsOf: String(Character(scalar)).utf8)
            return
        }
        // Each step may give several characters: “ẞ” becomes “ß”, then “SS”, then “ss”.
        for lower in scalar.properties.lowercaseMapping.unicodeScalars {
            for upper in lower.properties.uppercaseMapping.unicodeScalars {
                bytes.append(contentsOf: upper.properties.lowercaseMapping.utf8)
            }
        }
    }
}
