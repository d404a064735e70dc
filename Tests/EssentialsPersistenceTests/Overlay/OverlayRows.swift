@testable import EssentialsPersistence

/// Rows of a table with an id and two columns.
enum OverlayRows {
    static let layout = RowLayout(["id", "a", "b"])
    static let empty = StoredRow(layout, [.null, .null, .null])

    static func key(_ id: Int64) -> RowKey { RowKey(table: "t", id: .integer(id)) }

    static func row(_ id: Int64, _ a: Int64, _ b: Int64) -> StoredRow {
        guard var row = empty else { preconditionFailure("the layout has three columns") }
        row.values = [.integer(id), .integer(a), .integer(b)]
        return row
    }
}
