/// The rows that one call sees at one moment: the stored rows, covered by the pending rows of the scope and of the
/// scopes above it, and by the changes that the call has made so far.
///
/// Services implement this protocol; callers use ``PersistenceWork``. A call uses its rows on one thread at a time.
///
/// ```swift
/// func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] {
///     throw PersistenceFailure(.full, "The disk is full.")
/// }
/// ```
public protocol WorkRows: AnyObject {
    /// The columns of a table, in the order of its rows.
    func layout(of table: String) throws(PersistenceFailure) -> RowLayout
    /// The rows that a query finds, in its order.
    func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow]
    /// The rows with these ids. Missing rows are left out.
    func rows(of table: String, ids: [StoredValue]) throws(PersistenceFailure) -> [StoredValue: StoredRow]
    /// The values of the query's column, in its order.
    func values(_ query: RowQuery) throws(PersistenceFailure) -> [StoredValue]
    /// The number of rows, or of values, that a query finds.
    func count(_ query: RowQuery) throws(PersistenceFailure) -> Int
    /// An aggregate of all values of the query's column. NULL if there is no value.
    func aggregate(_ query: RowQuery, _ function: AggregateFunction) throws(PersistenceFailure) -> StoredValue
    /// The values of the query's column, each with the number of rows that have it, in the order of the values.
    func counts(_ query: RowQuery) throws(PersistenceFailure) -> [(value: StoredValue, count: Int)]
    /// The sum of the query's column for each value of another one; NULL where no row of the group has a value. The
    /// default fails as `invalidQuery`.
    func sums(
        _ query: RowQuery, by column: String
    ) throws(PersistenceFailure) -> [(key: StoredValue, sum: StoredValue)]
    /// The rows of a query in SQL, with the columns that it names. The default fails as `invalidQuery`.
    ///
    /// - Parameters:
    ///   - sql: One statement that reads, with `?` for each argument.
    ///   - arguments: The values of the arguments.
    func rows(sql: String, arguments: [StoredValue]) throws(PersistenceFailure) -> [StoredRow]
    /// The origin of a visible row. The default is ``RowOrigin/stored``.
    func origin(of id: StoredValue, in table: String) throws(PersistenceFailure) -> RowOrigin
    /// Replaces rows from now on: all of them, or none after an error.
    ///
    /// - Throws: A failure with the reason `limit`.
    func place(_ changes: [RowChange]) throws(PersistenceFailure)
    /// Deletes rows, and applies the foreign keys of other tables to rows that refer to them.
    ///
    /// - Throws: A failure with the reason `constraint` if a row that refers to one of them restricts its deletion.
    func delete(_ rows: [StoredRow], of table: String) throws(PersistenceFailure)
    /// Reserves consecutive ids that are never given out again, and returns the first. The default fails as
    /// `invalidQuery`.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - count: The number of ids, at least 1.
    /// - Throws: A failure with the reason `limit` if there are not enough ids.
    func reserveIDs(of table: String, count: Int) throws(PersistenceFailure) -> Int64
}

extension WorkRows {
    /// The default fails as `invalidQuery`.
    public func reserveIDs(of table: String, count: Int) throws(PersistenceFailure) -> Int64 {
        throw PersistenceFailure(.invalidQuery, "The service reserves no ids.", model: table)
    }

    /// The default fails as `invalidQuery`.
    public func sums(
        _ query: RowQuery, by column: String
    ) throws(PersistenceFailure) -> [(key: StoredValue, sum: StoredValue)] {
        throw PersistenceFailure(.invalidQuery, "The service groups no rows.", model: query.table)
    }

    /// The default fails as `invalidQuery`.
    public func rows(sql: String, arguments: [StoredValue]) throws(PersistenceFailure) -> [StoredRow] {
        throw PersistenceFailure(.invalidQuery, "The service runs no SQL.")
    }

    /// The default is ``RowOrigin/stored``.
    public func origin(of id: StoredValue, in table: String) throws(PersistenceFailure) -> RowOrigin { .stored }
}

/// A calculation over the values of a column. NULL values are skipped.
public enum AggregateFunction: String, Sendable, Hashable, CaseIterable {
    /// The sum.
    case sum = "sum"
    /// The smallest value.
    case minimum = "min"
    /// The greatest value.
    case maximum = "max"
    /// The mean of all values.
    case average = "avg"
}

/// One row that a call creates or changes.
public struct RowChange: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The id of the row.
    public let id: StoredValue
    /// The row as it is from now on.
    public let row: StoredRow
    /// The row as it was before, or as the caller has seen it; `nil` for a new row. Conflicts are judged by it.
    public let base: StoredRow?

    /// Creates a change.
    public init(table: String, id: StoredValue, row: StoredRow, base: StoredRow?) {
        self.table = table
        self.id = id
        self.row = row
        self.base = base
    }
}
