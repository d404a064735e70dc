/// A fetch of one model as a value: a filter, an order, a limit and an offset.
///
/// ```swift
/// let query = Film.where { $0.year < 1930 && $0.title.hasPrefix("M") }
///     .sorted { [$0.year.descending, $0.title.ascending] }
///     .limit(20)
/// ```
///
/// Rows that are equal in all sorted columns are sorted by id. Without an order, all rows are sorted by id.
public struct Query<Model: PersistentModel>: Sendable, Hashable {
    /// The condition on the rows; `nil` for all rows.
    public private(set) var filter: Filter<Model>?
    /// The order, without the ids that break ties.
    public private(set) var order: [Ordering<Model>] = []
    /// The maximum number of rows; `nil` means no limit.
    public private(set) var limit: Int?
    /// The number of rows that are skipped.
    public private(set) var offset = 0

    /// Creates a query for the rows that pass a filter. The default is all rows.
    public init(filter: Filter<Model>? = nil) { self.filter = filter }

    /// The query with a further condition.
    public func `where`(_ filter: (Model.Columns) -> Filter<Model>) -> Query {
        var query = self
        let added = filter(Model.columns)
        query.filter = self.filter.map { $0 && added } ?? added
        return query
    }

    /// The query with this order in place of its own.
    public func sorted(_ order: (Model.Columns) -> [Ordering<Model>]) -> Query {
        var query = self
        query.order = order(Model.columns)
        return query
    }

    /// The query with a maximum number of rows. A negative number makes the query invalid.
    public func limit(_ limit: Int?) -> Query {
        var query = self
        query.limit = limit
        return query
    }

    /// The query that skips this number of rows. A negative number makes the query invalid.
    public func offset(_ offset: Int) -> Query {
        var query = self
        query.offset = offset
        return query
    }

    /// The query for the values of one column, in the order of the rows.
    ///
    /// ```swift
    /// let years = Film.all.values { $0.year }.distinct()
    /// ```
    public func values<Value>(of column: (Model.Columns) -> Column<Model, Value>) -> ValueQuery<Model, Value> {
        ValueQuery(query: self, column: column(Model.columns))
    }

    /// The structure of the query, without the type of the model.
    package var node: RowQuery {
        RowQuery(
            table: Model.table, key: Model.columns.id.name, filter: filter?.node,
            order: order.map { RowQuery.Order(column: $0.column, isDescending: $0.isDescending) }, limit: limit,
            offset: offset)
    }
}

extension PersistentModel {
    /// The query for all rows.
    public static var all: Query<Self> { Query() }

    /// The query for the rows that pass a filter.
    public static func `where`(_ filter: (Columns) -> Filter<Self>) -> Query<Self> { Query(filter: filter(columns)) }
}

/// A column to sort by, and the direction. NULL is the smallest value.
///
/// ```swift
/// let query = Film.all.sorted { [$0.year.descending, $0.title.ascending] }
/// ```
public struct Ordering<Model: PersistentModel>: Sendable, Hashable {
    /// The name of the column.
    public let column: String
    /// Whether the greatest values come first.
    public let isDescending: Bool
}

/// A fetch of one column of a model.
///
/// ```swift
/// let studios = Film.where { $0.year == 1926 }.values { $0.studioID }.distinct()
/// ```
public struct ValueQuery<Model: PersistentModel, Value: Sendable>: Sendable, Hashable {
    /// The rows.
    public let query: Query<Model>
    /// The column.
    public let column: Column<Model, Value>
    /// Whether each value occurs only once in the result. Then the values themselves are sorted, and limit and offset
    /// count values, not rows.
    public private(set) var isDistinct = false

    init(query: Query<Model>, column: Column<Model, Value>) {
        self.query = query
        self.column = column
    }

    /// The query that finds each value once, the smallest first.
    public func distinct() -> ValueQuery {
        var query = self
        query.isDistinct = true
        return query
    }

    /// The structure of the query, without its types.
    package var node: RowQuery {
        var node = query.node
        node.column = column.name
        node.isDistinct = isDistinct
        return node
    }
}
