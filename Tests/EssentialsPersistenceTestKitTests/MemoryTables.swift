@testable import EssentialsPersistence
@testable import EssentialsPersistenceTestKit

/// The tables of the conformance suite in dictionaries, with their constraints.
struct MemoryTables: Sendable {
    static let schemas = PersistenceServiceConformance.models.map { schema($0) }
    static let layouts = Dictionary(grouping: schemas, by: \.table).mapValues { models in
        RowLayout(models.flatMap { $0.columns.map(\.name) }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
    }
    static let foreignKeys = [
        ForeignKey(table: "film", column: "studioID", parent: "studio", key: "id", action: .setNull),
        ForeignKey(table: "scene", column: "filmID", parent: "film", key: "id", action: .cascade),
        ForeignKey(table: "award", column: "filmID", parent: "film", key: "id", action: .restrict),
    ]

    private(set) var rows: [String: [StoredValue: StoredRow]] = [:]
    private let fault: MemoryFault?

    init(_ fault: MemoryFault?) { self.fault = fault }

    private static func schema<Model: PersistentModel>(_ type: Model.Type) -> ModelSchema { ModelSchema(type) }

    static func layout(of table: String) throws(PersistenceFailure) -> RowLayout {
        if let layout = layouts[table] { return layout }
        throw PersistenceFailure(.invalidQuery, "There is no such table.", model: table)
    }

    func row(_ key: RowKey) -> StoredRow? { rows[key.table]?[key.id] }

    private mutating func set(_ row: StoredRow?, at key: RowKey) { rows[key.table, default: [:]][key.id] = row }

    // MARK: Saving

    /// Saves pending rows. After an error nothing has changed.
    mutating func save(
        _ level: OverlayLevel, decide: (Conflict) throws(PersistenceFailure) -> ConflictDecision
    ) throws(PersistenceFailure) -> (report: SaveReport, changed: Set<RowKey>) {
        var new = self
        var report = SaveReport()
        var written: Set<RowKey> = []
        var conflicts: [Conflict] = []
        try level.forEach { (key, entry) throws(PersistenceFailure) in
            let theirs = row(key)
            switch try ConflictRules.outcome(of: entry, at: key, theirs: theirs, decide: decide) {
            case .keep: if entry.row != theirs { report.kept += 1 }
            case .conflict(let conflict): conflicts.append(conflict)
            case .apply(let row):
                guard row != theirs else { return }
                new.set(row, at: key)
                written.insert(key)
                if row == nil { report.deleted += 1 } else if theirs == nil { report.inserted += 1 }
                if row != nil, theirs != nil { report.updated += 1 }
            }
        }
        guard conflicts.isEmpty else { throw PersistenceFailure.conflicts(conflicts) }
        let cascaded = new.cascade(except: written)
        report.cascaded = cascaded.count
        do throws(PersistenceFailure) {
            try new.check(written)
        } catch {
            if fault == .savesHalf { self = new }
            throw error
        }
        self = new
        return (report, written.union(cascaded))
    }

    /// Does what foreign keys say about rows whose parent is gone, and returns the rows that it has changed.
    private mutating func cascade(except written: Set<RowKey>) -> Set<RowKey> {
        var changed: Set<RowKey> = []
        var isSettled = false
        while !isSettled {
            isSettled = true
            for foreignKey in Self.foreignKeys where foreignKey.action != .restrict {
                for (id, row) in rows[foreignKey.table] ?? [:] {
                    let key = RowKey(table: foreignKey.table, id: id)
                    guard isOrphan(row, foreignKey), !written.contains(key) else { continue }
                    var row = row
                    for column in foreignKey.columns { row.layout.index(of: column).map { row.values[$0] = .null } }
                    set(foreignKey.action == .cascade ? nil : row, at: key)
                    changed.insert(key)
                    isSettled = false
                }
            }
        }
        return changed
    }

    private func isOrphan(_ row: StoredRow, _ key: ForeignKey) -> Bool {
        guard let values = key.reference(of: row) else { return false }
        return values.contains { rows[key.parent]?[$0] == nil }
    }

    private func check(_ written: Set<RowKey>) throws(PersistenceFailure) {
        guard fault != .hasNoConstraints else { return }
        var list = ViolationList()
        for key in written {
            guard let row = row(key) else { continue }
            if key.table == "film", case .integer(let year)? = row["year"], !(1800...2999).contains(year) {
                list.append(
                    ConstraintViolation(
                        .check, table: "film", name: fault == .namesNoConstraints ? nil : "year_range", ids: [key.id]))
            }
            if key.table == "studio", isTaken(row, key) {
                list.append(ConstraintViolation(.unique, table: "studio", columns: ["name"], ids: [key.id]))
            }
        }
        for foreignKey in Self.foreignKeys {
            for (id, row) in rows[foreignKey.table] ?? [:] where isOrphan(row, foreignKey) {
                list.append(
                    ConstraintViolation(
                        .foreignKey, table: foreignKey.table, columns: foreignKey.columns, parent: foreignKey.parent,
                        ids: [id]))
            }
        }
        if !list.isEmpty { throw list.failure }
    }

    private func isTaken(_ row: StoredRow, _ key: RowKey) -> Bool {
        rows["studio", default: [:]].contains { $0.key != key.id && $0.value["name"] == row["name"] }
    }

    // MARK: Imports

    /// Stores the rows of an import.
    mutating func store(
        _ changes: [RowChange], columns: Set<String>, _ conflict: ImportConflict
    ) throws(PersistenceFailure) -> (report: SaveReport, changed: Set<RowKey>) {
        var new = self
        var report = SaveReport()
        var written: Set<RowKey> = []
        var list = ViolationList()
        for change in changes {
            let key = RowKey(table: change.table, id: change.id)
            if let old = new.row(key) {
                switch conflict {
                case .fail: list.append(ConstraintViolation(.unique, table: key.table, columns: ["id"], ids: [key.id]))
                case .ignore: report.kept += 1
                case .replace:
                    new.set(replacing(columns, of: old, with: change.row), at: key)
                    written.insert(key)
                    report.updated += 1
                }
            } else {
                new.set(change.row, at: key)
                written.insert(key)
                report.inserted += 1
            }
        }
        if !list.isEmpty { throw list.failure }
        try new.check(written)
        self = new
        return (report, written)
    }

    /// A row with the values of a model. Columns outside the model keep theirs.
    private func replacing(_ columns: Set<String>, of old: StoredRow, with new: StoredRow) -> StoredRow {
        if fault == .forgetsOtherColumns { return new }
        return old.replacing(columns.compactMap { old.layout.index(of: $0) }, from: new)
    }
}
