#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite
    import Synchronization

    /// One job of a scope while it runs. It blocks its thread.
    struct ScopeJob {
        /// A connection that another thread may interrupt.
        private struct Interruptible: @unchecked Sendable {
            // `@unchecked Sendable`: sqlite3_interrupt may be called from any thread while the connection is open. The job
            // calls it under its lock, and the pointer is taken away from it before the connection is given back.
            let connection: SQLiteConnection?
        }

        /// What observers learn when the job has ended.
        final class Changes {
            private(set) var list: [(keys: Set<RowKey>?, scope: UInt64?)] = []

            func add(_ keys: Set<RowKey>?, in scope: UInt64?) { list.append((keys, scope)) }
        }

        let job: PersistenceJob
        let scope: SQLitePersistenceService
        let changes = Changes()
        var chain: [ScopeLevel] { scope.chain }
        var core: StoreCore { scope.core }

        init(_ job: PersistenceJob, _ scope: SQLitePersistenceService) {
            self.job = job
            self.scope = scope
        }

        func execute() {
            let result: Result<SaveReport, PersistenceFailure>
            do throws(PersistenceFailure) {
                try checkOpen()
                let store = try core.openStore()
                result = .success(try perform(store))
            } catch {
                result = .failure(error.naming(store: core.store.path))
            }
            // The caller goes on before any observer reads. An observer that it adds then is not told of this change.
            let newest = core.newestObserver
            job.finish(result)
            for (keys, scope) in changes.list { core.notify(keys, in: scope, through: newest) }
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
            let changed = scope.level.contents.withLock { contents in
                let version = contents.level.version
                if let keys { _ = contents.level.discard(keys) } else { contents.level.rollback() }
                return contents.level.changes(since: version)
            }
            changes.add(changed, in: scope.level.number)
        }

        // MARK: The caller's part

        /// The levels of the scope, and one for the changes of the call.
        private func machine() throws(PersistenceFailure) -> OverlayMachine {
            var limits = OverlayLimits()
            limits.depth = chain.count + 1
            return try OverlayMachine(levels: chain.map(\.level) + [OverlayLevel()], limits: limits)
        }

        /// Runs the caller's part on one state of everything, and returns its changes.
        private func work(_ store: OpenStore) throws(PersistenceFailure) -> OverlayLevel {
            let isChanging = if case .change = job.plan.action { true } else { false }
            var tables = job.plan.tables
            if tables?.isEmpty == true { return try run(store, reads: nil, machine(), isChanging) }
            if isChanging { tables = tables.map { store.closure($0) } }
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
            // Rows have become pending in between.
            return try mounted(store, isChanging)
        }

        private func mounted(_ store: OpenStore, _ isChanging: Bool) throws(PersistenceFailure) -> OverlayLevel {
            try store.database.guarded {
                // The levels of the pinned state are kept, because others may change them meanwhile.
                var levels: OverlayMachine?
                return try store.mounts.read(scope: scope.level.number) { pin in
                    try core.gate.withLock { _ in
                        try pin()
                        let machine = try OverlayMachine(levels: chain.map(\.level))
                        levels = machine
                        return machine
                    }
                } _: { reads in
                    let machine = try levels.take()?.adding(OverlayLevel()) ?? self.machine()
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
                // A call without a state of the file holds nothing.
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
            do {
                // A blocking call inside the closure would wait for this save.
                return try core.openStore().database.marking { try resolution.decide(conflict) }
            } catch let failure as PersistenceFailure {
                throw failure
            } catch {
                throw PersistenceFailure(
                    .work, "The closure has thrown \(type(of: error)).", model: conflict.table, ids: [conflict.id],
                    underlying: error)
            }
        }

        private func change(_ level: SaveLevel, _ store: OpenStore) throws(PersistenceFailure) -> SaveReport {
            if let report = try executeStatement(level, store) { return report }
            let work = try work(store)
            guard !job.isCancelled else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
            switch level {
            case .pending:
                let keys = try scope.level.contents.withLock { contents throws(PersistenceFailure) in
                    guard !contents.isClosed else { throw PersistenceFailure(.closed, "The scope is closed.") }
                    let version = contents.level.version
                    try contents.level.absorb(work)
                    return contents.level.changes(since: version)
                }
                changes.add(keys, in: scope.level.number)
                return SaveReport()
            case .parent where chain.count > 1: return try saveToParent(work)
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

        /// Takes the turns of scopes above, from child to parent.
        func withTurns<Result: Sendable>(
            of levels: ArraySlice<ScopeLevel>, _ body: () throws(PersistenceFailure) -> Result
        ) throws(PersistenceFailure) -> Result {
            guard let last = levels.last else { return try body() }
            return try last.turn.withLock { _ throws(PersistenceFailure) in
                try withTurns(of: levels.dropLast(), body)
            }
        }

        /// The levels with the changes of the call in that of the scope.
        private func levels(_ work: OverlayLevel) throws(PersistenceFailure) -> OverlayMachine {
            var levels = chain.map(\.level)
            try levels[levels.count - 1].absorb(work)
            return try OverlayMachine(levels: levels)
        }

        private func saveToParent(_ work: OverlayLevel) throws(PersistenceFailure) -> SaveReport {
            let parent = chain[chain.count - 2]
            return try withTurns(of: [parent]) { () throws(PersistenceFailure) in
                var machine = try levels(work)
                let version = parent.level.version
                try machine.saveToParent { (conflict) throws(PersistenceFailure) in try decide(conflict) }
                let new = machine.levels
                core.gate.withLock { _ in
                    parent.contents.withLock { $0.level = new[new.count - 2] }
                    scope.level.contents.withLock { $0.level = new[new.count - 1] }
                }
                changes.add(new[new.count - 2].changes(since: version), in: parent.number)
                return SaveReport()
            }
        }

        private func saveToStore(
            _ work: OverlayLevel, _ store: OpenStore, isRehearsal: Bool
        ) throws(PersistenceFailure) -> SaveReport {
            let folded = try levels(work).folded { (conflict) throws(PersistenceFailure) in try decide(conflict) }
            guard !folded.isEmpty else {
                if !isRehearsal { emptyLevels() }
                return SaveReport()
            }
            let save = FileSave(level: folded, models: store.models, foreignKeys: store.schema.foreignKeys)
            let report = try store.database.write { db in
                try interruptible(db) {
                    try save.run(db) { (conflict) throws(PersistenceFailure) in try decide(conflict) }
                }
            } committing: { commit in
                if isRehearsal { return }
                guard !job.isCancelled else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
                try core.gate.withLock { _ in
                    try commit()
                    emptyLevels()
                }
            }
            if isRehearsal { return report }
            var keys: Set<RowKey>? = []
            folded.forEach { key, _ in keys?.insert(key) }
            // What the store has changed by itself is not known in detail.
            changes.add(report.cascaded > 0 ? nil : keys, in: nil)
            return report
        }

        private func emptyLevels() {
            for level in chain { level.contents.withLock { $0.level.rollback() } }
        }
    }
#endif
