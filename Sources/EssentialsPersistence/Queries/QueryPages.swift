/// The pages of a query. Each page begins after the last row of the previous one.
///
/// A page is located by the values of that row, not by an offset. So every page costs as much as the first, and rows
/// that are inserted or deleted before it do not move it.
struct QueryPages: Sendable {
    private let node: RowQuery
    private let size: Int
    /// The order, which ends with the key.
    private let order: [RowQuery.Order]
    /// The columns that are never NULL.
    private let required: Set<String>
    private var last: StoredRow?
    /// The number of rows that the limit still allows.
    private var remaining: Int?
    private var isAtEnd = false

    /// - Throws: A failure with the reason `invalidQuery` for a size below 1, and for a limit or an offset below 0.
    init<Model: PersistentModel>(_ query: Query<Model>, size: Int) throws(PersistenceFailure) {
        let node = query.node
        guard size > 0, node.limit ?? 0 >= 0, node.offset >= 0 else {
            throw PersistenceFailure(
                .invalidQuery, "A batch has at least one row, and a limit and an offset are at least 0.",
                model: node.table)
        }
        self.node = node
        self.size = size
        remaining = node.limit
        required = Set(Model.columns.all.lazy.filter { !$0.isOptional }.map(\.name))
        // Keys are unique, so columns that follow the key in the order have no effect.
        let end = node.order.firstIndex { $0.column == node.key }
        let own = RowQuery.Order(column: node.key, isDescending: false)
        order = end.map { Array(node.order[...$0]) } ?? node.order + [own]
    }

    private var count: Int { min(size, remaining ?? size) }

    /// The query of the next page; `nil` after the last one.
    var next: RowQuery? {
        guard !isAtEnd, count > 0 else { return nil }
        guard let last else { return page(node.filter, offset: node.offset) }
        let rest = after(last)
        return page(node.filter.map { .both($0, rest) } ?? rest, offset: 0)
    }

    private func page(_ filter: RowFilter?, offset: Int) -> RowQuery {
        RowQuery(table: node.table, key: node.key, filter: filter, order: node.order, limit: count, offset: offset)
    }

    /// Advances past the rows of the page that ``next`` described.
    ///
    /// - Throws: A failure with the reason `invalidQuery` if the page repeats the previous one.
    mutating func take(_ rows: [StoredRow]) throws(PersistenceFailure) {
        isAtEnd = rows.count < count
        remaining = remaining.map { $0 - rows.count }
        guard let row = rows.last else { return }
        // A text with a NUL character, written by SQL, cannot be passed as an argument.
        if let key = last?[node.key], key == row[node.key] {
            throw PersistenceFailure(
                .invalidQuery, "The rows cannot be read in batches by this order.", model: node.table, ids: [key])
        }
        last = row
    }

    // MARK: Conditions

    /// The condition for rows after this one: they are equal in some columns, and later in the next column.
    private func after(_ row: StoredRow) -> RowFilter {
        var ways: [RowFilter] = []
        var equal: [RowFilter] = []
        for order in order {
            let value = row[order.column] ?? .null
            if let after = after(value, order) { ways.append(.all(equal + [after])) }
            equal.append(comparison(order, .equal, value))
        }
        guard let first = order.first, ways.count > 1, let bound = notBefore(row[first.column] ?? .null, first)
        else { return .any(ways) }
        // The bound follows from the other condition, and lets SQLite start in an index of the first column.
        return .all([bound, .any(ways)])
    }

    private func comparison(
        _ order: RowQuery.Order, _ comparison: RowFilter.Comparison, _ value: StoredValue
    ) -> RowFilter {
        .comparison(order.column, comparison, RowFilter.Argument(stored: value))
    }

    /// The condition that a column is after a value; `nil` if no value is. NULL is the smallest value.
    private func after(_ value: StoredValue, _ order: RowQuery.Order) -> RowFilter? {
        if value.isNull { return order.isDescending ? nil : comparison(order, .notEqual, .null) }
        guard order.isDescending else { return comparison(order, .greater, value) }
        return orNull(comparison(order, .less, value), order)
    }

    /// The condition that a column is not before a value; `nil` if every value passes.
    private func notBefore(_ value: StoredValue, _ order: RowQuery.Order) -> RowFilter? {
        if value.isNull { return order.isDescending ? comparison(order, .equal, .null) : nil }
        guard order.isDescending else { return comparison(order, .greaterOrEqual, value) }
        return orNull(comparison(order, .lessOrEqual, value), order)
    }

    /// Adds NULL, which comes last in a descending order. It is added only if the column can be NULL, because the
    /// alternative can keep SQLite from using an index.
    private func orNull(_ node: RowFilter, _ order: RowQuery.Order) -> RowFilter {
        required.contains(order.column) ? node : .any([node, comparison(order, .equal, .null)])
    }
}
