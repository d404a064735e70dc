#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Writes pending rows into the file, within a writing transaction that the caller has begun.
    ///
    /// ```swift
    /// let save = FileSave(level: try machine.folded(decide: decide), models: models, schema: schema)
    /// let before = store.stateBefore()
    /// let report = try store.write { db in try save.run(db, before: before) { _ in .policy(.fail) } }
    /// ```
    struct FileSave {
        let level: OverlayLevel
        let models: [String: ModelSchema]
        let foreignKeys: [EssentialsPersistence.ForeignKey]
        /// The foreign keys whose `ON DELETE` changes or deletes rows.
        let changingKeys: [EssentialsPersistence.ForeignKey]

        /// - Parameters:
        ///   - level: All pending rows of the scopes that are saved.
        ///   - models: The models of at least the tables with pending rows.
        ///   - schema: All tables of models, and their foreign keys.
        init(level: OverlayLevel, models: [ModelSchema], schema: FileSchema) {
            self.level = level
            self.models = Dictionary(models.map { ($0.table, $0) }) { $0.adding($1) }
            foreignKeys = schema.foreignKeys
            changingKeys = foreignKeys.filter(\.action.changesChildren)
        }

        /// Writes all rows.
        ///
        /// Afterwards the caller commits, or rolls back if it only validates. After an error the caller must roll back,
        /// because some rows are written.
        ///
        /// - Parameters:
        ///   - db: The connection, with an open transaction.
        ///   - before: The state of the file without the transaction, by which conflicts are judged.
        ///   - decide: Decides a conflict. It is called once for each conflict, and must not use the connection.
        /// - Throws: A failure with the reason `conflict` that has all conflicts, or with `constraint` that has all
        ///   violations, at most 100 each; an error of `decide`; and other errors of the database unchanged.
        func run(
            _ db: Database, before: StateBefore, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws -> SaveReport {
            guard !level.isEmpty else { return SaveReport() }
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            var pass = SavePass(self, db, before)
            try pass.run(plan(), decide: decide)
            return pass.report
        }

        private func plan() -> SavePlan {
            var writes: [(key: RowKey, value: SavePlan.Write)] = []
            writes.reserveCapacity(level.count)
            level.forEach { key, entry in
                switch entry {
                case .inserted(let row): writes.append((key, .insert(row)))
                case .updated(let row, let base):
                    let columns = row.changes(from: base)
                    // A row that equals its base has an entry only for the check of deleted parents.
                    if !columns.isEmpty { writes.append((key, .update(row, columns: columns, base: base))) }
                case .deleted(let base): writes.append((key, .delete(base: base)))
                }
            }
            return SavePlan(writes, foreignKeys: foreignKeys)
        }
    }

    /// The rows of the file as they were before a save wrote its first row.
    ///
    /// While a connection writes, no other connection can write, and its uncommitted changes are visible only to
    /// itself. So a connection that reads during the save sees the state before it, whatever triggers and foreign keys
    /// have changed. It is opened when the first row is judged, and used only by the thread that saves.
    final class StateBefore {
        private let open: () throws -> DatabaseQueue
        private var queue: DatabaseQueue?
        private var statements: [String: RowStatements] = [:]

        /// - Parameter open: Opens a connection to the file, which must be in WAL mode.
        init(_ open: @escaping () throws -> DatabaseQueue) { self.open = open }

        /// The row with an id; `nil` if it did not exist.
        func row(_ id: StoredValue, model: ModelSchema, layout: RowLayout) throws -> StoredRow? {
            let queue = try self.queue ?? open()
            self.queue = queue
            return try queue.inDatabase { db in
                let known = statements[model.table].flatMap { $0.layout === layout ? $0 : nil }
                let found = try known ?? RowStatements(db, model: model, layout: layout)
                statements[model.table] = found
                return try found.read(id)
            }
        }

        /// Closes the connection.
        func close() {
            statements = [:]
            try? queue?.close()
            queue = nil
        }
    }

    extension SavePlan.Write {
        /// The pending change that this step writes.
        var entry: OverlayEntry {
            switch self {
            case .insert(let row): .inserted(row)
            case .update(let row, _, let base): .updated(row, base: base)
            case .delete(let base): .deleted(base: base)
            }
        }

        var row: StoredRow {
            switch self {
            case .insert(let row), .update(let row, _, _), .delete(let row): row
            }
        }
    }
#endif
