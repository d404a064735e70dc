/// Calls that change rows, and save them as their level says. The methods of ``PersistenceWork`` with the same names
/// describe their effects and failures. They also throw the failures of ``PersistenceService/save(_:resolving:)``.
extension PersistenceCall {
    /// Creates a row.
    public static func create<Model: PersistentModel>(
        _ model: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Void {
        .changing([Model.table], level, resolution) { try $0.create(model) }
    }

    /// Creates rows: all of them, or none after an error.
    public static func create<Model: PersistentModel>(
        _ models: [Model], save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Void {
        .changing([Model.table], level, resolution) { try $0.create(models) }
    }

    /// Creates a row for each source, and returns the number of rows. After an error, none is created.
    public static func create<Source: Sendable, Model: PersistentModel>(
        from sources: [Source], save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ transform: @escaping @Sendable (Source) throws -> Model
    ) -> PersistenceCall where Value == Int {
        .changing([Model.table], level, resolution) { try $0.create(from: sources, transform) }
    }

    /// Creates a row, or replaces the row with the same id.
    public static func put<Model: PersistentModel>(
        _ model: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Void {
        .changing([Model.table], level, resolution) { try $0.put(model) }
    }

    /// Creates rows, or replaces the rows with the same ids: all of them, or none after an error.
    public static func put<Model: PersistentModel>(
        _ models: [Model], save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Void {
        .changing([Model.table], level, resolution) { try $0.put(models) }
    }

    /// Creates rows, or replaces those with the same value of a column; see
    /// ``PersistenceWork/put(_:matching:)``.
    public static func put<Model: PersistentModel, Unique: ColumnValue>(
        _ models: [Model], matching column: @escaping @Sendable (Model.Columns) -> Column<Model, Unique>,
        save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Void {
        .changing([Model.table], level, resolution) { try $0.put(models, matching: column) }
    }

    /// Changes the row with an id by a closure. An error in the closure changes nothing.
    public static func update<Model: PersistentModel>(
        _ id: ModelID<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ change: @escaping @Sendable (inout Model) throws -> Void
    ) -> PersistenceCall where Value == Void, Model.ID == ModelID<Model> {
        .changing([Model.table], level, resolution) { try $0.update(id, change) }
    }

    /// Changes the row with an id by a closure. An error in the closure changes nothing.
    public static func update<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) -> PersistenceCall where Value == Void {
        .changing([Model.table], level, resolution) { try $0.update(Model.self, id: id, change) }
    }

    /// Changes all rows that a query finds by a closure, and returns how many it found.
    public static func update<Model: PersistentModel>(
        _ query: Query<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ change: @escaping @Sendable (inout Model) throws -> Void
    ) -> PersistenceCall where Value == Int {
        .changing(query.node.tables, level, resolution) { try $0.update(query, change) }
    }

    /// Assigns new values to columns of all rows that a query finds, and returns how many it found.
    public static func update<Model: PersistentModel>(
        _ query: Query<Model>, set assignments: [Assignment<Model>], save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Int {
        .executing(RowStatement(query: query.node, assignments: assignments.map(\.node)), level, resolution) {
            try $0.update(query, set: assignments)
        }
    }

    /// Saves the differences between two values of a model. Conflicts are judged by the original, as it was shown to a
    /// person.
    public static func update<Model: PersistentModel>(
        _ edited: Model, from original: Model, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Void {
        .changing([Model.table], level, resolution) { try $0.update(edited, from: original) }
    }

    /// Deletes all rows that a query finds, and returns how many.
    public static func delete<Model: PersistentModel>(
        _ query: Query<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Int {
        .executing(RowStatement(query: query.node, assignments: nil), level, resolution) { try $0.delete(query) }
    }

    /// Deletes the rows with these ids, and returns how many were deleted.
    public static func delete<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: [Model.ID], missing: MissingRows = .fail, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Int {
        .changing([Model.table], level, resolution) { try $0.delete(Model.self, ids: ids, missing: missing) }
    }

    /// Deletes the rows of these models, which are found by their ids, and returns how many were deleted.
    public static func delete<Model: PersistentModel>(
        _ models: [Model], missing: MissingRows = .fail, save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Int {
        .changing([Model.table], level, resolution) { try $0.delete(models, missing: missing) }
    }
}
