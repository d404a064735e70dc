/// A foreign key: columns of one table, and the columns of another table that they refer to.
package struct ForeignKey: Sendable, Hashable {
    /// The effect of a deletion on the children of the deleted row.
    package enum Action: String, Sendable, Hashable, CaseIterable {
        /// The children stay. The transaction fails at its end if they still exist.
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

    /// The table whose rows are the children.
    package let table: String
    /// The columns that refer.
    package let columns: [String]
    /// The table that is referred to.
    package let parent: String
    /// The columns that are referred to, one for each column.
    package let keys: [String]
    /// The effect of a deletion of the parent.
    package let action: Action
    /// The new value of the only column with ``Action/setDefault``; `nil` if it is unknown.
    package let defaultValue: StoredValue?

    package init(
        table: String, columns: [String], parent: String, keys: [String], action: Action = .noAction,
        defaultValue: StoredValue? = nil
    ) {
        self.table = table
        self.columns = columns
        self.parent = parent
        self.keys = keys
        self.action = action
        self.defaultValue = defaultValue
    }

    /// Creates a foreign key of one column.
    package init(
        table: String, column: String, parent: String, key: String, action: Action = .noAction,
        defaultValue: StoredValue? = nil
    ) {
        self.init(
            table: table, columns: [column], parent: parent, keys: [key], action: action, defaultValue: defaultValue)
    }

    /// One reference for each column.
    package var references: [ModelReference] {
        zip(columns, keys).map { ModelReference(table: table, column: $0, parent: parent, key: $1) }
    }

    /// The reference of a foreign key of one column; `nil` if it has several.
    package var reference: ModelReference? { columns.count == 1 ? references.first : nil }

    /// The values by which a child refers to its parent; `nil` if one of them is NULL, so that the child has no parent.
    package func reference(of child: StoredRow?) -> [StoredValue]? { Self.values(of: child, columns) }

    /// The values by which children refer to a parent.
    package func key(of parent: StoredRow?) -> [StoredValue]? { Self.values(of: parent, keys) }

    private static func values(of row: StoredRow?, _ columns: [String]) -> [StoredValue]? {
        guard let row else { return nil }
        let values = columns.compactMap { row[$0] }
        return values.count == columns.count && !values.contains(where: \.isNull) ? values : nil
    }
}
