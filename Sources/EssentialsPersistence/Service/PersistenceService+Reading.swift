/// Reading. The methods of ``PersistenceWork`` with the same names describe the results and failures. These methods
/// also throw `cancelled`, `closed`, and the failure that kept the store from opening. Each call reads one state of all
/// rows.
extension PersistenceService {
    /// The models that a query finds, in its order.
    public func fetch<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> [Model] {
        try await reading(query.node) { try $0.fetch(query) }
    }

    /// The rows of a query in SQL, each as a value whose coding keys are the names of its columns.
    public func fetch<Value: Decodable & Sendable>(
        _ type: Value.Type, sql: String, arguments: [StoredValue] = []
    ) async throws(PersistenceFailure) -> [Value] {
        try await result(of: .read { try $0.fetch(type, sql: sql, arguments: arguments) })
    }

    /// The first model that a query finds; `nil` if it finds no row.
    public func first<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Model? {
        try await reading(query.node) { try $0.first(query) }
    }

    /// The first model that a query finds. Fails as `notFound` if the query finds no row.
    public func one<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Model {
        try await reading(query.node) { try $0.one(query) }
    }

    /// The models with these ids, in the order of the ids; an id that is named twice gives two models.
    public func fetch<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: [Model.ID], missing: MissingRows = .fail
    ) async throws(PersistenceFailure) -> [Model] { try await result(of: .fetch(type, ids: ids, missing: missing)) }

    /// The model with this id; `nil` if there is no such row.
    public func find<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID
    ) async throws(PersistenceFailure) -> Model? {
        // A short path: reading a pending row takes no longer than creating a call.
        if let stored = id.storedValue, !Task.isCancelled, let rows = rowsAtHand(of: Model.table, ids: [stored]) {
            return try PersistenceWork(rows).find(type, id: id)
        }
        return try await result(of: .find(type, id: id))
    }

    /// The model with this id; `nil` if there is no such row.
    public func find<Model: PersistentModel>(
        _ id: ModelID<Model>
    ) async throws(PersistenceFailure) -> Model? where Model.ID == ModelID<Model> { try await find(Model.self, id: id) }

    /// The ids of the rows that a query finds, in its order.
    public func ids<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> [Model.ID] {
        try await reading(query.node) { try $0.ids(query) }
    }

    /// The values of one column, in the order of the rows.
    public func values<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> [Value] { try await reading(query.node) { try $0.values(query) } }

    /// The number of rows that a query finds.
    public func count<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Int {
        try await reading(query.node) { try $0.count(query) }
    }

    /// The number of values that a query finds.
    public func count<Model: PersistentModel, Value>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Int { try await reading(query.node) { try $0.count(query) } }

    /// Whether a query finds a row.
    public func exists<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Bool {
        try await reading(query.node) { try $0.exists(query) }
    }

    /// The sum of an optional column; 0 if there is no value. `nil` is skipped.
    public func sum<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
        _ query: ValueQuery<Model, Value?>
    ) async throws(PersistenceFailure) -> Value { try await reading(query.node) { try $0.sum(query) } }

    /// The sum of a column; 0 if there is no value.
    public func sum<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Value { try await reading(query.node) { try $0.sum(query) } }

    /// The smallest value of a column; `nil` if there is no value.
    public func min<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Value? { try await reading(query.node) { try $0.min(query) } }

    /// The greatest value of a column; `nil` if there is no value.
    public func max<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Value? { try await reading(query.node) { try $0.max(query) } }

    /// The mean of a column; `nil` if there is no value.
    public func average<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Double? { try await reading(query.node) { try $0.average(query) } }

    /// The number of rows for each value of a column.
    public func counts<Model: PersistentModel, Value: ColumnValue & Hashable>(
        by query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> [Value: Int] { try await reading(query.node) { try $0.counts(by: query) } }

    /// The sum of a column for each value of another one. NULL is skipped.
    public func sums<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Value>, by column: (Model.Columns) -> Column<Model, Key>
    ) async throws(PersistenceFailure) -> [Key: Value] {
        let column = column(Model.columns)
        return try await reading(query.node) { try $0.sums(of: query, by: { _ in column }) }
    }

    /// The sum of an optional column for each value of another one. `nil` is skipped.
    public func sums<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Value?>, by column: (Model.Columns) -> Column<Model, Key>
    ) async throws(PersistenceFailure) -> [Key: Value] {
        let column = column(Model.columns)
        return try await reading(query.node) { try $0.sums(of: query, by: { _ in column }) }
    }

    // MARK: Rows with rows that they refer to

    /// The models that a query finds, each with the rows that it refers to by one or several relations. It takes one
    /// query for the models and one for each relation, on the same state.
    public func fetch<Child: PersistentModel, Parent: PersistentModel, each Other: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>, _ others: repeat ToOne<Child, each Other>
    ) async throws(PersistenceFailure) -> [(Child, Parent?, repeat (each Other)?)] {
        var tables: Set = [Parent.table]
        for table in repeat (each Other).table { tables.insert(table) }
        return try await reading(query.node, and: tables) { try $0.fetch(query, with: relation, repeat each others) }
    }

    /// The models that a query finds, each with the row that it refers to, and the row that this one refers to.
    public func fetch<Child: PersistentModel, Parent: PersistentModel, Grandparent: PersistentModel>(
        _ query: Query<Child>, with relation: ToOne<Child, Parent>, then next: ToOne<Parent, Grandparent>
    ) async throws(PersistenceFailure) -> [(Child, Parent?, Grandparent?)] {
        try await reading(query.node, and: [Parent.table, Grandparent.table]) {
            try $0.fetch(query, with: relation, then: next)
        }
    }

    /// The models that a query finds, each with the rows that refer to it by its id.
    public func fetch<Parent: PersistentModel, Child: PersistentModel>(
        _ query: Query<Parent>, with relation: ToMany<Parent, Child>
    ) async throws(PersistenceFailure) -> [(Parent, [Child])] {
        try await reading(query.node, and: [Child.table]) { try $0.fetch(query, with: relation) }
    }
}

extension PersistenceService {
    /// Reads the result of a query, and rows of other tables.
    fileprivate func reading<Value: Sendable>(
        _ query: RowQuery, and tables: Set<String> = [], _ read: @escaping @Sendable (PersistenceWork) throws -> Value
    ) async throws(PersistenceFailure) -> Value { try await result(of: .reading(query, and: tables, read)) }
}
