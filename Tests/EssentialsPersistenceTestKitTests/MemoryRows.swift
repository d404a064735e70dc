@testable import EssentialsPersistence

/// The rows that one call sees: tables, under the pending rows of scopes, under the changes of the call.
final class MemoryRows: WorkRows {
    private let tables: MemoryTables
    private var machine: OverlayMachine
    private let scopes: [String]
    private let mayChange: Bool
    private let fault: MemoryFault?
    private var isEnded = false

    init(
        _ tables: MemoryTables, _ machine: OverlayMachine, scopes: [String], mayChange: Bool, _ fault: MemoryFault?
    ) {
        self.tables = tables
        self.machine = machine
        self.scopes = scopes
        self.mayChange = mayChange
        self.fault = fault
    }

    /// Ends the use of the rows, and returns the changes of the call.
    func end() -> OverlayLevel {
        isEnded = true
        return machine.levels.last ?? OverlayLevel()
    }

    private func visible(_ table: String) -> [StoredRow] {
        var rows = tables.rows[table] ?? [:]
        if fault != .ignoresPending {
            for (id, entry) in machine.entries(in: table) { rows[id] = entry.row }
        }
        return Array(rows.values)
    }

    private func query(_ query: RowQuery) throws(PersistenceFailure) -> NaiveQuery {
        guard !isEnded else { throw PersistenceFailure(.closed, "The unit of work has ended.") }
        guard query.offset >= 0, query.limit ?? 0 >= 0, let names = query.tables else {
            throw PersistenceFailure(.invalidQuery, "A limit or an offset is negative, or there is SQL.")
        }
        return NaiveQuery(tables: Dictionary(uniqueKeysWithValues: names.map { ($0, visible($0)) }))
    }

    private func seen(_ key: RowKey) -> StoredRow? {
        switch machine.find(key) {
        case .pending(let row, _): row
        case .deleted: nil
        case .stored: tables.row(key)
        }
    }

    // MARK: Reading

    func layout(of table: String) throws(PersistenceFailure) -> RowLayout { try MemoryTables.layout(of: table) }

    func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] {
        let rows = try self.query(query).rows(query)
        if fault == .ignoresOrder, !query.order.isEmpty { return rows.reversed() }
        return fault == .ignoresOffset && query.offset > 0 ? [] : rows
    }

    func rows(of table: String, ids: [StoredValue]) throws(PersistenceFailure) -> [StoredValue: StoredRow] {
        guard !isEnded else { throw PersistenceFailure(.closed, "The unit of work has ended.") }
        var found: [StoredValue: StoredRow] = [:]
        for id in ids { found[id] = seen(RowKey(table: table, id: id)) }
        return found
    }

    func values(_ query: RowQuery) throws(PersistenceFailure) -> [StoredValue] {
        try self.query(query).values(query)
    }

    func count(_ query: RowQuery) throws(PersistenceFailure) -> Int {
        let naive = try self.query(query)
        return query.column == nil ? naive.rows(query).count : naive.values(query).count
    }

    func aggregate(_ query: RowQuery, _ function: AggregateFunction) throws(PersistenceFailure) -> StoredValue {
        let values = try values(query).filter { !$0.isNull }
        guard let first = values.first else { return .null }
        let sum: Int64 = values.reduce(0) { sum, value in
            if case .integer(let number) = value { sum + number } else { sum }
        }
        switch function {
        case .sum: return .integer(sum)
        case .average: return .real(Double(sum) / Double(values.count))
        case .minimum: return values.min(by: NaiveQuery.less) ?? first
        case .maximum: return values.max(by: NaiveQuery.less) ?? first
        }
    }

    func counts(_ query: RowQuery) throws(PersistenceFailure) -> [(value: StoredValue, count: Int)] {
        let groups = Dictionary(grouping: try values(query)) { $0 }
        return groups.map { ($0, $1.count) }.sorted { NaiveQuery.less($0.0, $1.0) }
    }

    func sums(
        _ query: RowQuery, by column: String
    ) throws(PersistenceFailure) -> [(key: StoredValue, sum: StoredValue)] {
        var sums: [StoredValue: StoredValue] = [:]
        for row in try self.query(query).rows(query) {
            let key = row[column] ?? .null
            switch (sums[key] ?? .null, row[query.column ?? query.key] ?? .null) {
            case (.integer(let one), .integer(let other)): sums[key] = .integer(one + other)
            case (.null, let value): sums[key] = value
            default: break
            }
        }
        return sums.map { ($0, $1) }
    }

    func origin(of id: StoredValue, in table: String) throws(PersistenceFailure) -> RowOrigin {
        guard fault != .knowsNoOrigins, let found = machine.entry(RowKey(table: table, id: id), isWork: true) else {
            return .stored
        }
        let kind: RowOrigin.Pending.Kind = if case .inserted = found.entry { .inserted } else { .updated }
        return .pending(RowOrigin.Pending(level: found.level, scope: scopes[found.level - 1], kind: kind))
    }

    // MARK: Changing

    private func checkChanges() throws(PersistenceFailure) {
        guard !isEnded else { throw PersistenceFailure(.closed, "The unit of work has ended.") }
        guard mayChange else { throw PersistenceFailure(.invalidQuery, "The call only reads.") }
    }

    func place(_ changes: [RowChange]) throws(PersistenceFailure) {
        try checkChanges()
        for change in changes {
            let key = RowKey(table: change.table, id: change.id)
            guard case .pending(let row, _) = machine.find(key), let base = change.base, row != base else { continue }
            throw PersistenceFailure.conflicts([
                Conflict(table: key.table, id: key.id, change: .update, base: base, mine: change.row, theirs: row)
            ])
        }
        try machine.place(changes.map { (RowKey(table: $0.table, id: $0.id), kept($0.row), base($0)) })
    }

    private func base(_ change: RowChange) -> StoredRow? {
        guard fault == .hasNoBase, change.base != nil else { return change.base }
        // What is there counts as the base, whatever the caller has seen.
        return seen(RowKey(table: change.table, id: change.id))
    }

    private func kept(_ row: StoredRow) -> StoredRow {
        guard fault == .trimsTexts else { return row }
        var row = row
        row.values = row.values.map { value in
            if case .text(let text) = value, text.hasSuffix("\n") { .text(String(text.dropLast())) } else { value }
        }
        return row
    }

    func delete(_ rows: [StoredRow], of table: String) throws(PersistenceFailure) {
        try checkChanges()
        var keys = MemoryTables.foreignKeys
        if fault == .neverRestricts { keys.removeAll { $0.action == .restrict } }
        if fault == .neverCascades { keys.removeAll { $0.action == .cascade } }
        let found = rows.map { DeletionRules.Found(key: RowKey(table: table, id: $0["id"] ?? .null), row: $0) }
        var known = Dictionary(found.map { ($0.key, $0.row) }) { first, _ in first }
        let changes = try DeletionRules(foreignKeys: keys).changes(deleting: found) { key, values in
            let children = visible(key.table).filter { values.contains($0[key.column] ?? .null) }
            return children.map { row in
                let child = RowKey(table: key.table, id: row["id"] ?? .null)
                known[child] = known[child] ?? row
                return DeletionRules.Found(key: child, row: row)
            }
        }
        try machine.place(changes.map { ($0.key, $0.row, known[$0.key]) })
    }
}

/// Takes the rows of an import. It reads nothing.
final class MemoryImport: WorkRows {
    private(set) var changes: [RowChange] = []

    private var refusal: PersistenceFailure { PersistenceFailure(.invalidQuery, "An import reads nothing.") }

    func layout(of table: String) throws(PersistenceFailure) -> RowLayout { try MemoryTables.layout(of: table) }
    func place(_ changes: [RowChange]) throws(PersistenceFailure) { self.changes += changes }
    func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] { throw refusal }
    func rows(
        of table: String, ids: [StoredValue]
    ) throws(PersistenceFailure) -> [StoredValue: StoredRow] { throw refusal }
    func values(_ query: RowQuery) throws(PersistenceFailure) -> [StoredValue] { throw refusal }
    func count(_ query: RowQuery) throws(PersistenceFailure) -> Int { throw refusal }
    func aggregate(
        _ query: RowQuery, _ function: AggregateFunction
    ) throws(PersistenceFailure) -> StoredValue { throw refusal }
    func counts(_ query: RowQuery) throws(PersistenceFailure) -> [(value: StoredValue, count: Int)] { throw refusal }
    func delete(_ rows: [StoredRow], of table: String) throws(PersistenceFailure) { throw refusal }
}
