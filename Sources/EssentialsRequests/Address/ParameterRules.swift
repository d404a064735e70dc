import EssentialsHTTP

/// Sets and removes the parameters of a query.
///
/// Parameters that a call does not name keep the spelling that they have, because a server can distinguish spellings
/// (`+` and `%20`).
package enum ParameterRules {
    private static let ampersand = UInt8(ascii: "&")

    /// One pair of a query.
    private struct Pair {
        /// The pair as it is in the query.
        let text: Substring.UTF8View
        /// The name without escapes.
        let name: [UInt8]

        init(_ text: Substring.UTF8View) {
            self.text = text
            name = ParameterRules.decoded(text.prefix { $0 != UInt8(ascii: "=") })
        }
    }

    /// The query after parameters have been set: sorted by name, in which items with equal names keep their order.
    /// `nil` if no parameter is left.
    ///
    /// - Parameters:
    ///   - query: The query without `?`; `nil` if there is none.
    ///   - items: The parameters. Each name loses its present values. An item whose value is `nil` adds nothing, and one
    ///     whose value is empty adds a name without `=`.
    package static func query(_ query: Substring?, setting items: QueryItems) -> String? {
        let names = Set(items.items.map { Array($0.name.utf8) })
        var pairs = pairs(of: query).filter { !names.contains($0.name) }
        for item in items.items {
            guard let value = item.value, !item.name.isEmpty || !value.isEmpty else { continue }
            let text = QueryItems([.init(name: item.name, value: value.isEmpty ? nil : value)]).encodedQuery
            pairs.append(Pair(text[...].utf8))
        }
        return joined(sorted(pairs))
    }

    /// The query without the parameters of a name; `nil` if no parameter is left.
    static func query(_ query: Substring, removing name: String) -> String? {
        joined(pairs(of: query).filter { !$0.name.elementsEqual(name.utf8) })
    }

    /// The part of a query that remains without the base's query, so that ``merged(_:with:isSorted:)`` restores it;
    /// `nil` if the query does not contain the base's.
    static func extra(in query: Substring, beside base: Substring) -> (query: String?, isSorted: Bool)? {
        let all = pairs(of: query)
        var rest: [Pair] = []
        var missing = pairs(of: base).map { Array($0.text) }
        for pair in all {
            if let index = missing.firstIndex(where: { $0.elementsEqual(pair.text) }) {
                missing.remove(at: index)
            } else {
                rest.append(pair)
            }
        }
        guard missing.isEmpty else { return nil }
        let extra = joined(rest)
        for isSorted in [true, false] where merged(base, with: extra, isSorted: isSorted).utf8.elementsEqual(query.utf8)
        {
            return (extra, isSorted)
        }
        return nil
    }

    /// The query that consists of a base's and a further one.
    package static func merged(_ base: Substring, with extra: String?, isSorted: Bool) -> String {
        guard let extra else { return String(base) }
        let whole = base.isEmpty ? extra : base + "&" + extra
        return isSorted ? joined(sorted(pairs(of: whole[...]))) ?? "" : whole
    }

    private static func pairs(of query: Substring?) -> [Pair] {
        // The splitting compares bytes, because a delimiter followed by a combining mark is a different `Character`.
        (query ?? "").utf8.split(separator: ampersand).map { Pair($0) }
    }

    private static func sorted(_ pairs: [Pair]) -> [Pair] {
        // The library does not promise that its sorting is stable.
        pairs.enumerated().sorted { one, other in
            one.element.name == other.element.name
                ? one.offset < other.offset : one.element.name.lexicographicallyPrecedes(other.element.name)
        }.map(\.element)
    }

    private static func joined(_ pairs: [Pair]) -> String? {
        pairs.isEmpty ? nil : pairs.map { String(Substring($0.text)) }.joined(separator: "&")
    }

    private static func decoded(_ text: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.first {
            let escaped = CanonicalRules.escapedByte(rest)
            bytes.append(escaped ?? byte)
            rest = rest.dropFirst(escaped == nil ? 1 : 3)
        }
        return bytes
    }
}
