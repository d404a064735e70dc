#if Persistence
    import EssentialsPersistence
    import GRDB

    /// One save: what has been written so far, and what stands in its way.
    struct SavePass {
        /// A write whose place in the order, or whose row, has been judged.
        private enum Change {
            case insert(StoredRow)
            case update(StoredRow, columns: [Int])
            case delete
        }

        /// A write that has failed, but may succeed after others.
        private struct Blocked {
            let key: RowKey
            let change: Change
            let statements: RowStatements
            var error: DatabaseError
        }

        /// The maximum number of times that blocked writes are tried again.
        private static let maximumTries = 16

        private(set) var report = SaveReport()
        private let save: FileSave
        private let db: Database
        private let keys: [String: String]
        /// The tables whose deletions may delete other rows of the same table.
        private let circular: Set<String>
        private var tables: [String: RowStatements] = [:]
        private var conflicts: [Conflict] = []
        private var violations = ViolationList()
        private var blocked: [Blocked] = []
        /// The rows that could not be written.
        private var failed: Set<RowKey> = []

        init(_ save: FileSave, _ db: Database) {
            self.save = save
            self.db = db
            keys = save.models.mapValues(\.key)
            circular = EssentialsPersistence.ForeignKey.circularTables(save.foreignKeys)
        }

        /// Makes all writes of a plan. See ``FileSave/run(_:decide:)``.
        mutating func run(
            _ plan: SavePlan, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws {
            var judged: [RowKey: Change?] = [:]
            var isJudged = circular.isEmpty
            for step in plan.steps {
                guard conflicts.count < OverlayMachine.maximumConflicts else { break }
                if case .delete = step.write, !isJudged {
                    isJudged = true
                    judged = try judgeDeletions(plan, decide: decide)
                }
                if let change = judged[step.key] {
                    if let change { try write(change, at: step.key, try statements(step.key, step.write.row)) }
                } else {
                    try write(step, decide: decide)
                }
            }
            guard conflicts.isEmpty else { throw OverlayMachine.conflictFailure(conflicts) }
            try retry()
            if ForeignKeyCheck.isNeeded(db) {
                try ForeignKeyCheck(keys: keys, level: save.level, failed: failed).run(db, into: &violations)
            }
            guard violations.isEmpty else { throw violations.failure }
        }

        private mutating func statements(_ key: RowKey, _ row: StoredRow) throws(PersistenceFailure) -> RowStatements {
            if let found = tables[key.table], found.layout === row.layout || found.layout.names == row.layout.names {
                return found
            }
            guard let model = save.models[key.table] else {
                throw PersistenceFailure(
                    .invalidModel, "The store has no model of \(key.table).", model: key.table, ids: [key.id])
            }
            let new = try RowStatements(db, model: model, layout: row.layout)
            tables[key.table] = new
            return new
        }

        // MARK: Conflicts

        /// Judges the deletions whose rows may be gone, through others of them, when their turn comes.
        private mutating func judgeDeletions(
            _ plan: SavePlan, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws -> [RowKey: Change?] {
            var judged: [RowKey: Change?] = [:]
            for step in plan.steps where circular.contains(step.key.table) {
                guard conflicts.count < OverlayMachine.maximumConflicts else { break }
                guard case .delete = step.write else { continue }
                let statements = try statements(step.key, step.write.row)
                judged[step.key] = .some(try judge(step, statements, decide: decide))
            }
            return judged
        }

        /// The change that a step means over the row as it is now; `nil` for none.
        private mutating func judge(
            _ step: SavePlan.Step, _ statements: RowStatements,
            decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws -> Change? {
            let entry = step.write.entry
            let theirs = try statements.read(step.key.id)
            switch try ConflictRules.outcome(of: entry, at: step.key, theirs: theirs, decide: decide) {
            case .conflict(let conflict): conflicts.append(conflict)
            case .keep: report.kept += entry.row == theirs ? 0 : 1
            case .apply(let row):
                guard let row else { return .delete }
                guard row.layout.names == statements.layout.names, row[keys[step.key.table] ?? ""] == step.key.id else {
                    throw PersistenceFailure(
                        .invalidModel, "The row that decides a conflict has other columns or another id.",
                        model: step.key.table, ids: [step.key.id])
                }
                guard let theirs else { return .insert(row) }
                let columns = statements.written(row.changes(from: theirs), of: row, entry)
                // Merged columns may be those that others have made already.
                return columns.isEmpty ? nil : .update(row, columns: columns)
            }
            return nil
        }

        // MARK: Writes

        private mutating func write(
            _ step: SavePlan.Step, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws {
            let statements = try statements(step.key, step.write.row)
            if try attempt(step, statements) { return }
            if let change = try judge(step, statements, decide: decide) {
                try write(change, at: step.key, statements)
            }
        }

        /// Makes a change if the row is as it was seen, and returns whether the change is dealt with.
        private mutating func attempt(_ step: SavePlan.Step, _ statements: RowStatements) throws -> Bool {
            // With `&&` in a `switch` expression, Swift 6.3 releases the rows twice if the statement throws.
            switch step.write {
            case .insert(let row):
                return try attempt(.insert(row), at: step.key, statements, existing: true) { () throws in
                    try statements.insert(row)
                    return true
                }
            case .update(let row, let columns, let base):
                guard statements.canCompare(base) else { return false }
                let columns = statements.written(columns, of: row, step.write.entry)
                return try attempt(.update(row, columns: columns), at: step.key, statements) { () throws in
                    try statements.update(row, columns: columns, ifEqualTo: base)
                }
            case .delete(let base):
                guard statements.canCompare(base) else { return false }
                return try attempt(.delete, at: step.key, statements) { () throws in
                    try statements.delete(ifEqualTo: base)
                }
            }
        }

        /// Writes a change that has been judged.
        private mutating func write(_ change: Change, at key: RowKey, _ statements: RowStatements) throws {
            let isDone = try attempt(change, at: key, statements) { () throws in
                try Self.execute(change, at: key, statements)
            }
            if !isDone { try writeAgain(change, at: key, statements) }
        }

        private static func execute(_ change: Change, at key: RowKey, _ statements: RowStatements) throws -> Bool {
            switch change {
            case .insert(let row):
                try statements.insert(row)
                return true
            case .update(let row, let columns): return try statements.update(row, columns: columns, id: key.id)
            case .delete: return try statements.delete(key.id)
            }
        }

        /// Handles a row that was there when it was judged, and has been deleted since by the store itself.
        private mutating func writeAgain(_ change: Change, at key: RowKey, _ statements: RowStatements) throws {
            guard case .update(let row, _) = change else {
                report.deleted += 1
                report.cascaded = max(report.cascaded - 1, 0)
                return
            }
            if try attempt(.insert(row), at: key, statements, { try Self.execute(.insert(row), at: key, statements) }),
                !failed.contains(key)
            {
                report.inserted -= 1
                report.updated += 1
                report.cascaded = max(report.cascaded - 1, 0)
            }
        }

        /// Executes one statement, and counts what it and the store have done.
        ///
        /// - Parameters:
        ///   - existing: Whether a row with this id, if there is one, is the cause of every violation.
        /// - Returns: Whether the change is dealt with: it is made, or its violation is noted. Otherwise no row has fitted.
        private mutating func attempt(
            _ change: Change, at key: RowKey, _ statements: RowStatements, existing: Bool = false,
            _ execute: () throws -> Bool
        ) throws -> Bool {
            let before = db.totalChangesCount
            do {
                guard try execute() else { return false }
                count(change, before: before)
                return true
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                // A trigger can roll the whole transaction back.
                guard db.isInsideTransaction else { throw error }
                if existing, try statements.read(key.id) != nil { return false }
                failed.insert(key)
                if ConstraintReading.mayPass(error) {
                    blocked.append(Blocked(key: key, change: change, statements: statements, error: error))
                } else {
                    try note(error, at: key)
                }
                return true
            }
        }

        private mutating func count(_ change: Change, before: Int) {
            switch change {
            case .insert: report.inserted += 1
            case .update: report.updated += 1
            case .delete: report.deleted += 1
            }
            report.cascaded += max(db.totalChangesCount - before - 1, 0)
        }

        // MARK: Violations

        /// Tries blocked writes again until no more of them succeed. Values that move along a row of rows come free one
        /// after the other, so the direction alternates.
        private mutating func retry() throws {
            var tries = 0
            var count = Int.max
            while !blocked.isEmpty, blocked.count < count, tries < Self.maximumTries {
                count = blocked.count
                tries += 1
                let again = blocked.reversed()
                blocked = []
                for write in again {
                    failed.remove(write.key)
                    try self.write(write.change, at: write.key, write.statements)
                }
            }
            for write in blocked { try note(write.error, at: write.key) }
        }

        private mutating func note(_ error: DatabaseError, at key: RowKey) throws {
            guard !violations.isFull else { return }
            guard let violation = try ConstraintReading.violation(error, at: key, db) else {
                guard error.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE else { throw error }
                throw PersistenceFailure(
                    .invalidModel, "The table refuses the type of a value: \(error.message ?? "no text").",
                    model: key.table, ids: [key.id], underlying: error)
            }
            if violation.kind == .foreignKey {
                var children = ViolationList()
                try ForeignKeyCheck.addChildren(of: key, save.foreignKeys, keys: keys, db, &children)
                for child in children.violations { violations.append(child) }
                if !children.isEmpty { return }
            }
            violations.append(violation)
        }
    }
#endif
