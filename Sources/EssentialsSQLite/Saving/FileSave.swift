#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Writes pending rows into the file, within a transaction that the caller has begun as a writing one.
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
        /// Those whose `ON DELETE` changes or deletes rows.
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
        /// Afterwards the caller commits, or rolls back to have validated only. After an error the caller must roll back,
        /// because some rows are written.
        ///
        /// - Parameters:
        ///   - db: The connection, with an open transaction.
        ///   - before: The state of the file without the transaction, by which conflicts are judged.
        ///   - decide: Decides a conflict. It is called once for each. It must not use the connection.
        /// - Throws: A failure with the reason `conflict` that has all conflicts, or with `constraint` that has all
        ///   violations, at most 100 each; what `decide` has thrown; and other errors of the database as they are.
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
                    // A row that equals its base has its entry for the check of deleted parents alone.
                    if !columns.isEmpty { writes.append((key, .update(row, columns: columns, base: base))) }
                case .deleted(let base): writes.append((key, .delete(base: base)))
                }
            }
            return SavePlan(writes, foreignKeys: foreignKeys)
        }
    }

    /// The rows of the file as they were before a save has written anything.
    ///
    /// While a connection writes, no other one can, and what it has not committed is seen by itself alone. So a connection
    /// that reads during the save sees the state before it, whatever triggers and foreign keys have changed meanwhile. It is
    /// opened when the first row is judged. It is used by the one thread that saves.
    final class StateBefore {
        private let open: () throws -> DatabaseQueue
        private var queue: DatabaseQueue?
        private var statements: [String: RowStatements] = [:]

        /// - Parameter open: Opens a connection to the file, which must keep a log.
        init(_ open: @escaping () throws -> DatabaseQueue) { self.open = open }

        /// The row with an id; `nil` if there was none.
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
        /// The pending change that is written.
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
