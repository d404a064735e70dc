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

    package init(table: String, column: String, parent: String, key: String, action: Action = .noAction) {
        self.table = table
        self.column = column
        self.parent = parent
        self.key = key
        self.action = action
    }

    /// The columns alone.
    package var reference: ModelReference {
        ModelReference(table: table, column: column, parent: parent, key: key)
    }

    /// The tables whose rows may refer, through any number of other rows, to rows of the same table.
    package static func circularTables(_ keys: [ForeignKey]) -> Set<String> {
        let parents = Dictionary(grouping: keys, by: \.table).mapValues { Set($0.map(\.parent)) }
        return Set(
            parents.keys.filter { table in
                var reached: Set<String> = []
                var next = Array(parents[table] ?? [])
                while let other = next.popLast() {
                    if other == table { return true }
                    if reached.insert(other).inserted { next += parents[other] ?? [] }
                }
                return false
            })
    }
}
