import EssentialsTools

@testable import EssentialsPersistence

/// One job of a scope over memory while it runs.
final class MemoryJob {
    private let job: PersistenceJob
    private let scope: MemoryScope
    private var engine: MemoryEngine { scope.engine }
    /// What observers learn when the job has ended.
    private(set) var changes: [(keys: Set<RowKey>?, scope: Int?)] = []

    init(_ job: PersistenceJob, _ scope: MemoryScope) {
        self.job = job
        self.scope = scope
    }

    func perform() throws(PersistenceFailure) -> SaveReport {
        switch job.plan.action {
        case .read: _ = try work(mayChange: false)
        case .change(let level): return try change(level)
        case .validate: return try saveToStore(work(mayChange: false), isRehearsal: engine.fault != .savesValidations)
        case .importRows(let conflict, let columns): return try importRows(conflict, columns)
        case .rollback:
            _ = try work(mayChange: false)
            if engine.fault != .keepsRolledBack { drop(nil) }
        case .discard(let table, let ids):
            _ = try work(mayChange: false)
            drop(engine.fault == .discardsAll ? nil : ids.map { RowKey(table: table, id: $0) })
        }
        return SaveReport()
    }

    private func drop(_ keys: [RowKey]?) {
        let changed = engine.state.withLock { state -> Set<RowKey>? in
            guard var level = state.levels[scope.number] else { return [] }
            let version = level.version
            if let keys { _ = level.discard(keys) } else { level.rollback() }
            state.levels[scope.number] = level
            return level.changes(since: version)
        }
        changes.append((changed, scope.number))
    }

    /// Runs the caller's part on one state of everything, and returns its changes.
    private func work(mayChange: Bool) throws(PersistenceFailure) -> OverlayLevel {
        let (tables, levels) = engine.state.withLock { state in
            (state.tables, scope.path.map { state.levels[$0.number] ?? OverlayLevel() })
        }
        let machine = try OverlayMachine(levels: levels + [OverlayLevel()])
        let rows = MemoryRows(tables, machine, scopes: scope.path.map(\.name), mayChange: mayChange, engine.fault)
        do throws(PersistenceFailure) {
            try engine.marking { () throws(PersistenceFailure) in try job.run(on: rows) }
        } catch {
            let work = rows.end()
            if engine.fault == .keepsFailedUnits { _ = try change(.pending, work) }
            throw error
        }
        return rows.end()
    }

    private func checkCancellation() throws(PersistenceFailure) {
        guard !job.isCancelled else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
    }

    // MARK: Saving

    private func decide(_ conflict: Conflict) throws(PersistenceFailure) -> ConflictDecision {
        if engine.fault == .overwrites { return .mine }
        guard let resolution = job.plan.resolution ?? scope.resolution else { return .fail }
        return try engine.marking { () throws(PersistenceFailure) in
            try PersistenceJob.result { () throws in try resolution.decide(conflict) }
        }
    }

    private func change(_ level: SaveLevel) throws(PersistenceFailure) -> SaveReport {
        let work = try work(mayChange: true)
        try checkCancellation()
        return try change(level, work)
    }

    private func change(_ level: SaveLevel, _ work: OverlayLevel) throws(PersistenceFailure) -> SaveReport {
        let path = scope.path.map(\.number)
        switch level {
        case .pending:
            let number = engine.fault == .changesParent ? path[max(path.count - 2, 0)] : scope.number
            let keys = try engine.state.withLock { state throws(PersistenceFailure) -> Set<RowKey>? in
                guard var level = state.levels[number] else { throw PersistenceFailure(.closed, "It is closed.") }
                let version = level.version
                try level.absorb(work)
                state.levels[number] = level
                return level.changes(since: version)
            }
            changes.append((keys, number))
            return SaveReport()
        case .parent where path.count > 1:
            var machine = try levels(work)
            let version = machine.levels[path.count - 2].version
            try machine.saveToParent { (conflict) throws(PersistenceFailure) in try decide(conflict) }
            take(machine)
            changes.append((machine.levels[path.count - 2].changes(since: version), path[path.count - 2]))
            return SaveReport()
        case .parent, .store: return try saveToStore(work, isRehearsal: false)
        }
    }

    /// The levels with the changes of the call in that of the scope.
    private func levels(_ work: OverlayLevel) throws(PersistenceFailure) -> OverlayMachine {
        var levels = engine.state.withLock { state in
            scope.path.map { state.levels[$0.number] ?? OverlayLevel() }
        }
        try levels[levels.count - 1].absorb(work)
        return try OverlayMachine(levels: levels)
    }

    private func take(_ machine: OverlayMachine, _ tables: MemoryTables? = nil) {
        engine.state.withLock { state in
            for (scope, level) in zip(scope.path, machine.levels) where state.levels[scope.number] != nil {
                state.levels[scope.number] = level
            }
            if let tables { state.tables = tables }
        }
    }

    private func saveToStore(_ work: OverlayLevel, isRehearsal: Bool) throws(PersistenceFailure) -> SaveReport {
        var machine = try levels(work)
        let folded =
            engine.fault == .savesOwnRowsOnly
            ? machine.levels[machine.levels.count - 1]
            : try machine.folded { (conflict) throws(PersistenceFailure) in try decide(conflict) }
        var tables = scope.tables
        defer { if engine.fault == .savesHalf, !isRehearsal { engine.state.withLock { $0.tables = tables } } }
        let (report, changed) = try tables.save(folded) { (conflict) throws(PersistenceFailure) in
            try decide(conflict)
        }
        if isRehearsal { return report }
        try checkCancellation()
        machine.saved()
        take(machine, tables)
        changes.append((changed, nil))
        return report
    }

    private func importRows(
        _ conflict: ImportConflict, _ columns: Set<String>
    ) throws(PersistenceFailure) -> SaveReport {
        let rows = MemoryImport()
        try engine.marking { () throws(PersistenceFailure) in try job.run(on: rows) }
        if engine.fault == .importsIntoScope {
            var level = OverlayLevel()
            for change in rows.changes {
                try level.place(change.row, at: RowKey(table: change.table, id: change.id), below: nil)
            }
            return try change(.pending, level)
        }
        var tables = scope.tables
        let (report, changed) = try tables.store(rows.changes, columns: columns, conflict)
        try checkCancellation()
        engine.state.withLock { $0.tables = tables }
        changes.append((changed, nil))
        return report
    }
}
