import EssentialsTools

/// A call of a persistence service as a value. It does not include the destination of its result.
///
/// The `async` methods of ``PersistenceService`` create their own calls. This type is for calls with a completion
/// handler and for calls that block their thread, if they do something else than run a closure: they save, import, or
/// name the rows so that a service needs no closure.
///
/// ```swift
/// let job = store.start(.save(.store), completionQueue: queue) { result in show(result) }
/// job.cancel()
/// let found = try store.wait(for: .find(film.id))
/// ```
public struct PersistenceCall<Value: Sendable>: Sendable {
    var plan: PersistenceJob.Plan
    private let body: @Sendable (PersistenceWork) throws -> Value?
    /// Makes the value from the report of the save, if the closure makes none.
    private let value: @Sendable (SaveReport) -> Value?

    init(_ plan: PersistenceJob.Plan, _ body: @escaping @Sendable (PersistenceWork) throws -> Value) {
        self.plan = plan
        self.body = body
        value = { _ in nil }
    }

    private init(
        _ plan: PersistenceJob.Plan, body: @escaping @Sendable (PersistenceWork) throws -> Value?,
        value: @escaping @Sendable (SaveReport) -> Value?
    ) {
        self.plan = plan
        self.body = body
        self.value = value
    }

    /// A call whose value is made from the report of its save.
    static func reporting(
        _ plan: PersistenceJob.Plan, _ value: @escaping @Sendable (SaveReport) -> Value,
        _ body: @escaping @Sendable (PersistenceWork) throws -> Void = { _ in }
    ) -> PersistenceCall {
        PersistenceCall(
            plan,
            body: { work in
                try body(work)
                return nil
            }, value: value)
    }

    /// A call that reads the result of a query, and rows of other tables.
    static func reading(
        _ query: RowQuery, and tables: Set<String> = [],
        _ body: @escaping @Sendable (PersistenceWork) throws -> Value
    ) -> PersistenceCall {
        PersistenceCall(PersistenceJob.Plan(.read, tables: query.tables.map { $0.union(tables) }), body)
    }

    /// A call that reads rows by their ids.
    static func looking<Model: PersistentModel>(
        up ids: [Model.ID], of type: Model.Type, _ body: @escaping @Sendable (PersistenceWork) throws -> Value
    ) -> PersistenceCall {
        var plan = PersistenceJob.Plan(.read, tables: [Model.table])
        plan.lookup = (Model.table, ids.compactMap { $0.storedValue })
        return PersistenceCall(plan, body)
    }

    /// A call that changes rows.
    static func changing(
        _ tables: Set<String>?, _ level: SaveLevel, _ resolution: ConflictResolution?,
        _ body: @escaping @Sendable (PersistenceWork) throws -> Value
    ) -> PersistenceCall {
        PersistenceCall(PersistenceJob.Plan(.change(level), tables: tables, resolution: resolution), body)
    }

    /// A call that runs a closure: it reads, or if a level is given, it is a unit of work.
    static func closure(
        _ level: SaveLevel?, _ resolution: ConflictResolution?,
        _ body: @escaping @Sendable (PersistenceWork) throws -> Value
    ) -> PersistenceCall { level.map { .changing(nil, $0, resolution, body) } ?? .read(body) }

    /// A call with a change that a service may execute without the closure. Its value is the number of changed rows.
    static func executing(
        _ statement: RowStatement, _ level: SaveLevel, _ resolution: ConflictResolution?,
        _ body: @escaping @Sendable (PersistenceWork) throws -> Int
    ) -> PersistenceCall where Value == Int {
        var plan = PersistenceJob.Plan(
            .change(level), tables: statement.query.tables, resolution: resolution)
        plan.statement = statement
        return PersistenceCall(
            plan, body: { try body($0) },
            value: { statement.assignments == nil ? $0.deleted : $0.updated })
    }

    /// The value of the call, read from rows at hand; `nil` if the value is made from the report of a save.
    func value(on rows: any WorkRows) throws(PersistenceFailure) -> Value? {
        try PersistenceJob.result { () throws in try body(PersistenceWork(rows)) }
    }

    /// The job of the call.
    func job(_ completion: @escaping @Sendable (Result<Value, PersistenceFailure>) -> Void) -> PersistenceJob {
        let made = CallResult<Value>()
        return PersistenceJob(plan) { [body] work in
            made.value = try body(work)
        } completion: { [value] result in
            completion(
                result.flatMap { report in
                    (made.value ?? value(report)).map { .success($0) }
                        ?? .failure(PersistenceFailure(.closed, "The service has ended the call without running it."))
                })
        }
    }
}

/// Calls with closures, calls that name their rows, and calls that concern the pending rows of a scope.
extension PersistenceCall {
    /// Runs a unit of work; see ``PersistenceService/perform(save:resolving:_:)``.
    public static func perform(
        save level: SaveLevel, resolving resolution: ConflictResolution? = nil,
        _ work: @escaping @Sendable (PersistenceWork) throws -> Value
    ) -> PersistenceCall { .changing(nil, level, resolution, work) }

    /// Runs a closure that reads one state of all rows; see ``PersistenceService/read(_:)``.
    public static func read(_ work: @escaping @Sendable (PersistenceWork) throws -> Value) -> PersistenceCall {
        PersistenceCall(PersistenceJob.Plan(.read), work)
    }

    /// The models with these ids, in the order of the ids; an id that is named twice gives two models. Pending rows are
    /// read without a file.
    public static func fetch<Model: PersistentModel>(
        _ type: Model.Type = Model.self, ids: [Model.ID], missing: MissingRows = .fail
    ) -> PersistenceCall where Value == [Model] {
        .looking(up: ids, of: Model.self) { try $0.fetch(Model.self, ids: ids, missing: missing) }
    }

    /// The model with this id; `nil` if there is no such row. A pending row is read without a file.
    public static func find<Model: PersistentModel>(
        _ type: Model.Type = Model.self, id: Model.ID
    ) -> PersistenceCall where Value == Model? {
        .looking(up: [id], of: Model.self) { try $0.find(Model.self, id: id) }
    }

    /// The model with this id; `nil` if there is no such row. A pending row is read without a file.
    public static func find<Model: PersistentModel>(
        _ id: ModelID<Model>
    ) -> PersistenceCall where Value == Model?, Model.ID == ModelID<Model> { .find(Model.self, id: id) }

    /// Assigns new values to columns of all rows that a query finds, and returns how many it found.
    ///
    /// With ``SaveLevel/store``, a service may do this without loading the rows if nothing is pending.
    public static func update<Model: PersistentModel>(
        _ query: Query<Model>, set assignments: [Assignment<Model>], save level: SaveLevel,
        resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Int {
        .executing(RowStatement(query: query.node, assignments: assignments.map(\.node)), level, resolution) {
            try $0.update(query, set: assignments)
        }
    }

    /// Deletes all rows that a query finds, and returns how many.
    ///
    /// With ``SaveLevel/store``, a service may do this without loading the rows if nothing is pending.
    public static func delete<Model: PersistentModel>(
        _ query: Query<Model>, save level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall where Value == Int {
        .executing(RowStatement(query: query.node, assignments: nil), level, resolution) { try $0.delete(query) }
    }
}

extension PersistenceCall where Value == SaveReport {
    /// Saves the pending rows of the scope; see ``PersistenceService/save(_:resolving:)``.
    public static func save(
        _ level: SaveLevel, resolving resolution: ConflictResolution? = nil
    ) -> PersistenceCall { .reporting(PersistenceJob.Plan(.change(level), tables: [], resolution: resolution)) { $0 } }

    /// Checks the outcome of a save into the store; see ``PersistenceService/validate(resolving:)``.
    public static func validate(resolving resolution: ConflictResolution? = nil) -> PersistenceCall {
        .reporting(PersistenceJob.Plan(.validate, tables: [], resolution: resolution)) { $0 }
    }
}

extension PersistenceCall where Value == Void {
    /// Drops all pending rows of the scope; see ``PersistenceService/rollback()``.
    public static func rollback() -> PersistenceCall {
        PersistenceCall(PersistenceJob.Plan(.rollback, tables: [])) { _ in }
    }

    /// Drops some pending rows of the scope; see ``PersistenceService/discard(_:ids:)``.
    public static func discard<Model: PersistentModel>(_ type: Model.Type, ids: [Model.ID]) -> PersistenceCall {
        let ids = ids.compactMap { $0.storedValue }
        return PersistenceCall(PersistenceJob.Plan(.discard(table: Model.table, ids: ids), tables: [])) { _ in }
    }
}
