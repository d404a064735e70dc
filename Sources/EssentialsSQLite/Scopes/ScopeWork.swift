#if Persistence
    import EssentialsPersistence
    import GRDB

    /// The rows that one call of a scope sees and changes. The highest level of its overlay holds only the call's own
    /// changes.
    final class ScopeWork: WorkRows {
        /// Thrown when a query needs pending rows on a connection that does not show them.
        struct NeedsMounting: Error {}

        private(set) var machine: OverlayMachine
        private let reads: (any StateReads)?
        /// The state, if its connection shows pending rows.
        private let mounted: MountedReads?
        let store: OpenStore
        /// The names of the scopes, beginning with the root scope.
        private let scopes: [String]
        private let mayChange: Bool
        private let isCancelled: () -> Bool
        /// Whether the temporary tables lack changes of this call.
        private var isBehind = false
        private var isEnded = false

        /// - Parameters:
        ///   - machine: The levels of the scope, and one for the changes of the call.
        ///   - reads: The state of the file; `nil` for a call that reads nothing.
        ///   - scopes: The names of the scopes, beginning with the root scope.
        init(
            _ machine: OverlayMachine, reads: (any StateReads)?, store: OpenStore, scopes: [String], mayChange: Bool,
            isCancelled: @escaping () -> Bool
        ) {
            self.machine = machine
            self.reads = reads
            mounted = reads as? MountedReads
            self.store = store
            self.scopes = scopes
            self.mayChange = mayChange
            self.isCancelled = isCancelled
        }

        /// Ends the use of the rows, and returns the changes of the call.
        func end() -> OverlayLevel {
            isEnded = true
            return machine.levels.last ?? OverlayLevel()
        }

        private func query<Result>(
            _ tables: Set<String>?, _ body: (any StateReads) throws -> Result
        ) throws(PersistenceFailure) -> Result {
            guard !isEnded, let reads else {
                throw PersistenceFailure(.closed, "The unit of work has ended.")
            }
            guard !isCancelled() else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
            guard !ReadLimit.isOver else { throw ReadLimit.failure }
            do {
                if let mounted {
                    // A query that reads no table needs no pending rows.
                    if isBehind, tables?.isEmpty != true {
                        try mounted.apply(machine)
                        isBehind = false
                    }
                } else {
                    let pending = machine.pendingTables
                    if tables.map({ !$0.isDisjoint(with: pending) }) ?? !pending.isEmpty { throw NeedsMounting() }
                }
                return try body(reads)
            } catch let error as NeedsMounting {
                throw PersistenceFailure(.work, "The rows are pending on another connection.", underlying: error)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT && ReadLimit.isOver {
                throw ReadLimit.failure
            } catch {
                throw PersistenceFailure(database: error, store: store.database.path)
            }
        }

        private func query<Result>(
            _ query: RowQuery, _ body: (any StateReads) throws -> Result
        ) throws(PersistenceFailure) -> Result {
            try HiddenNames.check(query, store.schema)
            return try self.query(query.tables, body)
        }

        // MARK: Reading

        func layout(of table: String) throws(PersistenceFailure) -> RowLayout { try store.schema.table(table).layout }

        func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] {
            try self.query(query) { try $0.rows(query) }
        }

        func rows(sql: String, arguments: [StoredValue]) throws(PersistenceFailure) -> [StoredRow] {
            try HiddenNames.check(sql, store.schema)
            return try query(nil) { try SQLQuery(sql: sql, arguments: arguments).rows($0.db) }
        }

        func rows(of table: String, ids: [StoredValue]) throws(PersistenceFailure) -> [StoredValue: StoredRow] {
            // Most calls concern one row. Lists and sets would take longer than the look-up.
            if ids.count == 1 { return try row(of: table, id: ids[0]).map { [ids[0]: $0] } ?? [:] }
            var found: [StoredValue: StoredRow] = [:]
            var stored: [StoredValue] = []
            for id in ids {
                switch machine.find(RowKey(table: table, id: id)) {
                case .pending(let row, _): found[id] = row
                case .deleted: break
                case .stored: stored.append(id)
                }
            }
            guard !stored.isEmpty else { return found }
            let key = try store.schema.table(table).key
            // Rows without an entry in any level are read from the file.
            let rows = try query([]) { try $0.storedRows(of: table, ids: stored) }
            // The collation of a key may also match another row, which may be pending.
            let asked = Set(stored)
            for row in rows {
                if let id = row[key], asked.contains(id) { found[id] = row }
            }
            return found
        }

        private func row(of table: String, id: StoredValue) throws(PersistenceFailure) -> StoredRow? {
            switch machine.find(RowKey(table: table, id: id)) {
            case .pending(let row, _): row
            case .deleted: nil
            case .stored: try query([]) { try $0.storedRow(of: table, id: id) }
            }
        }

        func values(_ query: RowQuery) throws(PersistenceFailure) -> [StoredValue] {
            try self.query(query) { try $0.values(query) }
        }

        func count(_ query: RowQuery) throws(PersistenceFailure) -> Int {
            try self.query(query) { try $0.count(query) }
        }

        func aggregate(_ query: RowQuery, _ function: AggregateFunction) throws(PersistenceFailure) -> StoredValue {
            let aggregate: SelectStatement.Aggregate =
                switch function {
                case .sum: .sum
                case .minimum: .min
                case .maximum: .max
                case .average: .average
                }
            return try self.query(query) { try $0.aggregate(query, aggregate) }
        }

        func counts(_ query: RowQuery) throws(PersistenceFailure) -> [(value: StoredValue, count: Int)] {
            try self.query(query) { try $0.counts(query) }
        }

        func sums(
            _ query: RowQuery, by column: String
        ) throws(PersistenceFailure) -> [(key: StoredValue, sum: StoredValue)] {
            try self.query(query) { try $0.sums(query, by: column) }
        }

        func origin(of id: StoredValue, in table: String) throws(PersistenceFailure) -> RowOrigin {
            guard let found = machine.entry(RowKey(table: table, id: id), isWork: true) else { return .stored }
            let kind: RowOrigin.Pending.Kind = if case .inserted = found.entry { .inserted } else { .updated }
            let name = scopes.indices.contains(found.level - 1) ? scopes[found.level - 1] : ""
            return .pending(RowOrigin.Pending(level: found.level, scope: name, kind: kind))
        }

        // MARK: Changing

        /// Throws if the unit of work has ended or its call is cancelled.
        func checkReserving() throws(PersistenceFailure) {
            guard !isEnded else { throw PersistenceFailure(.closed, "The unit of work has ended.") }
            guard !isCancelled() else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
        }

        private func checkChanges() throws(PersistenceFailure) {
            guard !isEnded else { throw PersistenceFailure(.closed, "The unit of work has ended.") }
            guard mayChange else {
                throw PersistenceFailure(
                    .invalidQuery, "The call only reads.", remedy: "Change rows in a unit of work with `perform`.")
            }
        }

        func place(_ changes: [RowChange]) throws(PersistenceFailure) {
            try checkChanges()
            for change in changes {
                guard let base = change.base else { continue }
                let key = RowKey(table: change.table, id: change.id)
                let finding = machine.find(key)
                if case .deleted = finding {
                    throw PersistenceFailure(
                        .notFound, "The row has been deleted in the scope.", model: key.table, ids: [key.id])
                }
                guard case .pending(let row, _) = finding, row != base else { continue }
                let conflict = Conflict(
                    table: key.table, id: key.id, change: .update,
                    columns: row.changes(from: base).map { base.layout.names[$0] },
                    base: base, mine: change.row, theirs: row)
                throw PersistenceFailure.conflicts([conflict])
            }
            try machine.place(
                changes.map { (key: RowKey(table: $0.table, id: $0.id), row: $0.row, seen: $0.base) },
                orphans: store.orphans)
            isBehind = true
        }

        func delete(_ rows: [StoredRow], of table: String) throws(PersistenceFailure) {
            try checkChanges()
            let found = try self.found(rows, table)
            var seen = Dictionary(found.map { ($0.key, $0.row) }) { first, _ in first }
            let limit = machine.levels.last?.limits.rows ?? 0
            let changes = try store.deletions.changes(deleting: found, limit: limit) {
                (reference, values) throws(PersistenceFailure) in
                let children = try self.children(reference, values)
                for child in children where seen[child.key] == nil { seen[child.key] = child.row }
                return children
            }
            try machine.place(changes.map { (key: $0.key, row: $0.row, seen: seen[$0.key]) })
            isBehind = true
        }

        private func found(
            _ rows: [StoredRow], _ table: String
        ) throws(PersistenceFailure) -> [DeletionRules.Found] {
            let key = try store.schema.table(table).key
            return rows.map { DeletionRules.Found(key: RowKey(table: table, id: $0[key] ?? .null), row: $0) }
        }

        private func children(
            _ reference: ModelReference, _ values: [StoredValue]
        ) throws(PersistenceFailure) -> [DeletionRules.Found] {
            var rows: [StoredRow] = []
            let table = try store.schema.table(reference.table)
            for start in stride(from: 0, to: values.count, by: RowQuery.maximumValues) {
                let part = Array(values[start..<min(start + RowQuery.maximumValues, values.count)])
                let node = RowQuery(
                    table: reference.table, key: table.key, column: reference.column, values: part)
                rows += try query([reference.table]) { try $0.rows(node) }
            }
            return try found(rows, reference.table)
        }
    }
#endif
