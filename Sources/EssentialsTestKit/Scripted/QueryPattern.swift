import EssentialsHTTP

/// The query that a request must have.
///
/// ```swift
/// transport.on(.get, "/v1/users", query: ["role": "admin", "page": "2"])       // exactly these, in any order
/// transport.on(.get, "/v1/users", query: .containing(["role": "admin"]))       // further items are allowed
/// transport.on(.get, "/v1/users", query: .text("role=admin&page=2"))           // exactly this text
/// ```
///
/// Items are compared percent-decoded, and a repeated name must occur the same number of times. A
/// plus sign is not a space.
public struct QueryPattern: Sendable, Hashable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    struct Item: Sendable, Hashable, CustomStringConvertible {
        let name: String
        let value: String

        var description: String { ShownText.quoted("\(name)=\(value)") }
    }

    private enum Rule: Sendable, Hashable {
        case any
        case items([Item])
        case containing([Item])
        case text(String)
    }

    private let rule: Rule

    /// Any query or no query.
    public static let any = QueryPattern(rule: .any)

    /// Exactly this text, percent-encoded and without `?`. An empty text also matches a request without a query.
    public static func text(_ text: String) -> QueryPattern { QueryPattern(rule: .text(text)) }

    /// These items; further items are allowed.
    public static func containing(_ items: KeyValuePairs<String, String>) -> QueryPattern {
        QueryPattern(rule: .containing(items.map { Item(name: $0.key, value: $0.value) }))
    }

    /// Exactly these items in any order; `[:]` for no items.
    public init(dictionaryLiteral items: (String, String)...) {
        self.init(rule: .items(items.map { Item(name: $0.0, value: $0.1) }))
    }

    /// These items and any others.
    static func containing(pairs: [(name: String, value: String)]) -> QueryPattern {
        QueryPattern(rule: .containing(pairs.map { Item(name: $0.name, value: $0.value) }))
    }

    /// Exactly the items of an encoded query, in any order.
    init(itemsOf query: Substring) { self.init(rule: .items(Self.items(in: query))) }

    private init(rule: Rule) { self.rule = rule }

    /// Whether the pattern matches every query.
    var isAny: Bool { rule == .any }

    /// The pattern as shown in messages.
    public var description: String {
        switch rule {
        case .any: "any query"
        case .items(let items): items.isEmpty ? "no query" : items.map(\.description).joined(separator: ", ")
        case .containing(let items): items.map(\.description).joined(separator: ", ") + " among others"
        case .text(let text): "the text \(ShownText.quoted(text))"
        }
    }

    /// Each difference as one line; empty if the query matches.
    func differences(from query: Substring?) -> [String] {
        let query = query ?? ""
        switch rule {
        case .any: return []
        case .text(let text):
            return query == text
                ? [] : ["query: expected the text \(ShownText.quoted(text)), was \(ShownText.quoted(query))"]
        case .items(let expected): return Self.differences(query, expected, allowsOthers: false)
        case .containing(let expected): return Self.differences(query, expected, allowsOthers: true)
        }
    }

    private static func differences(_ query: Substring, _ expected: [Item], allowsOthers: Bool) -> [String] {
        var rest = items(in: query)
        var missing: [Item] = []
        for item in expected {
            if let index = rest.firstIndex(of: item) { rest.remove(at: index) } else { missing.append(item) }
        }
        return missing.map { item in
            let others = rest.filter { $0.name == item.name }.map { ShownText.quoted($0.value) }
            return "query: expected \(item), "
                + (others.isEmpty ? "there is none" : "was \(others.joined(separator: ", "))")
        }
            + (allowsOthers ? [] : rest.filter { item in !missing.contains { $0.name == item.name } })
            .map { "query: \($0) not expected" }
    }

    /// The decoded items of an encoded query.
    static func items(in query: Substring) -> [Item] {
        query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Item(name: decoded(parts[0]), value: parts.count > 1 ? decoded(parts[1]) : "")
        }
    }

    /// Removes percent-encoding. If the result is not UTF-8, the text is returned unchanged.
    static func decoded(_ text: Substring) -> String {
        String(validating: PercentCoding.decoded(text.utf8, plusIsSpace: false), as: UTF8.self) ?? String(text)
    }
}
