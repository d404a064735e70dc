#if Persistence
    import EssentialsPersistence

    extension ScopeJob {
        /// Writes the rows of an import into the file, in one transaction. Pending rows stay.
        func importRows(
            _ conflict: ImportConflict, _ columns: Set<String>, _ store: OpenStore
        ) throws(PersistenceFailure) -> SaveReport {
            let work = ImportWork(store.schema)
            try job.run(on: work)
            guard let table = work.rows.first?.table else { return SaveReport() }
            let batch = FileImport(
                table: try store.schema.table(table), columns: columns, rows: work.rows, conflict: conflict)
            let (report, changed) = try store.database.write { db in
                try interruptible(db) { try batch.run(db) }
            } committing: { commit in
                guard !job.isCancelled else { throw PersistenceFailure(.cancelled, "The call was cancelled.") }
                try commit()
            }
            // The rows that triggers have changed are unknown.
            announce(in: nil) { report.cascaded > 0 ? nil : changed }
            return report
        }
    }

    /// Collects the rows of an import. It reads nothing.
    private final class ImportWork: WorkRows {
        private let schema: FileSchema
        private(set) var rows: [RowChange] = []

        init(_ schema: FileSchema) { self.schema = schema }

        private var refusal: PersistenceFailure {
            PersistenceFailure(.invalidQuery, "An import reads and deletes nothing.")
        }

        func layout(of table: String) throws(PersistenceFailure) -> RowLayout { try schema.table(table).layout }

        func place(_ changes: [RowChange]) throws(PersistenceFailure) {
            rows += changes
            guard Set([rows.first?.table, changes.last?.table]).count == 1 else {
                throw PersistenceFailure(.invalidQuery, "A batch of an import is for one table.")
            }
        }

        func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] { throw refusal }
        func rows(
            of table: String, ids: [StoredValue]
        ) throws(PersistenceFailure) -> [StoredValue: StoredRow] { throw refusal }
        func values(_ query: RowQuery) throws(PersistenceFailure) -> [StoredValue] { throw refusal }
        func count(_ query: RowQuery) throws(PersistenceFailure) -> Int { throw refusal }
        func aggregate(
            _ query: RowQuery, _ function: AggregateFunction
        ) throws(PersistenceFailure) -> StoredValue { throw refusal }
        func counts(_ query: RowQuery) throws(PersistenceFailure) -> [(value: StoredValue, count: Int)] {
            throw refusal
        }
        func delete(_ rows: [StoredRow], of table: String) throws(PersistenceFailure) { throw refusal }
    }
#endif
