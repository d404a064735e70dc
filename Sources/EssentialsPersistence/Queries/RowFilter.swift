/// A condition on rows without the types of models and values, as a service receives it.
///
/// Conditions are two-valued, as ``Filter`` says: a comparison with NULL by `equal` or `notEqual` is true or false, and
/// all others are false. Columns are named as in the table. The order of values is NULL, numbers, texts by their UTF-8,
/// bytes.
///
/// A service that does not know a condition, for example one in SQL, throws a failure with the reason `invalidQuery`.
/// Later versions may add cases.
public indirect enum RowFilter: Sendable, Hashable {
    /// How two values are compared.
    public enum Comparison: Sendable, Hashable, CaseIterable {
        /// Both are the same, or both are NULL.
        case equal
        /// They differ. NULL differs from every other value.
        case notEqual
        /// The first is smaller.
        case less
        /// The first is smaller or the same.
        case lessOrEqual
        /// The first is greater.
        case greater
        /// The first is greater or the same.
        case greaterOrEqual
    }

    /// The position of a text within another one. Bytes are compared.
    public enum TextMatch: Sendable, Hashable, CaseIterable {
        /// The text may be anywhere.
        case contains
        /// The text must be at the beginning.
        case hasPrefix
        /// The text must be at the end.
        case hasSuffix
    }

    /// A value in a condition.
    public struct Argument: Sendable, Hashable {
        /// The value; `nil` if it cannot be stored, for example a text with a NUL character or a nested value that
        /// cannot be encoded. A service then throws a failure with the reason `invalidQuery`.
        public let value: StoredValue?

        package init(_ value: some ColumnValue) { self.value = value.storedValue }
        package init(stored: StoredValue) { value = stored }
    }

    /// All conditions hold. Every row passes an empty list.
    case all([RowFilter])
    /// At least one condition holds. No row passes an empty list.
    case any([RowFilter])
    /// The condition does not hold.
    case not(RowFilter)
    /// A column is compared with a value.
    case comparison(String, Comparison, Argument)
    /// A column is compared with another column of the same row.
    case columns(String, Comparison, String)
    /// A column's value is at least the first value and at most the second one.
    case between(String, Argument, Argument)
    /// A column has one of these values.
    case contained(String, [Argument])
    /// A column's text contains another one.
    case text(String, TextMatch, Argument)
    /// A column's value is in the result of a query. `false` for NULL.
    case subquery(String, RowQuery)
    /// An SQL expression over the columns of the table, with `?` for each argument. NULL counts as false.
    case sql(String, [StoredValue])

    /// Both conditions in one flat list, so that a long chain of operators does not become a deep tree.
    static func both(_ one: RowFilter, _ other: RowFilter) -> RowFilter {
        switch (one, other) {
        case (.all(let one), .all(let other)): .all(one + other)
        case (.all(let list), _): .all(list + [other])
        case (_, .all(let list)): .all([one] + list)
        default: .all([one, other])
        }
    }

    /// Either condition, in one flat list.
    static func either(_ one: RowFilter, _ other: RowFilter) -> RowFilter {
        switch (one, other) {
        case (.any(let one), .any(let other)): .any(one + other)
        case (.any(let list), _): .any(list + [other])
        case (_, .any(let list)): .any([one] + list)
        default: .any([one, other])
        }
    }

    /// The opposite of a condition. Two negations cancel each other.
    package static func opposite(_ filter: RowFilter) -> RowFilter {
        if case .not(let inner) = filter { inner } else { .not(filter) }
    }

    /// Adds the tables of subqueries, and returns whether all of them are known.
    func collect(_ tables: inout Set<String>) -> Bool {
        switch self {
        case .all(let filters), .any(let filters): return filters.allSatisfy { $0.collect(&tables) }
        case .not(let filter): return filter.collect(&tables)
        case .subquery(_, let query):
            guard let inner = query.tables else { return false }
            tables.formUnion(inner)
            return true
        case .sql: return false
        case .comparison, .columns, .between, .contained, .text: return true
        }
    }
}
