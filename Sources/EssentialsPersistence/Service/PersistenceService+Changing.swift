/// Changing. The methods of ``PersistenceWork`` with the same names describe the effects and failures. These methods
/// also throw the failures of ``save(_:resolving:)``. After a failure all pending rows are as they were before the
/// call.
extension PersistenceService {
    /// Creates a row.
    public func create<Model: PersistentModel>(
        _ model: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) {
        try await result(of: .create(model, save: level, resolving: resolution))
    }

    /// Creates rows: all of them, or none after an error.
    public func create<Model: PersistentModel>(
        _ models: [Model], save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) {
        try await result(of: .create(models, save: level, resolving: resolution))
    }

    /// Creates a row for each source, and returns the number of rows. After an error, none is created.
    @discardableResult
    public func create<Source: Sendable, Model: PersistentModel>(
        from sources: [Source], save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ transform: @escaping @Sendable (Source) throws -> Model
    ) async throws(PersistenceFailure) -> Int {
        try await result(of: .create(from: sources, save: level, resolving: resolution, transform))
    }

    /// Creates a row, or replaces the row with the same id.
    public func put<Model: PersistentModel>(
        _ model: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) {
        try await result(of: .put(model, save: level, resolving: resolution))
    }

    /// Creates rows, or replaces the rows with the same ids: all of them, or none after an error.
    public func put<Model: PersistentModel>(
        _ models: [Model], save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) {
        try await result(of: .put(models, save: level, resolving: resolution))
    }

    /// Creates rows, or replaces those with the same value of a column; see
    /// ``PersistenceWork/put(_:matching:)``.
    public func put<Model: PersistentModel, Unique: ColumnValue>(
        _ models: [Model], matching column: @escaping @Sendable (Model.Columns) -> Column<Model, Unique>,
        save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) {
        try await result(of: .put(models, matching: column, save: level, resolving: resolution))
    }

    /// Changes the row with an id by a closure. An error in the closure changes nothing.
    public func update<Model: PersistentModel>(
        _ id: ModelID<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws(PersistenceFailure) where Model.ID == ModelID<Model> {
        try await result(of: .update(id, save: level, resolving: resolution, change))
    }

    /// Changes the row with an id by a closure. An error in the closure changes nothing.
    public func update<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws(PersistenceFailure) {
        try await result(of: .update(type, id: id, save: level, resolving: resolution, change))
    }

    /// Changes all rows that a query finds by a closure, and returns how many it found.
    @discardableResult
    public func update<Model: PersistentModel>(
        _ query: Query<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws(PersistenceFailure) -> Int {
        try await result(of: .update(query, save: level, resolving: resolution, change))
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
        try await result(of: .update(edited, from: original, save: level, resolving: resolution))
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
        try await result(of: .delete(type, ids: ids, missing: missing, save: level, resolving: resolution))
    }

    /// Deletes the rows of these models, which are found by their ids, and returns how many were deleted.
    @discardableResult
    public func delete<Model: PersistentModel>(
        _ models: [Model], missing: MissingRows = .fail, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) async throws(PersistenceFailure) -> Int {
        try await result(of: .delete(models, missing: missing, save: level, resolving: resolution))
    }
}
