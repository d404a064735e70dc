/// Importing: many rows, straight into the store.
extension PersistenceService {
    /// Writes the models of an asynchronous sequence into the store, bypassing the pending rows of all scopes.
    ///
    /// ```swift
    /// let report = try await store.importRows(of: Film.self, from: lines.map { try Film($0) }, onConflict: .replace)
    /// ```
    ///
    /// Each batch is one transaction, and one call of each observer. A row that is pending in a scope stays pending,
    /// and saving it later meets the imported row. Constraints are checked batch by batch: rows may refer to later rows
    /// of the same batch. The task can be cancelled at any time; a batch whose commit has begun is stored.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - models: The models. They are taken one by one, so at most one batch is in memory.
    ///   - batch: The number of models in a transaction, 1 to 100,000. The default is 5,000.
    ///   - conflict: The handling of a model whose row exists. By default the batch fails.
    /// - Returns: The number of stored models.
    /// - Throws: A failure with the reason `constraint` that names the rows, `invalidModel`, `encoding`, `cancelled`,
    ///   `work` if the sequence throws, `limit` for the size of a batch, or a failure of the store. All earlier batches
    ///   are stored: ``PersistenceFailure/imported`` counts them. No model of the failed batch is stored.
    @discardableResult
    public func importRows<Model: PersistentModel, Models: AsyncSequence>(
        of type: Model.Type, from models: Models, batch: Int = 5_000, onConflict conflict: ImportConflict = .fail
    ) async throws(PersistenceFailure) -> ImportReport where Models.Element == Model {
        var rows = try RowImport<Model>(self, batch: batch, conflict)
        do {
            for try await model in models { try await rows.add(model) }
        } catch {
            throw rows.failure(error)
        }
        return try await rows.end()
    }

    /// Writes the models of a sequence into the store; see the form with an asynchronous sequence.
    @discardableResult
    public func importRows<Model: PersistentModel>(
        of type: Model.Type, from models: some Sequence<Model>, batch: Int = 5_000,
        onConflict conflict: ImportConflict = .fail
    ) async throws(PersistenceFailure) -> ImportReport {
        var rows = try RowImport<Model>(self, batch: batch, conflict)
        for model in models { try await rows.add(model) }
        return try await rows.end()
    }

    /// Reserves ids for new rows of a model. They are never given out again, in this process or a later one.
    ///
    /// ```swift
    /// var ids = try await store.reserveIDs(for: Invoice.self, count: 100).makeIterator()
    /// let first = ids.next()
    /// ```
    ///
    /// The ids are greater than all ids in the table of the store, and than all ids reserved before. Unused ids are
    /// lost. A scope can use them for pending rows, because a reservation is stored at once, independently of the
    /// scope. It costs a small transaction, so reserve many ids together. After a loss of power, a store may forget the
    /// last reservations together with the rows that used them.
    ///
    /// - Throws: A failure with the reason `invalidQuery` for a negative number, `limit` if there are no more ids, or a
    ///   failure of the store.
    public func reserveIDs<Model: PersistentModel>(
        for type: Model.Type, count: Int
    ) async throws(PersistenceFailure) -> Range<Int64> where Model.ID == Int64 {
        try await result(
            of: PersistenceCall(PersistenceJob.Plan(.read, tables: [])) { try $0.reserveIDs(for: type, count: count) })
    }
}

extension PersistenceCall where Value == ImportReport {
    /// Writes models into the store in one transaction, bypassing the pending rows of all scopes, like one batch of
    /// `importRows` of ``PersistenceService``.
    public static func importRows<Model: PersistentModel>(
        _ models: [Model], onConflict conflict: ImportConflict = .fail
    ) -> PersistenceCall {
        let columns = Set(Model.columns.all.map(\.name))
        return .reporting(PersistenceJob.Plan(.importRows(conflict, columns: columns), tables: [Model.table])) {
            ImportReport($0)
        } _: {
            try $0.place(imported: models)
        }
    }
}

extension PersistenceWork {
    /// Reserves ids for new rows of a model. They stay reserved if the unit of work fails; see
    /// ``PersistenceService/reserveIDs(for:count:)``.
    ///
    /// ```swift
    /// try await edits.perform(save: .pending) { work in
    ///     for (id, draft) in zip(try work.reserveIDs(for: Invoice.self, count: drafts.count), drafts) {
    ///         try work.create(Invoice(id: id, draft))
    ///     }
    /// }
    /// ```
    public func reserveIDs<Model: PersistentModel>(
        for type: Model.Type, count: Int
    ) throws(PersistenceFailure) -> Range<Int64> where Model.ID == Int64 {
        guard count >= 0 else {
            throw PersistenceFailure(.invalidQuery, "A number of ids is at least 0.", model: Model.table)
        }
        guard count > 0 else { return 0..<0 }
        let first = try rows.reserveIDs(of: Model.table, count: count)
        let (end, isOverflow) = first.addingReportingOverflow(Int64(count))
        guard !isOverflow else {
            throw PersistenceFailure(.limit, "There are no more ids.", model: Model.table)
        }
        return first..<end
    }

    /// Passes on the rows of an import.
    fileprivate func place<Model: PersistentModel>(imported models: [Model]) throws(PersistenceFailure) {
        let coder = try coder(Model.self)
        var changes: [RowChange] = []
        changes.reserveCapacity(models.count)
        for model in models {
            let row = try coder.row(model)
            changes.append(RowChange(table: Model.table, id: coder.id(row), row: row, base: nil))
        }
        try rows.place(changes)
    }
}

/// A running import.
private struct RowImport<Model: PersistentModel> {
    private static var maximum: Int { 100_000 }

    private let service: any PersistenceService
    private let size: Int
    private let conflict: ImportConflict
    private var batch: [Model] = []
    private var report = ImportReport()

    init(
        _ service: any PersistenceService, batch size: Int, _ conflict: ImportConflict
    ) throws(PersistenceFailure) {
        guard (1...Self.maximum).contains(size) else {
            throw PersistenceFailure(
                .limit, "A batch has 1 to \(Self.maximum) rows, not \(size).", remedy: "Choose another size.",
                model: Model.table)
        }
        self.service = service
        self.size = size
        self.conflict = conflict
    }

    /// Adds a model, and stores the batch if it is full.
    mutating func add(_ model: Model) async throws(PersistenceFailure) {
        batch.append(model)
        if batch.count == size { try await store() }
    }

    private mutating func store() async throws(PersistenceFailure) {
        guard !Task.isCancelled else { throw failure(PersistenceJob.cancelled) }
        let models = batch
        batch.removeAll(keepingCapacity: true)
        do throws(PersistenceFailure) {
            report.add(try await service.result(of: .importRows(models, onConflict: conflict)))
        } catch {
            throw failure(error)
        }
    }

    /// Stores the remaining models.
    mutating func end() async throws(PersistenceFailure) -> ImportReport {
        // Some sequences end without an error when their task is cancelled.
        guard !Task.isCancelled else { throw failure(PersistenceJob.cancelled) }
        if !batch.isEmpty { try await store() }
        return report
    }

    /// The failure of the import after an error.
    func failure(_ error: any Error) -> PersistenceFailure {
        if let failure = error as? PersistenceFailure { return failure.importing(report) }
        if error is CancellationError, Task.isCancelled { return PersistenceJob.cancelled.importing(report) }
        return PersistenceFailure(
            .work, "The source of the import has thrown \(type(of: error)).", model: Model.table, underlying: error
        ).importing(report)
    }
}
