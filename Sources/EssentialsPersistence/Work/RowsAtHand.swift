/// Rows that are known without reading a file, for calls that only read by ids.
package final class RowsAtHand: WorkRows {
    private let layout: RowLayout
    private let found: [StoredValue: StoredRow]

    /// - Parameters:
    ///   - layout: The columns of the table.
    ///   - found: The existing rows.
    package init(_ layout: RowLayout, _ found: [StoredValue: StoredRow]) {
        self.layout = layout
        self.found = found
    }

    package func layout(of table: String) throws(PersistenceFailure) -> RowLayout { layout }

    package func rows(of table: String, ids: [StoredValue]) throws(PersistenceFailure) -> [StoredValue: StoredRow] {
        found
    }

    package func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] { throw unknown }
    package func values(_ query: RowQuery) throws(PersistenceFailure) -> [StoredValue] { throw unknown }
    package func count(_ query: RowQuery) throws(PersistenceFailure) -> Int { throw unknown }
    package func aggregate(
        _ query: RowQuery, _ function: AggregateFunction
    ) throws(PersistenceFailure) -> StoredValue { throw unknown }
    package func counts(
        _ query: RowQuery
    ) throws(PersistenceFailure) -> [(value: StoredValue, count: Int)] { throw unknown }
    package func place(_ changes: [RowChange]) throws(PersistenceFailure) { throw unknown }
    package func delete(_ rows: [StoredRow], of table: String) throws(PersistenceFailure) { throw unknown }

    private var unknown: PersistenceFailure {
        PersistenceFailure(.invalidQuery, "The call reads more than the rows with its ids.")
    }
}
