/// The limits of one scope. They apply to pending rows only.
package struct OverlayLimits: Sendable, Hashable {
    /// The maximum number of pending rows.
    package var rows = 100_000
    /// The maximum number of bytes of pending rows and their bases, as an estimate.
    package var bytes = 64 << 20
    /// The maximum nesting depth of scopes.
    package var depth = 16

    package init() {}

    /// No limits.
    package static let unlimited: OverlayLimits = {
        var limits = OverlayLimits()
        limits.rows = .max
        limits.bytes = .max
        limits.depth = .max
        return limits
    }()
}

/// The pending rows of one scope.
///
/// | entry | create | update | delete |
/// |---|---|---|---|
/// | nothing | inserted | updated | deleted |
/// | inserted | fails | inserted | nothing |
/// | updated | fails | updated, with the first base | deleted |
/// | deleted | updated | fails | fails |
///
/// A row that is changed back to its base is no longer pending, unless it refers to a row that the scope has deleted;
/// see ``PendingOrphans``.
package struct OverlayLevel: Sendable {
    private var tables: [String: [StoredValue: OverlayEntry]] = [:]
    private var log = ChangeLog()
    package private(set) var limits: OverlayLimits
    /// The number of deleted rows of each table. Counting them on demand would scan all pending rows of a table for
    /// each row that refers to the table by a column other than its key.
    private var deletions: [String: Int] = [:]
    /// The number of pending rows.
    package private(set) var count = 0
    /// The approximate number of bytes of the pending rows and their bases.
    package private(set) var byteCount = 0

    package init(limits: OverlayLimits = OverlayLimits()) { self.limits = limits }

    /// A number that grows with each change.
    package var version: UInt64 { log.version }

    package var isEmpty: Bool { count == 0 }

    /// The same rows without limits, for a save into the file.
    package var unlimited: OverlayLevel {
        var level = self
        level.limits = .unlimited
        return level
    }

    /// The tables with pending rows.
    package var pendingTables: Set<String> { Set(tables.keys) }

    package func entry(_ key: RowKey) -> OverlayEntry? { tables[key.table]?[key.id] }

    /// The pending rows of a table.
    package func entries(in table: String) -> [StoredValue: OverlayEntry] { tables[table] ?? [:] }

    /// Whether rows of a table are deleted in this level.
    package func hasDeletions(in table: String) -> Bool { deletions[table] ?? 0 > 0 }

    /// The rows that were changed since a version; `nil` if that is no longer known.
    package func changes(since version: UInt64) -> Set<RowKey>? { log.keys(since: version) }

    /// The keys of all pending rows.
    package var keys: Set<RowKey> {
        var keys = Set<RowKey>(minimumCapacity: count)
        forEach { key, _ in keys.insert(key) }
        return keys
    }

    /// Calls a closure with each pending row, in no order.
    package func forEach<Failure: Error>(
        _ body: (RowKey, OverlayEntry) throws(Failure) -> Void
    ) throws(Failure) {
        for (table, entries) in tables {
            for (id, entry) in entries { try body(RowKey(table: table, id: id), entry) }
        }
    }

    /// Makes the scope see this row, or no row, at a key.
    ///
    /// - Parameters:
    ///   - row: The row; `nil` deletes it.
    ///   - below: The row that the scope would see without its own entry.
    ///   - keeping: Whether the row has an entry even if it equals its base.
    /// - Throws: A failure with the reason `limit`, after which nothing has changed.
    package mutating func place(
        _ row: StoredRow?, at key: RowKey, below: StoredRow?, keeping: Bool = false
    ) throws(PersistenceFailure) {
        let own = entry(key)
        try set(OverlayEntry(from: own.map(\.base) ?? below, to: row, keeping: keeping), at: key, replacing: own)
    }

    private mutating func set(
        _ new: OverlayEntry?, at key: RowKey, replacing old: OverlayEntry?
    ) throws(PersistenceFailure) {
        if new == nil, old == nil { return }
        let rows = count + (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
        let bytes = byteCount + (new?.byteCount ?? 0) - (old?.byteCount ?? 0)
        guard rows <= max(limits.rows, count), bytes <= max(limits.bytes, byteCount) else {
            throw PersistenceFailure(
                .limit, "The scope has \(count) pending rows of about \(byteCount) bytes; there is no room for more.",
                remedy: "Save in smaller steps, or raise the store's limits of pending rows.",
                model: key.table, ids: [key.id])
        }
        replace(old, by: new, at: key, count: rows, byteCount: bytes)
    }

    /// Replaces an entry regardless of the limits.
    ///
    /// - Parameters:
    ///   - rows: The number of pending rows with the new entry.
    ///   - bytes: The number of bytes of these rows.
    private mutating func replace(
        _ old: OverlayEntry?, by new: OverlayEntry?, at key: RowKey, count rows: Int, byteCount bytes: Int
    ) {
        if let new {
            tables[key.table, default: [:]][key.id] = new
        } else {
            tables[key.table]?[key.id] = nil
            if tables[key.table]?.isEmpty == true { tables[key.table] = nil }
        }
        (count, byteCount) = (rows, bytes)
        let change = (new?.isDeletion == true ? 1 : 0) - (old?.isDeletion == true ? 1 : 0)
        if change != 0 { deletions[key.table, default: 0] += change }
        log.append(key)
    }

    /// Takes over the changes of a unit of work: all of them, or none after an error.
    ///
    /// - Parameter keeping: The rows that have an entry even if they equal their base.
    /// - Throws: A failure with the reason `limit`.
    package mutating func absorb(_ work: OverlayLevel, keeping: Set<RowKey> = []) throws(PersistenceFailure) {
        var changes: [Change] = []
        changes.reserveCapacity(work.count)
        work.forEach { key, entry in
            let own = self.entry(key)
            let new =
                own.map { OverlayEntry(from: $0.base, to: entry.row, keeping: keeping.contains(key)) } ?? entry
            changes.append((key, new))
        }
        try apply(changes)
    }

    /// The new entry of a row; `nil` removes the entry.
    package typealias Change = (key: RowKey, entry: OverlayEntry?)

    /// Takes over new entries: all of them, or none after an error.
    ///
    /// - Throws: A failure with the reason `limit`.
    package mutating func apply(_ changes: [Change]) throws(PersistenceFailure) {
        var done: [Change] = []
        done.reserveCapacity(changes.count)
        // Most changes belong to one table, whose dictionary grows once instead of step by step.
        let table = changes.first?.key.table ?? ""
        if changes.count > 1 {
            let count = (tables[table]?.count ?? 0) + changes.count
            tables[table, default: [:]].reserveCapacity(count)
        }
        defer { if tables[table]?.isEmpty == true { tables[table] = nil } }
        do throws(PersistenceFailure) {
            for (key, entry) in changes {
                let own = self.entry(key)
                try set(entry, at: key, replacing: own)
                done.append((key, own))
            }
        } catch {
            for (key, entry) in done.reversed() { restore(entry, at: key) }
            throw error
        }
    }

    /// Restores an earlier entry regardless of the limits.
    mutating func restore(_ entry: OverlayEntry?, at key: RowKey) {
        let own = self.entry(key)
        replace(
            own, by: entry, at: key, count: count + (entry == nil ? 0 : 1) - (own == nil ? 0 : 1),
            byteCount: byteCount + (entry?.byteCount ?? 0) - (own?.byteCount ?? 0))
    }

    /// Drops all pending rows.
    package mutating func rollback() {
        guard !isEmpty else { return }
        if count <= ChangeLog.capacity {
            forEach { key, _ in log.append(key) }
        } else {
            log.forget()
        }
        tables.removeAll()
        deletions.removeAll()
        (count, byteCount) = (0, 0)
    }

    /// Drops some pending rows, and returns how many were pending.
    package mutating func discard(_ keys: some Sequence<RowKey>) -> Int {
        var discarded = 0
        for key in keys {
            guard let entry = entry(key) else { continue }
            replace(entry, by: nil, at: key, count: count - 1, byteCount: byteCount - entry.byteCount)
            discarded += 1
        }
        return discarded
    }
}
