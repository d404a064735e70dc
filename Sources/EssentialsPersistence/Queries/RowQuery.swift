/// A query without the types of models and values, as a service receives it.
///
/// Rows that are equal in all columns of the order are sorted by their ids. A negative limit or offset makes the query
/// invalid, and a service throws a failure with the reason `invalidQuery`.
///
/// ```swift
/// func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] {
///     var found: [StoredRow] = []
///     for row in tables[query.table, default: []] where try passes(query.filter, row) { found.append(row) }
///     let sorted = found.sorted { comesBefore($0, $1, query.order, query.key) }.dropFirst(query.offset)
///     return Array(query.limit.map { sorted.prefix($0) } ?? sorted)
/// }
/// ```
public struct RowQuery: Sendable, Hashable {
    /// A column to sort by, and the direction. NULL is the smallest value.
    public struct Order: Sendable, Hashable {
        /// The name of the column.
        public let column: String
        /// Whether the greatest values come first.
        public let isDescending: Bool

        /// Creates a part of an order.
        public init(column: String, isDescending: Bool = false) {
            self.column = column
            self.isDescending = isDescending
        }
    }

    /// The maximum number of ids or values that one query looks up.
    package static let maximumValues = 500

    /// The table that is queried.
    public var table: String
    /// The name of the column with the ids.
    public var key: String
    /// The condition on the rows; `nil` for all rows.
    public var filter: RowFilter?
    /// The order, without the ids that break ties.
    public var order: [Order]
    /// The maximum number of rows, or of distinct values; `nil` means no limit.
    public var limit: Int?
    /// The number of rows, or of distinct values, that are skipped.
    public var offset: Int
    /// The only column that is fetched; `nil` for whole rows.
    public var column: String?
    /// Whether each value of the column occurs only once in the result. Then the values themselves are sorted, and
    /// limit and offset count values, not rows.
    public var isDistinct: Bool

    /// Creates a query.
    public init(
        table: String, key: String, filter: RowFilter? = nil, order: [Order] = [], limit: Int? = nil, offset: Int = 0,
        column: String? = nil, isDistinct: Bool = false
    ) {
        self.table = table
        self.key = key
        self.filter = filter
        self.order = order
        self.limit = limit
        self.offset = offset
        self.column = column
        self.isDistinct = isDistinct
    }

    /// The rows whose column has one of these values.
    package init(table: String, key: String, column: String, values: [StoredValue]) {
        self.init(
            table: table, key: key, filter: .contained(column, values.map { RowFilter.Argument(stored: $0) }))
    }

    /// The tables that the query reads, including those of subqueries; `nil` if a part of it is SQL, which may read any
    /// table.
    public var tables: Set<String>? {
        var tables: Set = [table]
        guard let filter else { return tables }
        return filter.collect(&tables) ? tables : nil
    }
}
