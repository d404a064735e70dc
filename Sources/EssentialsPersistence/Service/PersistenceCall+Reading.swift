/// Calls that read. The methods of ``PersistenceWork`` with the same names describe their results and failures.
extension PersistenceCall {
    /// The models that a query finds, in its order.
    public static func fetch<Model: PersistentModel>(_ query: Query<Model>) -> PersistenceCall where Value == [Model] {
        .reading(query.node) { try $0.fetch(query) }
    }

    /// The rows of a query in SQL, each as a value whose coding keys are the names of its columns.
    public static func fetch<Element: Decodable & Sendable>(
        _ type: Element.Type, sql: String, arguments: [StoredValue] = []
    ) -> PersistenceCall where Value == [Element] {
        PersistenceCall(PersistenceJob.Plan(.read)) { try $0.fetch(type, sql: sql, arguments: arguments) }
    }

    /// The first model that a query finds; `nil` if it finds no row.
    public static func first<Model: PersistentModel>(_ query: Query<Model>) -> PersistenceCall where Value == Model? {
        .reading(query.node) { try $0.first(query) }
    }

    /// The models with these ids, in the order of the ids; an id that is named twice gives two models.
    public static func fetch<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: [Model.ID], missing: MissingRows = .fail
    ) -> PersistenceCall where Value == [Model] {
        .looking(up: ids, of: Model.self) { try $0.fetch(Model.self, ids: ids, missing: missing) }
    }

    /// The model with this id; `nil` if there is no such row.
    public static func find<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID
    ) -> PersistenceCall where Value == Model? {
        .looking(up: [id], of: Model.self) { try $0.find(Model.self, id: id) }
    }

    /// The model with this id; `nil` if there is no such row.
    public static func find<Model: PersistentModel>(
        _ id: ModelID<Model>
    ) -> PersistenceCall where Value == Model?, Model.ID == ModelID<Model> { .find(Model.self, id: id) }

    /// The ids of the rows that a query finds, in its order.
    public static func ids<Model: PersistentModel>(_ query: Query<Model>) -> PersistenceCall where Value == [Model.ID] {
        .reading(query.node) { try $0.ids(query) }
    }

    /// The values of one column, in the order of the rows.
    public static func values<Model: PersistentModel, Element: ColumnValue>(
        _ query: ValueQuery<Model, Element>
    ) -> PersistenceCall where Value == [Element] {
        .reading(query.node) { try $0.values(query) }
    }

    /// The number of rows that a query finds.
    public static func count<Model: PersistentModel>(_ query: Query<Model>) -> PersistenceCall where Value == Int {
        .reading(query.node) { try $0.count(query) }
    }

    /// The number of values that a query finds.
    public static func count<Model: PersistentModel, Element>(
        _ query: ValueQuery<Model, Element>
    ) -> PersistenceCall where Value == Int {
        .reading(query.node) { try $0.count(query) }
    }

    /// Whether a query finds a row.
    public static func exists<Model: PersistentModel>(_ query: Query<Model>) -> PersistenceCall where Value == Bool {
        .reading(query.node) { try $0.exists(query) }
    }

    /// The smallest value of a column; `nil` if there is no value.
    public static func min<Model: PersistentModel, Element: ColumnValue>(
        _ query: ValueQuery<Model, Element>
    ) -> PersistenceCall where Value == Element? {
        .reading(query.node) { try $0.min(query) }
    }

    /// The greatest value of a column; `nil` if there is no value.
    public static func max<Model: PersistentModel, Element: ColumnValue>(
        _ query: ValueQuery<Model, Element>
    ) -> PersistenceCall where Value == Element? {
        .reading(query.node) { try $0.max(query) }
    }

    /// The mean of a column; `nil` if there is no value.
    public static func average<Model: PersistentModel, Element: ColumnValue>(
        _ query: ValueQuery<Model, Element>
    ) -> PersistenceCall where Value == Double? {
        .reading(query.node) { try $0.average(query) }
    }

    /// The number of rows for each value of a column.
    public static func counts<Model: PersistentModel, Element: ColumnValue & Hashable>(
        by query: ValueQuery<Model, Element>
    ) -> PersistenceCall where Value == [Element: Int] {
        .reading(query.node) { try $0.counts(by: query) }
    }

    /// The sum of a column for each value of another one. NULL is skipped.
    public static func sums<Model: PersistentModel, Sum: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Sum>, by column: (Model.Columns) -> Column<Model, Key>
    ) -> PersistenceCall where Value == [Key: Sum] {
        let column = column(Model.columns)
        return .reading(query.node) { try $0.sums(of: query, by: { _ in column }) }
    }

    /// The sum of an optional column for each value of another one. `nil` is skipped.
    public static func sums<Model: PersistentModel, Sum: ColumnValue & AdditiveArithmetic, Key: ColumnValue & Hashable>(
        of query: ValueQuery<Model, Sum?>, by column: (Model.Columns) -> Column<Model, Key>
    ) -> PersistenceCall where Value == [Key: Sum] {
        let column = column(Model.columns)
        return .reading(query.node) { try $0.sums(of: query, by: { _ in column }) }
    }
}

extension PersistenceCall where Value: PersistentModel {
    /// The first model that a query finds. Fails as `notFound` if the query finds no row.
    public static func one(_ query: Query<Value>) -> PersistenceCall {
        .reading(query.node) { try $0.one(query) }
    }
}

extension PersistenceCall where Value: ColumnValue & AdditiveArithmetic {
    /// The sum of an optional column; 0 if there is no value. `nil` is skipped.
    public static func sum<Model: PersistentModel>(_ query: ValueQuery<Model, Value?>) -> PersistenceCall {
        .reading(query.node) { try $0.sum(query) }
    }

    /// The sum of a column; 0 if there is no value.
    public static func sum<Model: PersistentModel>(_ query: ValueQuery<Model, Value>) -> PersistenceCall {
        .reading(query.node) { try $0.sum(query) }
    }
}
