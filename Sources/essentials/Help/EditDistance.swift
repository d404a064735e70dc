/// Finds the words that a misspelt word could have been meant to be.
enum EditDistance {
    private static let maximumSuggestions = 3
    private static let prefixMinimum = 3
    /// Longer words are not compared, because the cost grows with the product of the lengths.
    private static let lengthMaximum = 64

    /// The words that begin with a word of at least 3 characters, if there are at most three, and otherwise the closest
    /// words, at most three, all of the same distance. Words that are too far away are left out.
    ///
    /// The permitted distance grows with the length: a word of up to 2 characters must match except for its case, up to
    /// 5 may have one mistake, up to 9 two, and longer ones three.
    static func suggestions(for word: String, among candidates: [String]) -> [String] {
        let (typed, candidates) = (Array(word.lowercased()), unique(candidates))
        guard typed.count <= lengthMaximum, !typed.isEmpty else { return [] }
        if typed.count >= prefixMinimum {
            let longer = candidates.filter { $0.lowercased().hasPrefix(word.lowercased()) }
            if (1...maximumSuggestions).contains(longer.count) { return longer }
        }
        let permitted = permittedDistance(typed.count)
        let near = candidates.map { (word: $0, distance: distance(typed, Array($0.lowercased()))) }
            .filter { $0.distance <= permitted }
        guard let least = near.map(\.distance).min() else { return [] }
        return near.filter { $0.distance == least }.prefix(maximumSuggestions).map(\.word)
    }

    /// “Did you mean “get”?” or “Did you mean “get” or “put”?”, with a leading space; empty without suggestions.
    static func question(_ suggestions: [String]) -> String {
        guard let last = suggestions.last else { return "" }
        let words = suggestions.dropLast().map { "“\($0)”" }.joined(separator: ", ")
        return " Did you mean \(words.isEmpty ? "" : words + " or ")“\(last)”?"
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours between two words.
    static func distance(_ one: [Character], _ other: [Character]) -> Int {
        guard !one.isEmpty, !other.isEmpty else { return max(one.count, other.count) }
        var rows = [Array(0...other.count)]
        for i in 1...one.count {
            var row = [i]
            for j in 1...other.count {
                let isSame = one[i - 1] == other[j - 1]
                var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (isSame ? 0 : 1))
                if i > 1, j > 1, one[i - 1] == other[j - 2], one[i - 2] == other[j - 1] {
                    best = min(best, rows[i - 2][j - 2] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }

    private static func permittedDistance(_ length: Int) -> Int {
        switch length {
        case ...2: 0
        case ...5: 1
        case ...9: 2
        default: 3
        }
    }

    private static func unique(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }
}
