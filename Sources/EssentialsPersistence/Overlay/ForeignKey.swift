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

    /// Whether the store changes or deletes the children of a row that is deleted.
    package var changesChildren: Bool {
        switch action {
        case .cascade, .setNull, .setDefault: true
        case .noAction, .restrict: false
        }
    }

    /// The columns alone.
    package var reference: ModelReference {
        ModelReference(table: table, column: column, parent: parent, key: key)
    }
}
