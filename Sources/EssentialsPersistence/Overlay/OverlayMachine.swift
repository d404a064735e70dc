/// The levels of pending rows that a scope sees above the file, from the root scope to the scope itself.
///
/// The machine does not read the file. The caller supplies the rows of the file that it needs.
///
/// ```swift
/// var machine = try OverlayMachine(levels: [root, child])
/// try machine.update(row, at: key, stored: row)
/// try machine.saveToParent { _ in .policy(.fail) }
/// ```
package struct OverlayMachine: Sendable {
    /// The finding of the levels about a row.
    package enum Finding: Sendable, Hashable {
        /// The nearest level with an entry has this row. Level 1 is the root scope.
        case pending(StoredRow, level: Int)
        /// The nearest level with an entry has deleted the row.
        case deleted(level: Int)
        /// No level has an entry, so the row of the file is visible.
        case stored
    }

    /// The levels, the root scope first.
    package private(set) var levels: [OverlayLevel]

    /// - Throws: A failure with the reason `limit` for too many levels, and with `closed` for an empty list.
    package init(levels: [OverlayLevel], limits: OverlayLimits = OverlayLimits()) throws(PersistenceFailure) {
        guard !levels.isEmpty else { throw PersistenceFailure(.closed, "The scope has no level.") }
        guard levels.count <= limits.depth else {
            throw PersistenceFailure(
                .limit, "A scope is at most \(limits.depth) levels deep.", remedy: "Save to a parent scope instead.")
        }
        self.levels = levels
    }

    private var last: Int { levels.count - 1 }

    /// These levels with another one on top, for the changes of a unit of work.
    package func adding(_ level: OverlayLevel) -> OverlayMachine {
        var machine = self
        machine.levels.append(level)
        return machine
    }

    /// These levels with a replacement for the highest one.
    package func replacingLast(_ level: OverlayLevel) -> OverlayMachine {
        var machine = self
        machine.levels[last] = level
        return machine
    }

    /// Looks up a row, nearest level first.
    package func find(_ key: RowKey) -> Finding { find(key, below: levels.count) }

    /// The nearest level with an entry, and its entry relative to the row below that level; `nil` if no level has an
    /// entry. Level 1 is the root scope.
    ///
    /// - Parameter isWork: Whether the last level holds the changes of a unit of work, which count as changes of its
    ///   scope.
    package func entry(_ key: RowKey, isWork: Bool) -> (entry: OverlayEntry, level: Int)? {
        var end = levels.count
        if isWork, last > 0 {
            end = last
            if let entry = levels[last].entry(key) {
                let base = levels[last - 1].entry(key).map(\.base) ?? entry.base
                if let entry = OverlayEntry(from: base, to: entry.row) { return (entry, last) }
                // The unit of work has undone the change of its scope.
                end -= 1
            }
        }
        for level in (0..<end).reversed() {
            if let entry = levels[level].entry(key) { return (entry, level + 1) }
        }
        return nil
    }

    private func find(_ key: RowKey, below end: Int) -> Finding {
        for level in (0..<end).reversed() {
            guard let entry = levels[level].entry(key) else { continue }
            return entry.row.map { .pending($0, level: level + 1) } ?? .deleted(level: level + 1)
        }
        return .stored
    }

    private func row(_ finding: Finding, stored: StoredRow?) -> StoredRow? {
        switch finding {
        case .pending(let row, _): row
        case .deleted: nil
        case .stored: stored
        }
    }

    // MARK: Changes

    /// Creates a row in the scope.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - key: Its key.
    ///   - stored: The row of the file. It is used only if no level has an entry.
    /// - Throws: A failure with the reason `constraint` if the scope sees a row with this id, or `limit`.
    package mutating func create(_ row: StoredRow, at key: RowKey, stored: StoredRow?) throws(PersistenceFailure) {
        guard self.row(find(key), stored: stored) == nil else {
            throw PersistenceFailure(
                .constraint, "There is a row with this id.", remedy: "Update the row, or choose another id.",
                model: key.table, ids: [key.id])
        }
        try place(row, at: key, stored: stored)
    }

    /// Changes a row in the scope.
    ///
    /// - Throws: A failure with the reason `notFound` if the scope does not see the row, or `limit`.
    package mutating func update(_ row: StoredRow, at key: RowKey, stored: StoredRow?) throws(PersistenceFailure) {
        try requireRow(key, stored: stored)
        try place(row, at: key, stored: stored)
    }

    /// Deletes a row in the scope.
    ///
    /// - Throws: A failure with the reason `notFound` if the scope does not see the row, or `limit`.
    package mutating func delete(_ key: RowKey, stored: StoredRow?) throws(PersistenceFailure) {
        try requireRow(key, stored: stored)
        try place(nil, at: key, stored: stored)
    }

    private func requireRow(_ key: RowKey, stored: StoredRow?) throws(PersistenceFailure) {
        guard row(find(key), stored: stored) == nil else { return }
        throw PersistenceFailure(.notFound, "There is no row with this id.", model: key.table, ids: [key.id])
    }

    /// Makes the scope see rows, each given with the row that it saw before: all of them, or none after an error.
    ///
    /// - Parameter orphans: Finds the rows that stay pending although they equal their base.
    /// - Throws: A failure with the reason `limit`.
    package mutating func place(
        _ rows: [(key: RowKey, row: StoredRow?, seen: StoredRow?)], orphans: PendingOrphans = .unknown
    ) throws(PersistenceFailure) {
        var done: [(key: RowKey, entry: OverlayEntry?)] = []
        do throws(PersistenceFailure) {
            for (key, row, seen) in rows {
                let own = levels[last].entry(key)
                let isKept = (own.map(\.base) ?? seen) == row && orphans.contains(row, at: key, in: self)
                try levels[last].place(row, at: key, below: seen, keeping: isKept)
                done.append((key, own))
            }
        } catch {
            for (key, entry) in done.reversed() { levels[last].restore(entry, at: key) }
            throw error
        }
    }

    private mutating func place(_ row: StoredRow?, at key: RowKey, stored: StoredRow?) throws(PersistenceFailure) {
        let below = self.row(find(key, below: last), stored: stored)
        try levels[last].place(row, at: key, below: below)
    }

    // MARK: Saving

    /// Moves the pending rows of the scope to its parent scope.
    ///
    /// If the parent has no entry for an id, the entry moves with its base, and is compared with the file when the
    /// parent is saved. Otherwise it is compared with the parent's entry.
    ///
    /// - Throws: A failure with the reason `conflict` or `limit`, after which all levels are as before.
    package mutating func saveToParent(
        decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
    ) throws(PersistenceFailure) {
        guard levels.count > 1 else { return }
        try levels[last - 1].apply(changesOfParent(decide: decide))
        levels[last].rollback()
    }

    /// The entries that the parent scope receives when the scope is saved to it.
    ///
    /// This changes nothing yet, so that the caller can release the levels before it changes the parent. A level with
    /// two references would be copied as a whole by its next change.
    ///
    /// - Throws: A failure with the reason `conflict`, or an error of the closure.
    package func changesOfParent(
        orphans: PendingOrphans = .unknown, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
    ) throws(PersistenceFailure) -> [OverlayLevel.Change] {
        guard levels.count > 1 else { return [] }
        var conflicts: [Conflict] = []
        let changes = try moved(levels[last], over: levels[last - 1], orphans, &conflicts, decide: decide)
        guard conflicts.isEmpty else { throw PersistenceFailure.conflicts(conflicts) }
        return changes
    }

    /// All pending rows merged into one level, as they are saved into the file.
    ///
    /// - Throws: A failure with the reason `conflict` if levels contradict each other.
    package func folded(
        orphans: PendingOrphans = .unknown, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
    ) throws(PersistenceFailure) -> OverlayLevel {
        let (level, conflicts) = try foldedWithConflicts(orphans: orphans, decide: decide)
        guard conflicts.isEmpty else { throw PersistenceFailure.conflicts(conflicts) }
        return level
    }

    /// All pending rows merged into one level, and the conflicts of all levels, at most ``Conflict/maximum``.
    ///
    /// A change that conflicts with a level is left out, so that the level's own change is compared with the levels
    /// below it.
    package func foldedWithConflicts(
        orphans: PendingOrphans = .unknown, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
    ) throws(PersistenceFailure) -> (level: OverlayLevel, conflicts: [Conflict]) {
        var levels = levels
        var upper = levels.removeLast()
        var conflicts: [Conflict] = []
        while let level = levels.popLast() {
            var parent = level.unlimited
            try parent.apply(moved(upper, over: level, orphans, &conflicts, decide: decide))
            upper = parent
        }
        return (upper, conflicts)
    }

    /// Empties all levels, because their rows are in the file.
    package mutating func saved() {
        for level in levels.indices { levels[level].rollback() }
    }

    /// Drops the pending rows of the scope.
    package mutating func rollback() { levels[last].rollback() }

    /// Drops some pending rows of the scope, and returns how many were pending.
    package mutating func discard(_ keys: some Sequence<RowKey>) -> Int { levels[last].discard(keys) }

    /// The entries that a level receives from the level above it, except for conflicts.
    private func moved(
        _ child: OverlayLevel, over parent: OverlayLevel, _ orphans: PendingOrphans, _ conflicts: inout [Conflict],
        decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
    ) throws(PersistenceFailure) -> [OverlayLevel.Change] {
        var changes: [OverlayLevel.Change] = []
        changes.reserveCapacity(child.count)
        try child.forEach { (key, entry) throws(PersistenceFailure) in
            guard conflicts.count < Conflict.maximum else { return }
            guard let own = parent.entry(key) else { return changes.append((key, entry)) }
            switch try ConflictRules.outcome(of: entry, at: key, theirs: own.row, decide: decide) {
            case .apply(let row):
                let isKept = own.base == row && orphans.contains(row, at: key, in: self)
                changes.append((key, OverlayEntry(from: own.base, to: row, keeping: isKept)))
            case .keep: break
            case .conflict(let conflict): conflicts.append(conflict)
            }
        }
        return changes
    }

    // MARK: The whole overlay

    /// The tables with pending rows in any level.
    package var pendingTables: Set<String> { levels.reduce(into: []) { $0.formUnion($1.pendingTables) } }

    /// The versions of all levels. If they are unchanged, nothing has changed.
    package var versions: [UInt64] { levels.map(\.version) }

    /// The visible entries of a table: for each id, the entry of the nearest level.
    package func entries(in table: String) -> [StoredValue: OverlayEntry] {
        levels.dropFirst().reduce(levels[0].entries(in: table)) { entries, level in
            entries.merging(level.entries(in: table)) { _, nearer in nearer }
        }
    }

    /// The rows that may have changed since the levels had these versions; `nil` if that is unknown.
    package func changes(since versions: [UInt64]) -> Set<RowKey>? {
        versions.count == levels.count ? changes(ofLowest: versions) : nil
    }

    /// The rows that may have changed since the lowest levels had these versions; `nil` if that is unknown.
    package func changes(ofLowest versions: [UInt64]) -> Set<RowKey>? {
        guard versions.count <= levels.count else { return nil }
        var keys: Set<RowKey> = []
        for (level, version) in zip(levels, versions) {
            guard let changed = level.changes(since: version) else { return nil }
            keys.formUnion(changed)
        }
        return keys
    }
}
