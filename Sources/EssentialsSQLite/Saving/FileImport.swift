#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Writes one batch of an import into the file, within a writing transaction that the caller has begun.
    struct FileImport {
        let table: TableSchema
        /// The columns of the model. All others get their defaults in new rows, and stay unchanged in replaced rows.
        let columns: Set<String>
        let rows: [RowChange]
        let conflict: ImportConflict

        /// - Returns: The report, and the keys of the changed rows.
        /// - Throws: A failure with the reason `constraint` that has all violations, at most 100, and other errors of
        ///   the database unchanged. Then the caller must roll back.
        func run(_ db: Database) throws -> (report: SaveReport, changed: Set<RowKey>) {
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            var pass = try ImportPass(self, db)
            for row in rows where !pass.violations.isFull { try pass.write(row) }
            if pass.violations.isEmpty, ForeignKeyCheck.isNeeded(db) {
                try ForeignKeyCheck(keys: [table.name: table.key], level: level(), failed: [])
                    .run(db, into: &pass.violations)
            }
            guard pass.violations.isEmpty else { throw pass.violations.failure }
            return (pass.report, pass.changed)
        }

        /// All rows as pending rows.
        private func level() throws(PersistenceFailure) -> OverlayLevel {
            var level = OverlayLevel(limits: .unlimited)
            for row in rows { try level.place(row.row, at: RowKey(table: row.table, id: row.id), below: nil) }
            return level
        }
    }

    /// The progress of one batch: its report and its violations so far.
    private struct ImportPass {
        private(set) var report = SaveReport()
        private(set) var changed: Set<RowKey> = []
        var violations = ViolationList()

        private struct Texts {
            let insert: String
            /// An insertion that leaves an existing row unchanged.
            let add: String
            let update: String
        }

        private struct Statements {
            let insert: Statement
            let add: Statement
            let update: Statement

            init(_ texts: Texts, _ db: Database) throws {
                insert = try db.cachedStatement(sql: texts.insert)
                add = try db.cachedStatement(sql: texts.add)
                update = try db.cachedStatement(sql: texts.update)
            }
        }

        private let db: Database
        private let conflict: ImportConflict
        /// The indices of the written columns in the rows.
        private let columns: [Int]
        private let texts: Texts
        private var statements: Statements

        init(_ batch: FileImport, _ db: Database) throws {
            self.db = db
            conflict = batch.conflict
            columns = batch.table.layout.names.indices.filter { batch.columns.contains(batch.table.layout.names[$0]) }
            let names = columns.map { SQLBuilder.quoted(batch.table.layout.names[$0]) }
            let key = SQLBuilder.quoted(batch.table.key)
            let target = "main.\(SQLBuilder.quoted(batch.table.name))"
            let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
            let sql = "INSERT OR ABORT INTO \(target)(\(names.joined(separator: ", "))) VALUES (\(places))"
            let assignments = names.map { "\($0) = ?" }.joined(separator: ", ")
            texts = Texts(
                insert: sql, add: sql + " ON CONFLICT DO NOTHING",
                // The key is also compared by its bytes, because its index may have a collation.
                update: "UPDATE OR ABORT \(target) SET \(assignments) WHERE \(key) = ? AND \(key) COLLATE BINARY = ?")
            statements = try Statements(texts, db)
            changed.reserveCapacity(batch.rows.count)
        }

        mutating func write(_ change: RowChange) throws {
            let key = RowKey(table: change.table, id: change.id)
            let values = columns.map { change.row.values[$0].databaseValue }
            do {
                try write(key, StatementArguments(values))
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                // A trigger can roll the whole transaction back.
                guard db.isInsideTransaction, let violation = try ConstraintReading.violation(error, at: key, db) else {
                    throw error
                }
                violations.append(violation)
                // A failed statement would report its error again.
                statements = try Statements(texts, db)
            }
        }

        private mutating func write(_ key: RowKey, _ values: StatementArguments) throws {
            if conflict == .fail { return try insert(key, values) }
            if try execute(statements.add, values) { return insert(key) }
            if conflict == .ignore {
                report.kept += 1
                return
            }
            let id = key.id.databaseValue
            if try execute(statements.update, values + [id, id]) {
                report.updated += 1
                changed.insert(key)
                return
            }
            // The row has another id. The error of the insertion says which value is taken.
            try insert(key, values)
        }

        private mutating func insert(_ key: RowKey, _ values: StatementArguments) throws {
            // A trigger of the table can ignore the row.
            if try execute(statements.insert, values) { insert(key) } else { report.kept += 1 }
        }

        private mutating func insert(_ key: RowKey) {
            report.inserted += 1
            changed.insert(key)
        }

        /// Executes a statement, and returns whether it has written a row.
        private mutating func execute(_ statement: Statement, _ arguments: StatementArguments) throws -> Bool {
            let before = db.totalChangesCount
            try statement.execute(arguments: arguments)
            let count = db.totalChangesCount - before
            let isWritten = count > 0 && db.changesCount > 0
            report.cascaded += max(count - (isWritten ? 1 : 0), 0)
            return isWritten
        }
    }
#endif
