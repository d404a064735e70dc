extension PersistenceWork {
    /// The models that a query finds, in its order.
    ///
    /// - Throws: A failure with the reason `invalidQuery`, `decoding`, `cancelled`, or a failure of the store.
    public func fetch<Model: PersistentModel>(_ query: Query<Model>) throws(PersistenceFailure) -> [Model] {
        try coder(Model.self).models(rows.rows(query.node))
    }

    /// The rows of a query in SQL, each as a value whose coding keys are the names of its columns.
    ///
    /// The query sees the rows that the scope sees. Tables include the pending rows, but views and full-text indexes of
    /// the file do not, nor does a table with `main.` before its name. `rowid` is refused. The SQL must be one
    /// statement that reads. The type may be a model, or any other decodable type, for groups and joins:
    ///
    /// ```swift
    /// struct Decade: Decodable { var decade: Int; var films: Int }
    /// let decades = try work.fetch(
    ///     Decade.self, sql: "SELECT year / 10 AS decade, count(*) AS films FROM film WHERE year > ? GROUP BY 1",
    ///     arguments: [1900])
    /// ```
    ///
    /// Pass values as arguments, never as part of the text. A column is decoded as in a model, by the type of the
    /// property.
    ///
    /// - Throws: A failure with the reason `invalidQuery` for another statement, and if the service runs no SQL; or
    ///   `decoding`, `cancelled`, or a failure of the store.
    public func fetch<Value: Decodable>(
        _ type: Value.Type, sql: String, arguments: [StoredValue] = []
    ) throws(PersistenceFailure) -> [Value] {
        try RowDecoder.values(type, from: rows.rows(sql: sql, arguments: arguments))
    }

    /// The first model that a query finds; `nil` if it finds no row.
    public func first<Model: PersistentModel>(_ query: Query<Model>) throws(PersistenceFailure) -> Model? {
        try fetch(query.limit(Swift.min(query.limit ?? 1, 1))).first
    }

    /// The first model that a query finds.
    ///
    /// - Throws: A failure with the reason `notFound` if the query finds no row.
    public func one<Model: PersistentModel>(_ query: Query<Model>) throws(PersistenceFailure) -> Model {
        if let model = try first(query) { return model }
        throw PersistenceFailure(.notFound, "The query finds no row.", model: Model.table)
    }

    /// The models with these ids, in the order of the ids; an id that is named twice gives two models.
    ///
    /// - Throws: A failure with the reason `notFound` that names all missing ids, unless they are to be ignored.
    public func fetch<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: some Sequence<Model.ID>, missing: MissingRows = .fail
    ) throws(PersistenceFailure) -> [Model] {
        let ids = try Self.stored(ids, of: Model.self)
        let found = try seen(ids, of: Model.self, missing: missing)
        return try coder(Model.self).models(ids.compactMap { found[$0] })
    }

    /// The model with this id; `nil` if there is no such row.
    public func find<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID
    ) throws(PersistenceFailure) -> Model? {
        guard let stored = id.storedValue else { throw Self.invalidID(Model.self) }
        // Kept short, because reading a pending row does nothing more.
        guard let row = try rows.rows(of: Model.table, ids: [stored])[stored] else { return nil }
        return try RowDecoder.model(from: row)
    }

    /// The model with this id; `nil` if there is no such row.
    ///
    /// ```swift
    /// let film = try work.find(filmID)
    /// ```
    public func find<Model: PersistentModel>(
        _ id: ModelID<Model>
    ) throws(PersistenceFailure) -> Model? where Model.ID == ModelID<Model> {
        try find(Model.self, id: id)
    }

    /// The ids of the rows that a query finds, in its order.
    public func ids<Model: PersistentModel>(_ query: Query<Model>) throws(PersistenceFailure) -> [Model.ID] {
        try values(query.values { $0.id })
    }

    /// The values of one column, in the order of the rows.
    ///
    /// ```swift
    /// let years = try work.values(Film.all.values { $0.year }.distinct())
    /// ```
    public func values<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> [Value] {
        var values: [Value] = []
        for stored in try rows.values(query.node) { values.append(try Self.value(stored, query)) }
        return values
    }

    /// The number of rows that a query finds.
    public func count<Model: PersistentModel>(_ query: Query<Model>) throws(PersistenceFailure) -> Int {
        try rows.count(query.node)
    }

    /// The number of values that a query finds.
    public func count<Model: PersistentModel, Value>(
        _ query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> Int {
        try rows.count(query.node)
    }

    /// Whether a query finds a row.
    public func exists<Model: PersistentModel>(_ query: Query<Model>) throws(PersistenceFailure) -> Bool {
        try rows.count(query.limit(Swift.min(query.limit ?? 1, 1)).node) > 0
    }

    /// The sum of a column; 0 if there is no value.
    ///
    /// - Throws: A failure with the reason `decoding` if the sum or an intermediate sum does not fit in 64 bits, if the
    ///   sum is out of the range of the type, or if it adds infinite values of both signs; or as
    ///   ``fetch(_:)-(Query<Model>)`` does.
    public func sum<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
        _ query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> Value {
        let sum = try rows.aggregate(query.node, .sum)
        return sum.isNull ? .zero : try Self.value(sum, query)
    }

    /// The sum of an optional column; 0 if there is no value. `nil` is skipped.
    ///
    /// - Throws: As for a column that is not optional.
    public func sum<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic>(
        _ query: ValueQuery<Model, Value?>
    ) throws(PersistenceFailure) -> Value {
        try Self.value(rows.aggregate(query.node, .sum), query) ?? .zero
    }

    /// The smallest value of a column; `nil` if there is no value.
    public func min<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> Value? {
        let value = try rows.aggregate(query.node, .minimum)
        return value.isNull ? nil : try Self.value(value, query)
    }

    /// The greatest value of a column; `nil` if there is no value.
    public func max<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> Value? {
        let value = try rows.aggregate(query.node, .maximum)
        return value.isNull ? nil : try Self.value(value, query)
    }

    /// The mean of a column; `nil` if there is no value.
    ///
    /// - Throws: A failure with the reason `decoding` if infinite values of both signs have no mean, or as
    ///   ``fetch(_:)-(Query<Model>)`` does.
    public func average<Model: PersistentModel, Value: ColumnValue>(
        _ query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> Double? {
        switch try rows.aggregate(query.node, .average) {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .text, .blob: nil
        }
    }

    /// The number of rows for each value of a column.
    ///
    /// ```swift
    /// let films = try work.counts(by: Film.all.values { $0.year })   // [1926: 2, 1931: 1]
    /// ```
    public func counts<Model: PersistentModel, Value: ColumnValue & Hashable>(
        by query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> [Value: Int] {
        var counts: [Value: Int] = [:]
        for (stored, count) in try rows.counts(query.node) {
            counts[try Self.value(stored, query), default: 0] += count
        }
        return counts
    }

    /// The sum of a column for each value of another one. NULL is skipped.
    ///
    /// ```swift
    /// let minutes = try work.sums(of: Film.all.values { $0.minutes }, by: { $0.year })   // [1926: 220, 1931: 90]
    /// ```
    ///
    /// - Throws: A failure with the reason `invalidQuery` if the query is for distinct values, or as
    ///   ``sum(_:)-(ValueQuery<Model,Value>)`` does.
    public func sums<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Value>, by column: (Model.Columns) -> Column<Model, Key>
    ) throws(PersistenceFailure) -> [Key: Value] {
        let column = column(Model.columns)
        var sums: [Key: Value] = [:]
        for (key, sum) in try groups(query.node, by: column) {
            sums[key] = sum.isNull ? .zero : try Self.value(sum, query.column)
        }
        return sums
    }

    /// The sum of an optional column for each value of another one. `nil` is skipped.
    ///
    /// - Throws: As for a column that is not optional.
    public func sums<Model: PersistentModel, Value: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Value?>, by column: (Model.Columns) -> Column<Model, Key>
    ) throws(PersistenceFailure) -> [Key: Value] {
        let column = column(Model.columns)
        var sums: [Key: Value] = [:]
        for (key, sum) in try groups(query.node, by: column) {
            sums[key] = try Self.value(sum, query.column) ?? .zero
        }
        return sums
    }

    /// The sums by the values of a column. Stored values with the same meaning form one group.
    private func groups<Model: PersistentModel, Key: ColumnValue & Hashable>(
        _ query: RowQuery, by column: Column<Model, Key>
    ) throws(PersistenceFailure) -> [Key: StoredValue] {
        var groups: [Key: StoredValue] = [:]
        for (stored, sum) in try rows.sums(query, by: column.name) {
            let key = try Self.value(stored, column)
            guard let known = groups[key], !known.isNull, !sum.isNull else {
                if groups[key]?.isNull ?? true { groups[key] = sum }
                continue
            }
            guard let total = RowAssignment.sum(known, sum, nil) else {
                throw PersistenceFailure(
                    .decoding, "The sum of \(query.table).\(query.column ?? query.key) is beyond 64 bits.",
                    model: Model.table)
            }
            groups[key] = total
        }
        return groups
    }

    private static func value<Model: PersistentModel, Value: ColumnValue>(
        _ stored: StoredValue, _ query: ValueQuery<Model, Value>
    ) throws(PersistenceFailure) -> Value { try value(stored, query.column) }

    private static func value<Model: PersistentModel, Value: ColumnValue>(
        _ stored: StoredValue, _ column: Column<Model, Value>
    ) throws(PersistenceFailure) -> Value {
        if let value = Value(storedValue: stored) { return value }
        throw PersistenceFailure(
            .decoding, "A value of \(Model.table).\(column.name) is no \(Value.self).", model: Model.table)
    }

    /// The rows with these ids.
    func seen<Model: PersistentModel>(
        _ ids: [StoredValue], of type: Model.Type, missing: MissingRows
    ) throws(PersistenceFailure) -> [StoredValue: StoredRow] {
        let found = try rows.rows(of: Model.table, ids: Array(Set(ids)))
        guard missing == .fail else { return found }
        let absent = ids.filter { found[$0] == nil }
        guard absent.isEmpty else {
            throw PersistenceFailure(
                .notFound, "There is no row for \(absent.count) of \(ids.count) ids.", model: Model.table, ids: absent)
        }
        return found
    }

    /// The rows with these values in a column, each with its value.
    func seen<Model: PersistentModel>(
        _ values: [StoredValue], in column: String, of type: Model.Type
    ) throws(PersistenceFailure) -> [(value: StoredValue, row: StoredRow)] {
        var found: [(StoredValue, StoredRow)] = []
        for start in stride(from: 0, to: values.count, by: RowQuery.maximumValues) {
            let part = Array(values[start..<Swift.min(start + RowQuery.maximumValues, values.count)])
            let query = RowQuery(table: Model.table, key: Model.columns.id.name, column: column, values: part)
            // More values may be equal under the column's collation.
            let wanted = Set(part)
            for row in try rows.rows(query) {
                if let value = row[column], wanted.contains(value) { found.append((value, row)) }
            }
        }
        return found
    }
}
