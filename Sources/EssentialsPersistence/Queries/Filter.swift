/// A condition on the rows of a model, as a value.
///
/// Filters are two-valued as in Swift: a comparison with `nil` by `==` or `!=` is true or false, and every other
/// comparison with `nil` is false. So `!(filter)` finds exactly the rows that `filter` does not.
///
/// ```swift
/// let silent = Film.where { ($0.year < 1930 || $0.year == 1931) && !$0.title.hasPrefix("M") }
/// let orphans = Film.where { $0.studioID == nil }
/// ```
///
/// Texts are compared by their bytes, or by the collation of the column for `==`, `<` and their kin.
public struct Filter<Model: PersistentModel>: Sendable, Hashable {
    package let node: FilterNode

    package init(_ node: FilterNode) { self.node = node }

    /// Both filters hold.
    public static func && (one: Filter, other: Filter) -> Filter { Filter(.both(one.node, other.node)) }
    /// At least one filter holds.
    public static func || (one: Filter, other: Filter) -> Filter { Filter(.either(one.node, other.node)) }
    /// The filter does not hold.
    public static prefix func ! (filter: Filter) -> Filter { Filter(.opposite(filter.node)) }

    /// All filters hold. Every row passes an empty list.
    public static func all(_ filters: [Filter]) -> Filter { Filter(.all(filters.map(\.node))) }
    /// At least one filter holds. No row passes an empty list.
    public static func any(_ filters: [Filter]) -> Filter { Filter(.any(filters.map(\.node))) }

    /// A condition in SQL.
    ///
    /// The text is part of the statement, so it must never contain text from outside. Values belong into the arguments.
    /// NULL counts as false.
    ///
    /// - Parameters:
    ///   - text: An SQL expression over the columns of the table, with `?` for each argument.
    ///   - arguments: The arguments, in their order.
    public static func sql(_ text: String, _ arguments: [StoredValue] = []) -> Filter {
        Filter(.sql(text, arguments))
    }
}

/// The structure of a filter, without the types of models and values.
package indirect enum FilterNode: Sendable, Hashable {
    package enum Comparison: Sendable, Hashable, CaseIterable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    package enum TextMatch: Sendable, Hashable, CaseIterable {
        case contains, hasPrefix, hasSuffix
    }

    case all([FilterNode])
    case any([FilterNode])
    case not(FilterNode)
    case comparison(String, Comparison, StoredArgument)
    case columns(String, Comparison, String)
    case between(String, StoredArgument, StoredArgument)
    case contained(String, [StoredArgument])
    case text(String, TextMatch, StoredArgument)
    case subquery(String, SelectNode)
    case sql(String, [StoredValue])

    /// Both nodes, in one list, so that a long chain of operators is no deep tree.
    package static func both(_ one: FilterNode, _ other: FilterNode) -> FilterNode {
        switch (one, other) {
        case (.all(let one), .all(let other)): .all(one + other)
        case (.all(let list), _): .all(list + [other])
        case (_, .all(let list)): .all([one] + list)
        default: .all([one, other])
        }
    }

    /// Either node, in one list.
    package static func either(_ one: FilterNode, _ other: FilterNode) -> FilterNode {
        switch (one, other) {
        case (.any(let one), .any(let other)): .any(one + other)
        case (.any(let list), _): .any(list + [other])
        case (_, .any(let list)): .any([one] + list)
        default: .any([one, other])
        }
    }

    /// The opposite of a node. Two negations cancel each other.
    package static func opposite(_ node: FilterNode) -> FilterNode {
        if case .not(let inner) = node { inner } else { .not(node) }
    }
}

/// A value in a filter; without a stored value if it cannot be stored, which makes the query fail.
package struct StoredArgument: Sendable, Hashable {
    package let value: StoredValue?

    package init(_ value: some ColumnValue) { self.value = value.storedValue }
    init(stored: StoredValue) { value = stored }
}
