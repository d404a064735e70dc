extension PersistenceWork {
    /// Creates a row.
    ///
    /// The types of all values, required values and the id are checked now. The save checks other constraints of the
    /// table.
    ///
    /// - Throws: A failure with the reason `invalidModel`, `encoding`, `limit`, or `constraint` if there is a row with
    ///   this id.
    public func create<Model: PersistentModel>(_ model: Model) throws(PersistenceFailure) {
        let coder = try coder(Model.self)
        let row = try coder.row(model)
        let id = coder.id(row)
        guard try rows.rows(of: Model.table, ids: [id]).isEmpty else { throw Self.taken([id], Model.table) }
        try rows.place([RowChange(table: Model.table, id: id, row: row, base: nil)])
    }

    /// Creates rows: all of them, or none after an error.
    public func create<Model: PersistentModel>(_ models: some Sequence<Model>) throws(PersistenceFailure) {
        let (ids, rows) = try encoded(models)
        let known = try self.rows.rows(of: Model.table, ids: ids)
        guard known.isEmpty else { throw Self.taken(ids.filter { known[$0] != nil }, Model.table) }
        try self.rows.place(zip(ids, rows).map { RowChange(table: Model.table, id: $0, row: $1, base: nil) })
    }

    /// Creates a row for each source: for all of them, or for none after an error.
    ///
    /// ```swift
    /// let count = try work.create(from: lines) { line in try Film(line) }
    /// ```
    ///
    /// - Returns: The number of rows.
    /// - Throws: A failure with the reason `work` if the closure throws, or as ``create(_:)-(Model)`` does.
    @discardableResult
    public func create<Source, Model: PersistentModel>(
        from sources: some Sequence<Source>, _ transform: (Source) throws -> Model
    ) throws(PersistenceFailure) -> Int {
        let models: [Model]
        do {
            models = try sources.map(transform)
        } catch {
            throw PersistenceFailure(
                .work, "The closure has thrown \(type(of: error)).", model: Model.table, underlying: error)
        }
        try create(models)
        return models.count
    }

    /// Creates a row, or replaces the row with the same id.
    public func put<Model: PersistentModel>(_ model: Model) throws(PersistenceFailure) {
        try put(CollectionOfOne(model))
    }

    /// Creates rows, or replaces the rows with the same ids: all of them, or none after an error.
    ///
    /// Columns that are not part of the model keep their values. Columns whose meaning has not changed keep their
    /// stored bytes. So putting an unchanged fetched model changes nothing.
    public func put<Model: PersistentModel>(_ models: some Sequence<Model>) throws(PersistenceFailure) {
        let models = Array(models)
        let ids = try encoded(models).ids
        let known = try rows.rows(of: Model.table, ids: ids)
        let coder = try coder(Model.self)
        var changes: [RowChange] = []
        for (id, model) in zip(ids, models) {
            let base = known[id]
            let row = if let base { try coder.row(model, replacing: base) } else { try coder.row(model) }
            changes.append(RowChange(table: Model.table, id: id, row: row, base: base))
        }
        try rows.place(changes)
    }

    /// Creates rows, or replaces those with the same value of a column: all of them, or none after an error.
    ///
    /// An existing row keeps its id, whatever the id of the model is. It is found by a column that the table has
    /// declared `UNIQUE`; values are compared byte for byte.
    ///
    /// ```swift
    /// try work.put(studios, matching: { $0.name })
    /// ```
    ///
    /// - Throws: A failure with the reason `invalidModel` if a model has no value in the column, or if two models or
    ///   two rows have the same value, or as ``create(_:)-(Model)`` does.
    public func put<Model: PersistentModel, Unique: ColumnValue>(
        _ models: some Sequence<Model>, matching column: (Model.Columns) -> Column<Model, Unique>
    ) throws(PersistenceFailure) {
        let name = column(Model.columns).name
        let models = Array(models)
        let (ids, rows) = try encoded(models)
        let values = rows.map { $0[name] ?? .null }
        guard Set(values).count == values.count, !values.contains(.null) else {
            throw PersistenceFailure(
                .invalidModel, "The models do not have one value of the column \(name) each.", model: Model.table,
                ids: ids)
        }
        let coder = try coder(Model.self)
        var known: [StoredValue: StoredRow] = [:]
        for (value, row) in try seen(values, in: name, of: Model.self)
        where known.updateValue(row, forKey: value) != nil {
            throw PersistenceFailure(
                .invalidModel, "Several rows have the same value of the column \(name).",
                remedy: "Declare the column UNIQUE.", model: Model.table, ids: [coder.id(row)])
        }
        let taken = try self.rows.rows(of: Model.table, ids: zip(values, ids).filter { known[$0.0] == nil }.map(\.1))
        guard taken.isEmpty else { throw Self.taken(ids.filter { taken[$0] != nil }, Model.table) }
        var changes: [RowChange] = []
        for ((value, model), (id, new)) in zip(zip(values, models), zip(ids, rows)) {
            guard let base = known[value] else {
                changes.append(RowChange(table: Model.table, id: id, row: new, base: nil))
                continue
            }
            let row = try coder.row(model, replacing: base)
            let id = coder.id(base)
            changes.append(
                RowChange(table: Model.table, id: id, row: coder.replacingID(in: row, by: id), base: base))
        }
        try self.rows.place(changes.filter { $0.row != $0.base })
    }

    private static func taken(_ ids: [StoredValue], _ table: String) -> PersistenceFailure {
        PersistenceFailure(
            .constraint, "There are rows with \(ids.count) of these ids.",
            remedy: "Update or put the rows, or choose other ids.", model: table, ids: ids)
    }

    /// Changes the row with an id by a closure.
    ///
    /// Only the columns whose values the closure has changed count as changed. An error in the closure changes nothing.
    ///
    /// - Throws: A failure with the reason `notFound`, `work` if the closure throws, `invalidModel` if it changes the
    ///   id, or as ``create(_:)-(Model)`` does.
    public func update<Model: PersistentModel>(
        _ id: ModelID<Model>, _ change: (inout Model) throws -> Void
    ) throws(PersistenceFailure) where Model.ID == ModelID<Model> {
        try update(Model.self, id: id, change)
    }

    /// Changes the row with an id of any type by a closure; see ``update(_:_:)-(ModelID<Model>,_)``.
    public func update<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID, _ change: (inout Model) throws -> Void
    ) throws(PersistenceFailure) {
        let ids = try Self.stored(CollectionOfOne(id), of: Model.self)
        let found = try seen(ids, of: Model.self, missing: .fail)
        try update(Array(found.values), of: Model.self, change)
    }

    /// Changes all rows that a query finds by a closure: all of them, or none after an error.
    ///
    /// - Returns: The number of rows that the query found.
    @discardableResult
    public func update<Model: PersistentModel>(
        _ query: Query<Model>, _ change: (inout Model) throws -> Void
    ) throws(PersistenceFailure) -> Int {
        let found = try rows.rows(query.node)
        try update(found, of: Model.self, change)
        return found.count
    }

    /// Assigns new values to columns of all rows that a query finds: to all of them, or to none after an error.
    ///
    /// ```swift
    /// let count = try work.update(Film.where { $0.year < 1930 }, set: [\.views += 1, .set(\.note, to: "silent")])
    /// ```
    ///
    /// - Returns: The number of rows that the query found.
    /// - Throws: A failure with the reason `invalidModel` for a value that is out of range and for a change of the id,
    ///   or as ``create(_:)-(Model)`` does.
    @discardableResult
    public func update<Model: PersistentModel>(
        _ query: Query<Model>, set assignments: [Assignment<Model>]
    ) throws(PersistenceFailure) -> Int {
        let found = try rows.rows(query.node)
        let coder = try coder(Model.self)
        var changes: [RowChange] = []
        for row in found {
            let new = try RowAssignment.applied(assignments.map(\.node), to: row, of: Model.self)
            if new != row { changes.append(RowChange(table: Model.table, id: coder.id(row), row: new, base: row)) }
        }
        try rows.place(changes)
        return found.count
    }

    private func update<Model: PersistentModel>(
        _ rows: [StoredRow], of type: Model.Type, _ change: (inout Model) throws -> Void
    ) throws(PersistenceFailure) {
        let coder = try coder(Model.self)
        var changes: [RowChange] = []
        for row in rows {
            guard let new = try coder.updated(row, change) else { continue }
            changes.append(RowChange(table: Model.table, id: coder.id(row), row: new, base: row))
        }
        try self.rows.place(changes)
    }

    /// Saves the changes that a person has made in a model that was fetched earlier.
    ///
    /// Conflicts are judged by the original. If others have changed one of the edited columns since, or deleted the
    /// row, a save into the store finds a conflict.
    ///
    /// - Parameters:
    ///   - edited: The model after the changes.
    ///   - original: The model as it was shown.
    /// - Throws: A failure with the reason `notFound` if the scope, or a scope above it, has deleted a row of the
    ///   store; `conflict` if the row is pending there with other values than those of the original. A row that was
    ///   never stored and that the scope has deleted is no longer known: the edit shows it again, and its save finds a
    ///   conflict.
    public func update<Model: PersistentModel>(
        _ edited: Model, from original: Model
    ) throws(PersistenceFailure) {
        let coder = try coder(Model.self)
        let id = try Self.stored(CollectionOfOne(original.id), of: Model.self)
        let row = try rows.rows(of: Model.table, ids: id)[id[0]]
        guard let (new, base) = try coder.edit(edited, from: original, row: row) else { return }
        try rows.place([RowChange(table: Model.table, id: id[0], row: new, base: base)])
    }

    /// Deletes all rows that a query finds. Its limit and its order are respected.
    ///
    /// Rows of other tables that refer to them are deleted, changed or kept as `ON DELETE` of their foreign keys says.
    ///
    /// - Returns: The number of rows that the query found. Zero is not an error.
    /// - Throws: A failure with the reason `constraint` if a foreign key restricts the deletion, or as
    ///   ``fetch(_:)-(Query<Model>)`` does.
    @discardableResult
    public func delete<Model: PersistentModel>(_ query: Query<Model>) throws(PersistenceFailure) -> Int {
        let found = try rows.rows(query.node)
        try rows.delete(found, of: Model.table)
        return found.count
    }

    /// Deletes the rows with these ids.
    ///
    /// - Returns: The number of deleted rows.
    /// - Throws: A failure with the reason `notFound` that names all missing ids, unless they are to be ignored, or as
    ///   ``delete(_:)-(Query<Model>)`` does.
    @discardableResult
    public func delete<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: some Sequence<Model.ID>, missing: MissingRows = .fail
    ) throws(PersistenceFailure) -> Int {
        let ids = try Self.stored(ids, of: Model.self)
        let found = try seen(ids, of: Model.self, missing: missing)
        try rows.delete(Array(found.values), of: Model.table)
        return found.count
    }

    /// Deletes the rows of these models, which are found by their ids. The other values are ignored.
    ///
    /// - Returns: The number of deleted rows.
    /// - Throws: As ``delete(_:ids:missing:)`` does.
    @discardableResult
    public func delete<Model: PersistentModel>(
        _ models: some Sequence<Model>, missing: MissingRows = .fail
    ) throws(PersistenceFailure) -> Int {
        try delete(Model.self, ids: models.map(\.id), missing: missing)
    }

    /// The ids and the rows of new models.
    private func encoded<Model: PersistentModel>(
        _ models: some Sequence<Model>
    ) throws(PersistenceFailure) -> (ids: [StoredValue], rows: [StoredRow]) {
        let coder = try coder(Model.self)
        var ids: [StoredValue] = []
        var rows: [StoredRow] = []
        for model in models {
            let row = try coder.row(model)
            ids.append(coder.id(row))
            rows.append(row)
        }
        guard Set(ids).count == ids.count else {
            throw PersistenceFailure(.invalidModel, "Two of the models have the same id.", model: Model.table)
        }
        return (ids, rows)
    }
}
