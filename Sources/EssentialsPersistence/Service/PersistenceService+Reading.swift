/// Reading. The methods of ``PersistenceWork`` with the same names describe the results and failures. These methods
/// also throw `cancelled`, `closed`, and the failure that kept the store from opening. Each call reads one state of all
/// rows.
extension PersistenceService {
    /// The models that a query finds, in its order.
    public func fetch<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> [Model] {
        try await result(of: .fetch(query))
    }

    /// The rows of a query in SQL, each as a value whose coding keys are the names of its columns.
    public func fetch<Value: Decodable & Sendable>(
        _ type: Value.Type, sql: String, arguments: [StoredValue] = []
    ) async throws(PersistenceFailure) -> [Value] {
        try await result(of: .fetch(type, sql: sql, arguments: arguments))
    }

    /// The first model that a query finds; `nil` if it finds no row.
    public func first<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Model? {
        try await result(of: .first(query))
    }

    /// The first model that a query finds. Fails as `notFound` if the query finds no row.
    public func one<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Model {
        try await result(of: .one(query))
    }

    /// The models with these ids, in the order of the ids; an id that is named twice gives two models.
    public func fetch<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: [Model.ID], missing: MissingRows = .fail
    ) async throws(PersistenceFailure) -> [Model] {
        try await result(of: .fetch(type, ids: ids, missing: missing))
    }

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
    ) async throws(PersistenceFailure) -> Model? where Model.ID == ModelID<Model> {
        try await find(Model.self, id: id)
    }

    /// The ids of the rows that a query finds, in its order.
    public func ids<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> [Model.ID] {
        try await result(of: .ids(query))
    }

    /// The values of one column, in the order of the rows.
    public func values<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> [Value] {
        try await result(of: .values(query))
    }

    /// The number of rows that a query finds.
    public func count<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Int {
        try await result(of: .count(query))
    }

    /// The number of values that a query finds.
    public func count<Model: PersistentModel, Value>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Int {
        try await result(of: .count(query))
    }

    /// Whether a query finds a row.
    public func exists<Model: PersistentModel>(_ query: Query<Model>) async throws(PersistenceFailure) -> Bool {
        try await result(of: .exists(query))
    }

    /// The sum of an optional column; 0 if there is no value. `nil` is skipped.
    public func sum<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
        _ query: ValueQuery<Model, Value?>
    ) async throws(PersistenceFailure) -> Value {
        try await result(of: .sum(query))
    }

    /// The sum of a column; 0 if there is no value.
    public func sum<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Value {
        try await result(of: .sum(query))
    }

    /// The smallest value of a column; `nil` if there is no value.
    public func min<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Value? {
        try await result(of: .min(query))
    }

    /// The greatest value of a column; `nil` if there is no value.
    public func max<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Value? {
        try await result(of: .max(query))
    }

    /// The mean of a column; `nil` if there is no value.
    public func average<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> Double? {
        try await result(of: .average(query))
    }

    /// The number of rows for each value of a column.
    public func counts<Model: PersistentModel, Value: ColumnValue & Hashable>(
        by query: ValueQuery<Model, Value>
    ) async throws(PersistenceFailure) -> [Value: Int] {
        try await result(of: .counts(by: query))
    }

    /// The sum of a column for each value of another one. NULL is skipped.
    public func sums<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Value>, by column: (Model.Columns) -> Column<Model, Key>
    ) async throws(PersistenceFailure) -> [Key: Value] {
        try await result(of: .sums(of: query, by: column))
    }

    /// The sum of an optional column for each value of another one. `nil` is skipped.
    public func sums<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Value?>, by column: (Model.Columns) -> Column<Model, Key>
    ) async throws(PersistenceFailure) -> [Key: Value] {
        try await result(of: .sums(of: query, by: column))
    }
}
