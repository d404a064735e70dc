#if Persistence
    import EssentialsPersistence
    import GRDB

    /// One running save: its report, its blocked writes, its conflicts and its violations so far.
    struct SavePass {
        /// A write that has been checked against the row in the file.
        private enum Change {
            case insert(StoredRow)
            /// - Parameter isNew: Whether the save creates the row, which a trigger has already inserted.
            case update(StoredRow, columns: [Int], isNew: Bool)
            case delete

            /// The row that is written; `nil` if it is deleted.
            var row: StoredRow? {
                switch self {
                case .insert(let row), .update(let row, _, _): row
                case .delete: nil
                }
            }
        }

        /// The outcome of a statement.
        private enum Outcome {
            case written
            /// A trigger of the table has ignored the row.
            case ignored
            /// The row does not exist, or a trigger has ignored it.
            case noRow
        }

        /// A failed write that may succeed after others.
        private struct Blocked {
            let key: RowKey
            let change: Change
            let statements: RowStatements
            var error: DatabaseError
        }

        /// The number of steps from which circles of rows are broken before they are deleted. In SQLite a deletion
        /// cascades through at most a thousand rows in a chain.
        private static let longCircle = 500

        private(set) var report = SaveReport()
        let save: FileSave
        let db: Database
        let before: StateBefore
        private let keys: [String: String]
        private var tables: [String: RowStatements] = [:]
        private var conflicts: [Conflict] = []
        var violations = ViolationList()
        private var blocked: [Blocked] = []
        /// The rows that could not be written.
        var failed: Set<RowKey> = []
        /// The rows whose pending change a policy has dropped.
        var dropped: Set<RowKey> = []
        /// The rows that the decision of a conflict has replaced by other ones.
        var decided: [RowKey: StoredRow] = [:]
        /// The rows that a trigger has kept unchanged.
        var ignored: Set<RowKey> = []
        /// The rows with a temporary value, because another row needs their own.
        private var movedAside: Set<RowKey> = []
        /// The keys of deleted rows that other rows refer to.
        let deleted: DeletedParentKeys
        /// Whether the store itself has changed rows because of a deletion.
        var hasCascaded = false
        private var uniqueValues: UniqueValues

        init(_ save: FileSave, _ db: Database, _ before: StateBefore) {
            self.save = save
            self.db = db
            self.before = before
            keys = save.models.mapValues(\.key)
            uniqueValues = UniqueValues(db)
            deleted = DeletedParentKeys(save)
        }

        /// Makes all writes of a plan. See ``FileSave/run(_:before:decide:)``.
        mutating func run(
            _ plan: SavePlan, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws {
            try breakCircles(plan)
            try write(plan, decide: decide)
            guard conflicts.isEmpty else { throw PersistenceFailure.conflicts(conflicts) }
            let rest = try retry()
            for write in rest { try note(write.error, at: write.key) }
            try checkChildren()
            if ForeignKeyCheck.isNeeded(db) {
                try ForeignKeyCheck(keys: keys, level: save.level, failed: failed).run(db, into: &violations)
            }
            guard violations.isEmpty else { throw violations.failure }
        }

        /// Makes the writes in their order.
        ///
        /// Rows that wait for a value of another row are updated, if possible, before `ON DELETE` of their old parent
        /// would change or delete them. Rows that will refer to a value of a deleted row come last, because another row
        /// may take over the value.
        private mutating func write(
            _ plan: SavePlan, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws {
            let deletions = plan.steps[plan.deletions]
            let first = plan.steps[..<plan.deletions.lowerBound]
            let last = deleted.isEmpty ? [] : first.filter { refersToDeleted($0.write.row, at: $0.key) }
            let late = Set(last.map(\.key))
            try write(late.isEmpty ? first : ArraySlice(first.filter { !late.contains($0.key) }), decide: decide)
            var others = plan.steps[plan.deletions.upperBound...]
            if !blocked.isEmpty, deletions.contains(where: { hasChangingChildren($0.key.table) }) {
                let updates = others.prefix { !$0.isInsertion }
                try write(updates, decide: decide)
                others = others[updates.endIndex...]
                blocked = try retry()
            }
            var table: String?
            for step in deletions {
                guard conflicts.count < Conflict.maximum else { return }
                if step.key.table != table {
                    table = step.key.table
                    if !blocked.isEmpty, hasChangingChildren(step.key.table) { blocked = try retry() }
                }
                try write(step, decide: decide)
            }
            try write(others, decide: decide)
            try write(last[...], decide: decide)
        }

        private mutating func write(
            _ steps: ArraySlice<SavePlan.Step>, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws {
            for step in steps {
                guard conflicts.count < Conflict.maximum else { return }
                try write(step, decide: decide)
            }
        }

        /// Whether the deletion of a row of a table may change or delete rows that refer to it.
        private func hasChangingChildren(_ table: String) -> Bool {
            save.changingKeys.contains { $0.parent == table }
        }

        mutating func statements(_ key: RowKey, _ row: StoredRow) throws(PersistenceFailure) -> RowStatements {
            if let found = tables[key.table], found.layout === row.layout || found.layout.names == row.layout.names {
                return found
            }
            let new = try RowStatements(db, model: model(key), layout: row.layout)
            tables[key.table] = new
            return new
        }

        func model(_ key: RowKey) throws(PersistenceFailure) -> ModelSchema {
            if let model = save.models[key.table] { return model }
            throw PersistenceFailure(
                .invalidModel, "The store has no model of \(key.table).", model: key.table, ids: [key.id])
        }

        /// Clears references in long circles, so that deleting one of the rows does not cascade to all others. A row
        /// stays as it is if its reference is required or if the row was changed.
        private func breakCircles(_ plan: SavePlan) throws {
            guard !plan.circles.isEmpty, plan.steps.count >= Self.longCircle else { return }
            for (key, columns) in plan.circles {
                guard case .deleted(let base) = save.level.entry(key) else { continue }
                let cascading = columns.filter { column in
                    save.foreignKeys.contains {
                        $0.table == key.table && $0.columns == [column] && $0.action == .cascade
                    }
                }
                let indices = cascading.compactMap { base.layout.index(of: $0) }
                var values = base.values
                for index in indices { values[index] = .null }
                guard !indices.isEmpty, let row = StoredRow(base.layout, values) else { continue }
                let statements = try RowStatements(db, model: model(key), layout: base.layout)
                do {
                    _ = try statements.update(row, columns: indices, ifEqualTo: base)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                    guard db.isInsideTransaction else { throw error }
                }
            }
        }

        // MARK: Conflicts

        /// The change of a step, relative to the row before the save; `nil` if nothing changes.
        private mutating func judge(
            _ step: SavePlan.Step, _ statements: RowStatements,
            decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
        ) throws -> Change? {
            let (key, entry) = (step.key, step.write.entry)
            let now = try statements.read(key.id)
            // Changes that the save itself has made through triggers and foreign keys are not changes by others.
            let theirs =
                now == entry.base ? now : try before.row(key.id, model: model(key), layout: statements.layout)
            switch try ConflictRules.outcome(of: entry, at: key, theirs: theirs, decide: decide) {
            case .conflict(let conflict): conflicts.append(conflict)
            case .keep:
                guard entry.row != theirs else { break }
                report.kept += 1
                dropped.insert(key)
            case .apply(let row):
                guard let row else { return .delete }
                guard row.layout.names == statements.layout.names, row[keys[key.table] ?? ""] == key.id else {
                    throw PersistenceFailure(
                        .invalidModel, "The row that decides a conflict has other columns or another id.",
                        model: key.table, ids: [key.id])
                }
                if row != entry.row { decided[key] = row }
                guard let theirs else {
                    guard now != nil else { return .insert(row) }
                    let columns = row.layout.names.indices.filter { $0 != statements.keyIndex }
                    return .update(row, columns: statements.written(columns, of: row, entry), isNew: true)
                }
                let columns = statements.written(row.changes(from: theirs), of: row, entry)
                // Others may already have made all changes of merged columns.
                return columns.isEmpty ? nil : .update(row, columns: columns, isNew: false)
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

        /// Makes a change if the row is as the scope saw it, and returns whether the change is complete.
        private mutating func attempt(_ step: SavePlan.Step, _ statements: RowStatements) throws -> Bool {
            // With `&&` in a `switch` expression, Swift 6.3 releases the rows twice if the statement throws.
            switch step.write {
            case .insert(let row):
                return try attempt(.insert(row), at: step.key, statements, existing: true) { () throws in
                    try statements.insert(row) ? .written : .ignored
                }
            case .update(let row, let columns, let base):
                guard statements.canCompare(base) else { return false }
                let columns = statements.written(columns, of: row, step.write.entry)
                let change = Change.update(row, columns: columns, isNew: false)
                return try attempt(change, at: step.key, statements) { () throws in
                    try statements.update(row, columns: columns, ifEqualTo: base) ? .written : .noRow
                }
            case .delete(let base):
                guard statements.canCompare(base) else { return false }
                return try attempt(.delete, at: step.key, statements) { () throws in
                    try statements.delete(ifEqualTo: base) ? .written : .noRow
                }
            }
        }

        /// Writes a checked change.
        private mutating func write(_ change: Change, at key: RowKey, _ statements: RowStatements) throws {
            let isDone = try attempt(change, at: key, statements) { () throws in
                try Self.execute(change, at: key, statements)
            }
            if !isDone { try writeAgain(change, at: key, statements) }
        }

        private static func execute(
            _ change: Change, at key: RowKey, _ statements: RowStatements
        ) throws -> Outcome {
            switch change {
            case .insert(let row): return try statements.insert(row) ? .written : .ignored
            case .update(let row, let columns, _):
                return try statements.update(row, columns: columns, id: key.id) ? .written : .noRow
            case .delete: return try statements.delete(key.id) ? .written : .noRow
            }
        }

        /// Handles a row that existed when it was checked but could not be written. The store has deleted it since, or
        /// a trigger ignores the write.
        private mutating func writeAgain(_ change: Change, at key: RowKey, _ statements: RowStatements) throws {
            guard try statements.read(key.id) == nil else {
                try noteIgnored(key)
                return
            }
            guard let row = change.row else {
                report.deleted += 1
                report.cascaded = max(report.cascaded - 1, 0)
                return
            }
            if try wasTaken(key, statements) { return }
            let isDone = try attempt(.insert(row), at: key, statements) { () throws in
                try Self.execute(.insert(row), at: key, statements)
            }
            if isDone, !failed.contains(key) {
                report.inserted -= 1
                report.updated += 1
                report.cascaded = max(report.cascaded - 1, 0)
            }
        }

        /// Executes one statement, and counts its changes and those that the store made through it.
        ///
        /// - Parameters:
        ///   - existing: Whether an existing row with this id explains every violation.
        /// - Returns: Whether the change is complete: it is made, ignored by a trigger, or its violation is noted.
        ///   Otherwise no row has matched.
        private mutating func attempt(
            _ change: Change, at key: RowKey, _ statements: RowStatements, existing: Bool = false,
            _ execute: () throws -> Outcome
        ) throws -> Bool {
            let before = db.totalChangesCount
            do {
                switch try execute() {
                case .written: count(change, changes: db.totalChangesCount - before)
                case .ignored:
                    try noteIgnored(key)
                    report.cascaded += db.totalChangesCount - before
                case .noRow:
                    report.cascaded += db.totalChangesCount - before
                    return false
                }
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

        private mutating func count(_ change: Change, changes: Int) {
            switch change {
            case .insert, .update(_, _, isNew: true): report.inserted += 1
            case .update: report.updated += 1
            case .delete:
                report.deleted += 1
                if changes > 1 { hasCascaded = true }
            }
            report.cascaded += max(changes - 1, 0)
        }

        /// Records that a trigger has kept a row unchanged.
        private mutating func noteIgnored(_ key: RowKey) throws {
            guard !movedAside.contains(key) else {
                throw PersistenceFailure(
                    .constraint,
                    "A trigger ignores the update of a row that exchanges a unique value with another one.",
                    remedy: "Exchange the values in two saves, through a free value.", model: key.table, ids: [key.id])
            }
            report.kept += 1
            ignored.insert(key)
        }

        // MARK: Violations

        /// Retries blocked writes until no more of them succeed, and returns the remaining ones in their order.
        private mutating func retry() throws -> [Blocked] {
            guard !blocked.isEmpty else { return [] }
            let order = Dictionary(blocked.enumerated().map { ($1.key, $0) }) { first, _ in first }
            var queue = BlockedWrites(blocked.map { (key: $0.key, write: $0) })
            blocked = []
            while true {
                while let (key, write) = queue.next() {
                    failed.remove(key)
                    try self.write(write.change, at: key, write.statements)
                    if let again = blocked.popLast() {
                        queue.hasFailed(again, at: key, holder: try holder(again))
                    } else if !failed.contains(key) {
                        queue.isWritten(key)
                    }
                }
                if let circle = queue.circle() {
                    queue.hasMoved(circle.row, try moveAside(circle))
                } else if !queue.retry() {
                    break
                }
            }
            return queue.rest.sorted { order[$0.key, default: 0] < order[$1.key, default: 0] }
        }

        /// The row that holds the value that a blocked write needs.
        private mutating func holder(_ write: Blocked) throws -> (key: RowKey, columns: [String])? {
            guard let row = write.change.row, let key = keys[write.key.table] else { return nil }
            return try uniqueValues.holder(of: row, at: write.key, primaryKey: key, write.error)
        }

        /// Writes a free value in place of a value that another row of a circle needs, and returns whether that
        /// succeeded. The row gets its final value later.
        private mutating func moveAside(_ circle: BlockedWrites<Blocked>.Circle) throws -> Bool {
            guard case .update(let row, let columns, _) = circle.write.change,
                let wanted = circle.needed.write.change.row
            else { return false }
            let statements = circle.write.statements
            for column in columns where circle.needed.columns.contains(row.layout.names[column]) {
                let name = row.layout.names[column]
                let kind = wanted[name] ?? .null
                // Values that were free for an earlier circle are mostly free again.
                for isAnew in [false, true] {
                    let values = try uniqueValues.candidates(
                        like: kind, column: name, of: circle.row.table, anew: isAnew)
                    for value in values where try write(value, column, of: row, at: circle.row, statements) {
                        movedAside.insert(circle.row)
                        return true
                    }
                }
            }
            return false
        }

        /// Writes one value of a row, and returns whether the table has allowed it.
        private func write(
            _ value: StoredValue, _ column: Int, of row: StoredRow, at key: RowKey, _ statements: RowStatements
        ) throws -> Bool {
            var values = row.values
            values[column] = value
            guard let moved = StoredRow(row.layout, values) else { return false }
            do {
                return try statements.update(moved, columns: [column], id: key.id)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                // The value is taken, or the table does not allow it.
                guard db.isInsideTransaction else { throw error }
                return false
            }
        }

        mutating func note(_ error: DatabaseError, at key: RowKey) throws {
            guard !violations.isFull else { return }
            guard let violation = try ConstraintReading.violation(error, at: key, db) else {
                guard error.extendedResultCode == .SQLITE_CONSTRAINT_DATATYPE else { throw error }
                throw PersistenceFailure(
                    .invalidModel, "The table refuses the type of a value: \(error.message ?? "no text").",
                    model: key.table, ids: [key.id], underlying: error)
            }
            if violation.kind == .foreignKey {
                var children = ViolationList()
                let row = try tables[key.table]?.read(key.id)
                try ForeignKeyCheck.addChildren(of: row, key.table, save.foreignKeys, keys: keys, db, &children)
                for child in children.violations { violations.append(child) }
                if !children.isEmpty { return }
            }
            violations.append(violation)
        }
    }
#endif
