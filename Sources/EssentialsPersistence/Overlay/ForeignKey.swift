/// A foreign key of one column: the column, and the one that it refers to.
package struct ForeignKey: Sendable, Hashable {
    /// What happens to the children of a row that is deleted.
    package enum Action: String, Sendable, Hashable, CaseIterable {
        /// The children stay, which fails at the end of the transaction unless they are gone by then.
        case noAction = "NO ACTION"
        /// The deletion fails.
        case restrict = "RESTRICT"
        /// The children refer to no row any more.
        case setNull = "SET NULL"
        /// The children refer to the row that the column's default names.
        case setDefault = "SET DEFAULT"
        /// The children are deleted.
        case cascade = "CASCADE"

        /// Whether the store changes or deletes the children of a row that is deleted.
        package var changesChildren: Bool {
            switch self {
            case .cascade, .setNull, .setDefault: true
            case .noAction, .restrict: false
            }
        }
    }

    /// The table with the column, whose rows are the children.
    package let table: String
    /// The column that refers.
    package let column: String
    /// The table that is referred to.
    package let parent: String
    /// The column that is referred to.
    package let key: String
    /// What happens when the parent is deleted.
    package let action: Action
    /// What the column becomes with ``Action/setDefault``; `nil` if that is not known.
    package let defaultValue: StoredValue?

    package init(
        table: String, column: String, parent: String, key: String, action: Action = .noAction,
        defaultValue: StoredValue? = nil
    ) {
        self.table = table
        self.column = column
        self.parent = parent
        self.key = key
        self.action = action
        self.defaultValue = defaultValue
    }

    /// The columns alone.
    package var reference: ModelReference {
        ModelReference(table: table, column: column, parent: parent, key: key)
    }
}

/// A foreign key of any number of columns whose `ON DELETE` changes or deletes the children of a row that is deleted.
package struct ChangingForeignKey: Sendable, Hashable {
    /// The table whose rows are the children.
    package let table: String
    /// The columns that refer.
    package let columns: [String]
    /// The table that is referred to.
    package let parent: String
    /// The columns that are referred to, one for each column.
    package let keys: [String]

    package init(table: String, columns: [String], parent: String, keys: [String]) {
        (self.table, self.columns, self.parent, self.keys) = (table, columns, parent, keys)
    }

    /// The values by which a child refers to its parent; `nil` if it refers to none, because one is NULL.
    package func reference(of child: StoredRow?) -> [StoredValue]? { Self.values(of: child, columns) }

    /// The values by which children refer to a parent.
    package func key(of parent: StoredRow?) -> [StoredValue]? { Self.values(of: parent, keys) }

    private static func values(of row: StoredRow?, _ columns: [String]) -> [StoredValue]? {
        guard let row else { return nil }
        let values = columns.compactMap { row[$0] }
        return values.count == columns.count && !values.contains(where: \.isNull) ? values : nil
    }
}
