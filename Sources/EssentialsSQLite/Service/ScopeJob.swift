#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import GRDB
    import GRDBSQLite

    /// One running job of a scope. It blocks its thread.
    struct ScopeJob {
        /// A connection that another thread may interrupt.
        private struct Interruptible: @unchecked Sendable {
            // `@unchecked Sendable`: sqlite3_interrupt may be called from any thread while the connection is open. The
            // job calls it under its lock, and clears the pointer before the connection is returned.
            let connection: SQLiteConnection?
        }

        /// The changes that observers are notified of at the end of the job.
        private final class Changes {
            var list: [StoreObservers.ChangedRows] = []
        }

        let job: PersistenceJob
        let scope: SQLitePersistenceService
        private let changes = Changes()
        var chain: [ScopeLevel] { scope.chain }
        var core: StoreCore { scope.core }

        init(_ job: PersistenceJob, _ scope: SQLitePersistenceService) {
            self.job = job
            self.scope = scope
        }

        func execute() {
            let began = core.store.observers.isEmpty ? nil : ContinuousClock.now
            let result: Result<SaveReport, PersistenceFailure>
            do throws(PersistenceFailure) {
                try checkOpen()
                let store = try core.openStore()
                result = .success(try perform(store))
            } catch {
                result = .failure(error.naming(store: core.store.path))
            }
            // The caller resumes before any observer reads. Observers that it adds then do not receive this change, and
            // changes by its next calls follow this one.
            let isDue = core.observers.note(changes.list)
            if let began { core.tell(.called(call(result, since: began))) }
            job.finish(result)
            if isDue { core.observers.deliver() }
        }

        /// The call for the observers of the store.
        private func call(
            _ result: Result<SaveReport, PersistenceFailure>, since began: ContinuousClock.Instant
        ) -> StoreEvent.Call {
            let action: StoreEvent.Call.Action
            switch job.plan.action {
            case .read: action = .read
            case .change(.pending): action = .change
            case .change: action = savesToStore ? .save : .saveToParent
            case .validate: action = .validate
            case .importRows: action = .importRows
            case .rollback: action = .rollback
            case .discard: action = .discard
            }
            let writes = action == .save || action == .importRows
            return StoreEvent.Call(
                action, scope: scope.level.name, duration: .now - began, result: result,
                pendingRows: scope.level.level.count,
                logBytes: writes ? FileState(core.store.path + "-wal").bytes : nil)
        }

        /// Notes the rows that look different to the readers of a scope and of all scopes within it. It is called after
        /// the change: observers that are added later are not notified of it.
        ///
        /// - Parameters:
        ///   - scope: The number of the scope; `nil` for all readers of the store.
        ///   - keys: The rows; `nil` for any rows.
        func announce(in scope: UInt64?, _ keys: () -> Set<RowKey>?) {
            if core.observers.areThere { changes.list.append(StoreObservers.ChangedRows(keys: keys(), scope: scope)) }
        }

        private func checkOpen() throws(PersistenceFailure) {
            guard chain.contains(where: { $0.isClosed }) else { return }
            throw PersistenceFailure(.closed, "The scope is closed.")
        }

        private func perform(_ store: OpenStore) throws(PersistenceFailure) -> SaveReport {
            switch job.plan.action {
            case .read:
                if let lookup = job.plan.lookup, let rows = scope.rowsAtHand(of: lookup.table, ids: lookup.ids) {
                    try job.run(on: rows)
                } else {
                    _ = try work(store)
                }
                return SaveReport()
            case .importRows(let conflict, let columns): return try importRows(conflict, columns, store)
            case .change(let level): return try turn { () throws(PersistenceFailure) in try change(level, store) }
            case .validate: return try turn { () throws(PersistenceFailure) in try validate(store) }
            case .rollback:
                _ = try work(store)
                try turn { () throws(PersistenceFailure) in drop(nil) }
            case .discard(let table, let ids):
                _ = try work(store)
                try turn { () throws(PersistenceFailure) in drop(ids.map { RowKey(table: table, id: $0) }) }
            }
            return SaveReport()
        }

        private func turn<Result: Sendable>(
            _ body: () throws(PersistenceFailure) -> Result
        ) throws(PersistenceFailure) -> Result {
            try scope.level.turn.withLock { _ throws(PersistenceFailure) in
                try checkOpen()
                return try body()
            }
        }

        private func drop(_ keys: [RowKey]?) {
            let dropped = scope.level.contents.withLock { contents in
                guard let keys else {
                    defer { contents.level.rollback() }
                    return contents.level.keys
                }
                defer { _ = contents.level.discard(keys) }
                return Set(keys.filter { contents.level.entry($0) != nil })
            }
            announce(in: scope.level.number) { dropped }
        }

        // MARK: The caller's part

        /// The levels of the scope, and one for the changes of the call.
        private func machine() throws(PersistenceFailure) -> OverlayMachine {
            var limits = OverlayLimits()
            limits.depth = chain.count + 1
            return try OverlayMachine(levels: chain.map(\.level) + [workLevel], limits: limits)
        }

        /// An empty level for the changes of the call. Rows that are saved to the store at once are never pending, and
        /// have no limit.
        private var workLevel: OverlayLevel {
            OverlayLevel(limits: savesToStore ? .unlimited : scope.limits)
        }

        private var savesToStore: Bool {
            switch job.plan.action {
            case .change(.store): true
            case .change(.parent): chain.count == 1
            default: false
            }
        }

        /// Runs the caller's part on one state of all rows, and returns its changes.
        private func work(_ store: OpenStore) throws(PersistenceFailure) -> OverlayLevel {
            let isChanging = if case .change = job.plan.action { true } else { false }
            var tables = job.plan.tables
            if tables?.isEmpty == true { return try run(store, reads: nil, machine(), isChanging) }
            if isChanging { tables = tables.map { store.closure($0) } }
            // No other read may have to wait until a caller is done with its state.
            if job.plan.holdsState { return try mounted(store, isChanging) }
            // A closure may change rows and query them.
            if isChanging && tables == nil || chain.contains(where: { $0.isPending(in: tables) }) {
                return try mounted(store, isChanging)
            }
            let plain = try store.database.read { db -> OverlayLevel? in
                try interruptible(db) {
                    let machine = try core.gate.withLock { _ in
                        _ = try Row.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM main.sqlite_master"))
                        return try self.machine()
                    }
                    let pending = machine.pendingTables
                    guard tables.map({ $0.isDisjoint(with: pending) }) ?? pending.isEmpty else { return nil }
                    return try run(store, reads: FileReads(db: db, schema: store.schema), machine, isChanging)
                }
            }
            if let plain { return plain }
            // Rows have become pending meanwhile.
            return try mounted(store, isChanging)
        }

        private func mounted(_ store: OpenStore, _ isChanging: Bool) throws(PersistenceFailure) -> OverlayLevel {
            try store.database.guarded {
                // The levels of the pinned state are kept, because others may change the present ones.
                var levels: OverlayMachine?
                return try store.mounts.read(scope: scope.level.number, isHeld: job.plan.holdsState) { pin in
                    try core.gate.withLock { _ in
                        try pin()
                        let machine = try OverlayMachine(levels: chain.map(\.level))
                        levels = machine
                        return machine
                    }
                } _: { reads in
                    let machine = try levels.take()?.adding(workLevel) ?? self.machine()
                    return try interruptible(reads.db) { try run(store, reads: reads, machine, isChanging) }
                }
            }
        }

        private func run(
            _ store: OpenStore, reads: (any StateReads)?, _ machine: OverlayMachine, _ isChanging: Bool
        ) throws(PersistenceFailure) -> OverlayLevel {
            let work = ScopeWork(
                machine, reads: reads, store: store, scopes: chain.map(\.name), mayChange: isChanging,
                isCancelled: { job.isCancelled })
            do throws(PersistenceFailure) {
                // A call that reads no state of the file needs no time limit.
                try ReadLimit.run(reads == nil ? nil : core.store.readTimeLimit) { () throws(PersistenceFailure) in
                    try job.run(on: work)
                }
            } catch {
                _ = work.end()
                throw error
            }
            return work.end()
        }

        func interruptible<Result>(_ db: Database, _ body: () throws -> Result) throws -> Result {
            let connection = Interruptible(connection: db.sqliteConnection)
            job.onCancel { sqlite3_interrupt(connection.connection) }
            defer { job.onCancel(nil) }
            return try body()
        }

        // MARK: Saving

        private func decide(_ conflict: Conflict) throws(PersistenceFailure) -> ConflictDecision {
            guard let resolution = job.plan.resolution ?? scope.resolution else {
                let model = core.store.models.first { $0.table == conflict.table }
                return .policy(model?.conflictPolicy ?? .fail)
            }
            // A blocking call inside the closure would wait for this save.
            return try PersistenceJob.result(of: conflict.table, ids: [conflict.id]) { () throws in
                try core.openStore().database.marking { try resolution.decide(conflict) }
            }
        }

        private func change(_ level: SaveLevel, _ store: OpenStore) throws(PersistenceFailure) -> SaveReport {
            if let report = try executeStatement(level, store) { return report }
            let work = try work(store)
            guard !job.isCancelled else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
            switch level {
            case .pending:
                let keeping = try orphans(work, store)
                try scope.level.contents.withLock { contents throws(PersistenceFailure) in
                    guard !contents.isClosed else { throw PersistenceFailure(.closed, "The scope is closed.") }
                    try contents.level.absorb(work, keeping: keeping)
                }
                announce(in: scope.level.number) { work.keys }
                return SaveReport()
            case .parent where chain.count > 1: return try saveToParent(work, store)
            case .parent, .store:
                return try withTurns(of: chain.dropLast()) { () throws(PersistenceFailure) in
                    try saveToStore(work, store, isRehearsal: false)
                }
            }
        }

        private func validate(_ store: OpenStore) throws(PersistenceFailure) -> SaveReport {
            let work = try work(store)
            return try withTurns(of: chain.dropLast()) { () throws(PersistenceFailure) in
                try saveToStore(work, store, isRehearsal: true)
            }
        }

        /// Takes the turns of the scopes above, from child to parent.
        func withTurns<Result: Sendable>(
            of levels: ArraySlice<ScopeLevel>, _ body: () throws(PersistenceFailure) -> Result
        ) throws(PersistenceFailure) -> Result {
            guard let last = levels.last else { return try body() }
            return try last.turn.withLock { _ throws(PersistenceFailure) in
                try withTurns(of: levels.dropLast(), body)
            }
        }

        /// The rows of a call that refer to rows that the scope sees as deleted.
        private func orphans(_ work: OverlayLevel, _ store: OpenStore) throws(PersistenceFailure) -> Set<RowKey> {
            try store.orphans.rows(of: work, in: machine().replacingLast(work))
        }

        /// The levels, with the changes of the call merged into that of the scope. They have no limits: the limits
        /// apply to the level that receives the rows.
        private func levels(_ work: OverlayLevel, _ store: OpenStore) throws(PersistenceFailure) -> OverlayMachine {
            let keeping = try orphans(work, store)
            var levels = chain.map(\.level)
            levels[levels.count - 1] = levels[levels.count - 1].unlimited
            try levels[levels.count - 1].absorb(work, keeping: keeping)
            return try OverlayMachine(levels: levels)
        }

        private func saveToParent(_ work: OverlayLevel, _ store: OpenStore) throws(PersistenceFailure) -> SaveReport {
            let parent = chain[chain.count - 2]
            return try withTurns(of: [parent]) { () throws(PersistenceFailure) in
                // The levels are released after this statement, so that changing the parent's level does not copy it.
                let moved = try levels(work, store).changesOfParent(orphans: store.orphans) {
                    (conflict) throws(PersistenceFailure) in try decide(conflict)
                }
                let (old, changed) = try core.gate.withLock { _ throws(PersistenceFailure) in
                    let changed = try parent.contents.withLock { contents throws(PersistenceFailure) in
                        guard !contents.isClosed else { throw PersistenceFailure(.closed, "The scope is closed.") }
                        let version = contents.level.version
                        try contents.level.apply(moved)
                        // Without observers the changes are not needed.
                        return core.observers.areThere ? contents.level.changes(since: version) : nil
                    }
                    return (scope.level.empty(), changed)
                }
                announceSave(of: old, work, to: parent, changed)
                return SaveReport()
            }
        }

        /// Readers of the scope also see changes that its parent has kept, and the new origin of each moved row.
        private func announceSave(
            of old: OverlayLevel, _ work: OverlayLevel, to parent: ScopeLevel, _ changed: Set<RowKey>?
        ) {
            announce(in: parent.number) { changed ?? old.keys.union(work.keys) }
            announce(in: scope.level.number) { changed.map { old.keys.subtracting($0) } ?? [] }
        }

        private func saveToStore(
            _ work: OverlayLevel, _ store: OpenStore, isRehearsal: Bool
        ) throws(PersistenceFailure) -> SaveReport {
            let (folded, conflicts) = try levels(work, store).foldedWithConflicts(orphans: store.orphans) {
                (conflict) throws(PersistenceFailure) in try decide(conflict)
            }
            guard conflicts.isEmpty else { throw try failure(of: conflicts, folded, store) }
            guard !folded.isEmpty else {
                if isRehearsal { return SaveReport() }
                let emptied = core.gate.withLock { _ in emptyLevels() }
                announce(emptied: emptied, written: [])
                return SaveReport()
            }
            let save = FileSave(level: folded, models: store.models, schema: store.schema)
            let before = store.database.stateBefore()
            defer { before.close() }
            var emptied: [OverlayLevel] = []
            let (report, count) = try store.database.write { db in
                try interruptible(db) {
                    let count = db.totalChangesCount
                    let report = try save.run(db, before: before) { (conflict) throws(PersistenceFailure) in
                        try decide(conflict)
                    }
                    return (report, db.totalChangesCount - count)
                }
            } committing: { commit in
                if isRehearsal { return }
                guard !job.isCancelled else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
                try core.gate.withLock { _ in
                    try commit()
                    emptied = emptyLevels()
                }
            }
            if isRehearsal { return report }
            // The rows that the store has changed by itself are unknown.
            let isKnown = report.cascaded == 0 && count == report.inserted + report.updated + report.deleted
            announce(emptied: emptied, written: isKnown ? folded.keys : nil)
            return report
        }

        /// The failure of a save whose levels contradict each other, including conflicts with the store.
        private func failure(
            of conflicts: [Conflict], _ folded: OverlayLevel, _ store: OpenStore
        ) throws(PersistenceFailure) -> PersistenceFailure {
            let save = FileSave(level: folded, models: store.models, schema: store.schema)
            let before = store.database.stateBefore()
            defer { before.close() }
            do throws(PersistenceFailure) {
                _ = try store.database.write { db in
                    try interruptible(db) {
                        try save.run(db, before: before) { (conflict) throws(PersistenceFailure) in try decide(conflict)
                        }
                    }
                } committing: { _ in
                    // The transaction is rolled back.
                }
            } catch {
                switch error.reason {
                case .conflict:
                    let all = (conflicts + error.conflicts).prefix(Conflict.maximum)
                    return PersistenceFailure.conflicts(Array(all))
                case .cancelled, .work: throw error
                // The conflicts are certain, whatever other failure occurred.
                default: break
                }
            }
            return PersistenceFailure.conflicts(conflicts)
        }

        /// Empties all levels, and returns them as they were.
        private func emptyLevels() -> [OverlayLevel] {
            chain.map { $0.empty() }
        }

        /// All readers see the written rows. Readers of a scope also see the rows of the store where another row was
        /// pending: where one level undid the change of another, or where a policy dropped a change.
        ///
        /// - Parameter written: The rows; `nil` for any rows.
        private func announce(emptied: [OverlayLevel], written: Set<RowKey>?) {
            announce(in: nil) { written }
            guard let written else { return }
            for (level, old) in zip(chain, emptied) { announce(in: level.number) { old.keys.subtracting(written) } }
        }
    }
#endif
