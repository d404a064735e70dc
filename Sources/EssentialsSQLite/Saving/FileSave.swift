#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Writes pending rows into the file, within a transaction that the caller has begun as a writing one.
    ///
    /// ```swift
    /// let save = FileSave(level: try machine.folded(decide: decide), models: models, foreignKeys: foreignKeys)
    /// let report = try store.write { db in try save.run(db) { _ in .policy(.fail) } }
    /// ```
    struct FileSave {
        let level: OverlayLevel
        let models: [String: ModelSchema]
        let foreignKeys: [EssentialsPersistence.ForeignKey]

        /// - Parameters:
        ///   - level: All pending rows of the scopes that are saved.
        ///   - models: The models of at least the tables with pending rows.
        ///   - foreignKeys: All foreign keys of the file.
        init(level: OverlayLevel, models: [ModelSchema], foreignKeys: [EssentialsPersistence.ForeignKey]) {
            self.level = level
            self.models = Dictionary(models.map { ($0.table, $0) }) { $0.adding($1) }
            self.foreignKeys = foreignKeys
        }

        /// Writes all rows.
        ///
        /// Afterwards the caller commits, or rolls back to have validated only. After an error the caller must roll back,
        /// because some rows are written.
        ///
        /// - Parameters:
        ///   - db: The connection, with an open transaction.
        ///   - decide: Decides a conflict. It is called once for each. It must not use the connection.
        /// - Throws: A failure with the reason `conflict` that has all conflicts, or with `constraint` that has all
        ///   violations, at most 100 each; what `decide` has thrown; and other errors of the database as they are.
        func run(
            _ db: Database, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws -> SaveReport {
            guard !level.isEmpty else { return SaveReport() }
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            var pass = SavePass(self, db)
            try pass.run(plan(), decide: decide)
            return pass.report
        }

        private func plan() -> SavePlan {
            var writes: [RowKey: SavePlan.Write] = [:]
            writes.reserveCapacity(level.count)
            level.forEach { key, entry in
                writes[key] =
                    switch entry {
                    case .inserted(let row): .insert(row)
                    case .updated(let row, let base): .update(row, columns: row.changes(from: base), base: base)
                    case .deleted(let base): .delete(base: base)
                    }
            }
            return SavePlan(writes, references: foreignKeys.map(\.reference))
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
