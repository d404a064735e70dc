/// The table and the id of a row.
package struct RowKey: Sendable, Hashable {
    package let table: String
    package let id: StoredValue

    package init(table: String, id: StoredValue) {
        self.table = table
        self.id = id
    }
}

/// The change of a row in a scope, relative to the row below the scope when the change began.
package enum OverlayEntry: Sendable, Hashable {
    /// The scope created the row.
    case inserted(StoredRow)
    /// The scope changed the row. The base is the whole row as it was below.
    case updated(StoredRow, base: StoredRow)
    /// The scope deleted the row.
    case deleted(base: StoredRow)

    /// The entry that leads from a base to a row; either is `nil` if it does not exist. `nil` if both are equal.
    ///
    /// - Parameter keeping: Whether to create an entry even if the row equals its base. Such an entry writes nothing;
    ///   it records that the scope has decided about the row. See ``PendingOrphans``.
    package init?(from base: StoredRow?, to row: StoredRow?, keeping: Bool = false) {
        switch (base, row) {
        case (nil, nil): return nil
        case (nil, let row?): self = .inserted(row)
        case (let base?, nil): self = .deleted(base: base)
        case (let base?, let row?):
            if !keeping, base == row { return nil }
            self = .updated(row, base: base)
        }
    }

    var isDeletion: Bool { row == nil }

    /// The row that the scope sees; `nil` if it has deleted it.
    package var row: StoredRow? {
        switch self {
        case .inserted(let row), .updated(let row, _): row
        case .deleted: nil
        }
    }

    /// The row as it was below; `nil` if there was none.
    package var base: StoredRow? {
        switch self {
        case .inserted: nil
        case .updated(_, let base), .deleted(let base): base
        }
    }

    package var change: Conflict.Change {
        switch self {
        case .inserted: .insert
        case .updated: .update
        case .deleted: .delete
        }
    }

    /// The approximate number of bytes that the entry occupies in memory.
    package var byteCount: Int { (row?.byteCount ?? 0) + (base?.byteCount ?? 0) }
}
