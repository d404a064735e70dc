#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Queries over one state of the file and the pending rows of a scope, inside a transaction of a mounted
    /// connection.
    ///
    /// It is used only within the closure that receives it.
    final class MountedReads: StateReads {
        let db: Database
        let schema: FileSchema
        /// The content of the temporary tables once the transaction is committed.
        private(set) var state: MountState
        private var pendingTables: Set<String> = []
        /// The error that left the temporary tables between two states.
        private var failure: (any Error)?

        init(db: Database, schema: FileSchema, state: MountState) {
            self.db = db
            self.schema = schema
            self.state = state
        }

        func isPending(_ table: String) -> Bool { pendingTables.contains(table) }

        /// Pins a state of the file, takes the levels that belong to it, and writes their changes.
        func begin(scope: UInt64, pin: (() throws -> Void) throws -> OverlayMachine) throws {
            let changes = try pinned(scope: scope, pin: pin)
            try write(changes)
        }

        /// The levels are released when this function returns, before anything is written.
        private func pinned(
            scope: UInt64, pin: (() throws -> Void) throws -> OverlayMachine
        ) throws -> MountChanges {
            // The statement is prepared now, so that others wait for only one step of it.
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM main.sqlite_master")
            var isPinned = false
            let machine = try pin {
                // BEGIN alone takes no snapshot.
                _ = try Row.fetchOne(statement)
                isPinned = true
            }
            guard isPinned else { throw PersistenceFailure(.work, "The state of the file was not pinned.") }
            pendingTables = machine.pendingTables
            return state.begin(machine, scope: scope)
        }

        /// Brings the temporary tables up to date with changed levels within the transaction.
        ///
        /// - Parameter machine: The levels of the scope as they were at the beginning, and one further level on top
        ///   with the changes of a unit of work. Its version only grows. When the transaction ends, the further level
        ///   is considered dropped: the next read writes the rows that it has changed again.
        /// - Throws: An error. The transaction must then end with this error.
        func apply(_ machine: OverlayMachine) throws {
            if let failure { throw failure }
            pendingTables = machine.pendingTables
            try write(state.advance(to: machine))
        }

        /// Checks that the temporary tables hold one state, which the transaction may commit.
        func end() throws {
            if let failure { throw failure }
            state.end()
        }

        func hiddenRows(of table: String, count: () throws -> Int) throws -> Int {
            let version = try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA main.data_version")) ?? 0
            if let known = state.hidden[table], known.fileVersion == version { return known.count }
            let count = try count()
            state.hidden[table] = MountState.HiddenRows(fileVersion: version, count: count)
            return count
        }

        // MARK: Writing

        private func write(_ changes: MountChanges) throws {
            do {
                if changes.isFromScratch {
                    try Self.clear(state.mounted, schema, db)
                    state.hidden = [:]
                }
                for (table, list) in changes.tables where !list.isEmpty {
                    try write(list, to: table)
                    state.hidden[table] = nil
                }
            } catch {
                failure = error
                throw error
            }
        }

        private func write(_ changes: [MountChanges.Change], to name: String) throws {
            let table = try schema.table(name)
            let sql = PendingSQL(table: table)
            if !state.mounted.contains(name) {
                // If the tables do not exist, there is nothing to remove.
                guard changes.contains(where: { $0.finding != .stored }) else { return }
                for statement in sql.creation { try db.execute(sql: statement) }
                state.mounted.insert(name)
            }
            let putRow = try db.cachedStatement(sql: sql.putRow)
            let removeRow = try db.cachedStatement(sql: sql.removeRow)
            let hide = try db.cachedStatement(sql: sql.hide)
            let show = try db.cachedStatement(sql: sql.show)
            for change in changes {
                let id: StatementArguments = [change.id.databaseValue]
                switch change.finding {
                case .pending(let row, _):
                    try hide.execute(arguments: id)
                    try putRow.execute(arguments: Self.arguments(row, table.layout))
                    state.written += 1
                case .deleted:
                    try hide.execute(arguments: id)
                    try removeRow.execute(arguments: id)
                    state.written += 1
                case .stored:
                    try show.execute(arguments: id)
                    try removeRow.execute(arguments: id)
                }
            }
        }

        /// The values of a row in the order of the table's columns. Columns that the row lacks are NULL.
        private static func arguments(_ row: StoredRow, _ layout: RowLayout) -> StatementArguments {
            if row.layout === layout { return StatementArguments(row.values.map(\.databaseValue)) }
            return StatementArguments(layout.names.map { (row[$0] ?? .null).databaseValue })
        }

        static func clear(_ tables: Set<String>, _ schema: FileSchema, _ db: Database) throws {
            for name in tables {
                for statement in PendingSQL(table: try schema.table(name)).clearing {
                    try db.cachedStatement(sql: statement).execute()
                }
            }
        }
    }
#endif
