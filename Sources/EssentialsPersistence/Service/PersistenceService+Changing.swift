/// Changing. The methods of ``PersistenceWork`` with the same names describe the effects and failures. These methods
/// also throw the failures of ``save(_:resolving:)``. After a failure all pending rows are as they were before the
/// call.
extension PersistenceService {
    /// Creates a row.
    public func create<Model: PersistentModel>(
        _ model: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) { try await changing(Model.self, level, resolution) { try $0.create(model) } }

    /// Creates rows: all of them, or none after an error.
    public func create<Model: PersistentModel>(
        _ models: [Model], save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) { try await changing(Model.self, level, resolution) { try $0.create(models) } }

    /// Creates a row for each source, and returns the number of rows. After an error, none is created.
    @discardableResult
    public func create<Source: Sendable, Model: PersistentModel>(
        from sources: [Source], save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ transform: @escaping @Sendable (Source) throws -> Model
    ) async throws(PersistenceFailure) -> Int {
        try await changing(Model.self, level, resolution) { try $0.create(from: sources, transform) }
    }

    /// Creates a row, or replaces the row with the same id.
    public func put<Model: PersistentModel>(
        _ model: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) { try await changing(Model.self, level, resolution) { try $0.put(model) } }

    /// Creates rows, or replaces the rows with the same ids: all of them, or none after an error.
    public func put<Model: PersistentModel>(
        _ models: [Model], save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) { try await changing(Model.self, level, resolution) { try $0.put(models) } }

    /// Creates rows, or replaces those with the same value of a column; see
    /// ``PersistenceWork/put(_:matching:)``.
    public func put<Model: PersistentModel, Unique: ColumnValue>(
        _ models: [Model], matching column: @escaping @Sendable (Model.Columns) -> Column<Model, Unique>,
        save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) {
        try await changing(Model.self, level, resolution) { try $0.put(models, matching: column) }
    }

    /// Changes the row with an id by a closure. An error in the closure changes nothing.
    public func update<Model: PersistentModel>(
        _ id: ModelID<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws(PersistenceFailure) where Model.ID == ModelID<Model> {
        try await changing(Model.self, level, resolution) { try $0.update(id, change) }
    }

    /// Changes the row with an id by a closure. An error in the closure changes nothing.
    public func update<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws(PersistenceFailure) {
        try await changing(Model.self, level, resolution) { try $0.update(type, id: id, change) }
    }

    /// Changes all rows that a query finds by a closure, and returns how many it found.
    @discardableResult
    public func update<Model: PersistentModel>(
        _ query: Query<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws(PersistenceFailure) -> Int {
        try await result(of: .changing(query.node.tables, level, resolution) { try $0.update(query, change) })
    }

    /// Assigns new values to columns of all rows that a query finds, and returns how many it found.
    ///
    /// With ``SaveLevel/store``, a service may do this without loading the rows if nothing is pending.
    @discardableResult
    public func update<Model: PersistentModel>(
        _ query: Query<Model>, set assignments: [Assignment<Model>], save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) -> Int {
        try await result(of: .update(query, set: assignments, save: level, resolving: resolution))
    }

    /// Saves the differences between two values of a model. Conflicts are judged by the original, as it was shown to a
    /// person.
    public func update<Model: PersistentModel>(
        _ edited: Model, from original: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) {
        try await changing(Model.self, level, resolution) { try $0.update(edited, from: original) }
    }

    /// Deletes all rows that a query finds, and returns how many.
    ///
    /// With ``SaveLevel/store``, a service may do this without loading the rows if nothing is pending.
    @discardableResult
    public func delete<Model: PersistentModel>(
        _ query: Query<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) -> Int {
        try await result(of: .delete(query, save: level, resolving: resolution))
    }

    /// Deletes the rows with these ids, and returns how many were deleted.
    @discardableResult
    public func delete<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: [Model.ID], missing: MissingRows = .fail, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) -> Int {
        try await changing(Model.self, level, resolution) { try $0.delete(type, ids: ids, missing: missing) }
    }

    /// Deletes the rows of these models, which are found by their ids, and returns how many were deleted.
    @discardableResult
    public func delete<Model: PersistentModel>(
        _ models: [Model], missing: MissingRows = .fail, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) -> Int {
        try await changing(Model.self, level, resolution) { try $0.delete(models, missing: missing) }
    }
}

extension PersistenceService {
    /// Changes rows of a model.
    fileprivate func changing<Model: PersistentModel, Value: Sendable>(
        _ type: Model.Type, _ level: SaveLevel, _ resolution: ConflictResolution?,
        _ change: @escaping @Sendable (PersistenceWork) throws -> Value
    ) async throws(PersistenceFailure) -> Value {
        try await result(of: .changing([Model.table], level, resolution, change))
    }
}
