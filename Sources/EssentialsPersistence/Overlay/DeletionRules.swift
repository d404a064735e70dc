/// Decides how a deletion changes the children of the deleted rows.
///
/// ```swift
/// let rules = DeletionRules(foreignKeys: keys)
/// let changes = try rules.changes(deleting: [film]) { (reference, values) throws(PersistenceFailure) in
///     try children(reference, values)
/// }
/// ```
package struct DeletionRules: Sendable {
    /// A row as the scope sees it.
    package struct Found: Sendable, Hashable {
        package let key: RowKey
        package let row: StoredRow

        package init(key: RowKey, row: StoredRow) {
            self.key = key
            self.row = row
        }
    }

    /// The change of one row.
    package struct Change: Sendable, Hashable {
        package let key: RowKey
        /// The new row; `nil` if it is deleted.
        package let row: StoredRow?
    }

    /// The foreign keys that the scope applies itself, by their parent tables.
    private let foreignKeys: [String: [(key: ForeignKey, reference: ModelReference)]]

    /// - Parameter foreignKeys: All foreign keys of the file. The store handles those with several columns.
    package init(foreignKeys: [ForeignKey]) {
        let followed = foreignKeys.filter(\.isFollowed).compactMap { key in
            key.reference.map { (key: key, reference: $0) }
        }
        self.foreignKeys = Dictionary(grouping: followed, by: \.key.parent)
    }

    /// The changes that a deletion makes: first updates that clear references, then deletions, children first.
    ///
    /// - Parameters:
    ///   - rows: The rows to delete, as the scope sees them.
    ///   - limit: The maximum number of rows that the deletion may change.
    ///   - children: Finds the rows of the reference's table, as the scope sees them, whose column has one of the
    ///     values. It is called once for each foreign key and generation.
    /// - Throws: A failure with the reason `constraint` that names the children that restrict the deletion, with
    ///   `limit` for too many rows, or an error of `children`.
    package func changes(
        deleting rows: [Found], limit: Int = OverlayLimits().rows,
        children: (ModelReference, [StoredValue]) throws(PersistenceFailure) -> [Found]
    ) throws(PersistenceFailure) -> [Change] {
        var deleted: Set<RowKey> = []
        var order: [RowKey] = []
        var updated: [RowKey: StoredRow] = [:]
        var updates: [RowKey] = []
        var restricting: [(reference: ModelReference, child: RowKey)] = []
        var generation = rows.filter { deleted.insert($0.key).inserted }
        while !generation.isEmpty {
            order += generation.map(\.key)
            var next: [Found] = []
            for (foreignKey, reference, values) in relations(generation) {
                for child in try children(reference, values) where !deleted.contains(child.key) {
                    switch foreignKey.action {
                    case .cascade:
                        deleted.insert(child.key)
                        next.append(child)
                    case .setNull, .setDefault:
                        guard let column = child.row.layout.index(of: reference.column) else { continue }
                        if updated[child.key] == nil { updates.append(child.key) }
                        // Another column of the row may have been set before.
                        var row = updated[child.key] ?? child.row
                        row.values[column] = foreignKey.action == .setNull ? .null : foreignKey.defaultValue ?? .null
                        updated[child.key] = row
                    case .restrict: restricting.append((reference, child.key))
                    case .noAction: break
                    }
                    guard deleted.count + updates.count + restricting.count <= limit else {
                        throw tooMany(rows, limit)
                    }
                }
            }
            generation = next
        }
        try check(restricting.filter { !deleted.contains($0.child) })
        return updates.filter { !deleted.contains($0) }.map { Change(key: $0, row: updated[$0]) }
            + order.reversed().map { Change(key: $0, row: nil) }
    }

    /// The foreign keys that refer to the rows, with the values that they refer to.
    private func relations(
        _ rows: [Found]
    ) -> [(key: ForeignKey, reference: ModelReference, values: [StoredValue])] {
        let tables = Dictionary(grouping: rows, by: \.key.table)
        return tables.keys.sorted().flatMap { table in
            (foreignKeys[table] ?? []).map { key, reference in
                (key, reference, (tables[table] ?? []).compactMap { $0.row[reference.key] }.filter { !$0.isNull })
            }
        }
    }

    private func check(_ restricting: [(reference: ModelReference, child: RowKey)]) throws(PersistenceFailure) {
        guard !restricting.isEmpty else { return }
        var list = ViolationList()
        for (reference, child) in restricting {
            list.append(
                ConstraintViolation(
                    .foreignKey, table: reference.table, columns: [reference.column], parent: reference.parent,
                    ids: [child.id]))
        }
        throw list.failure
    }

    private func tooMany(_ rows: [Found], _ limit: Int) -> PersistenceFailure {
        PersistenceFailure(
            .limit, "The deletion changes more than \(limit) rows.",
            remedy: "Delete fewer rows at once, or raise the store's limits of pending rows.",
            model: Set(rows.map(\.key.table)).count == 1 ? rows.first?.key.table : nil)
    }
}

extension ForeignKey {
    /// Whether the scope itself shows the effect of a deletion on the children. An unknown default is left to the
    /// store.
    fileprivate var isFollowed: Bool {
        switch action {
        case .cascade, .setNull, .restrict: true
        case .setDefault: defaultValue != nil
        case .noAction: false
        }
    }
}
