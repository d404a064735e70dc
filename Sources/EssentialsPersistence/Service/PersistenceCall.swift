import EssentialsTools

/// A call of a persistence service as a value. It does not include the destination of its result.
///
/// The `async` methods of ``PersistenceService`` create their own calls. This type is for the two other forms: a call
/// with a completion handler, and a call that blocks its thread.
///
/// ```swift
/// let job = store.start(.fetch(Film.all), completionQueue: queue) { result in show(result) }
/// job.cancel()
/// let count = try store.wait(for: .count(Film.all))
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

    /// A call that reads the result of a query.
    static func reading(
        _ node: RowQuery, _ body: @escaping @Sendable (PersistenceWork) throws -> Value
    ) -> PersistenceCall {
        PersistenceCall(PersistenceJob.Plan(.read, tables: node.tables), body)
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
        let made = CallValue<Value>()
        return PersistenceJob(plan) { [body] work in
            made.set(try body(work))
        } completion: { [value] result in
            completion(
                result.flatMap { report in
                    (made.take() ?? value(report)).map { .success($0) }
                        ?? .failure(PersistenceFailure(.closed, "The service has ended the call without running it."))
                })
        }
    }
}

/// Holds the value of a call from the end of its closure to the end of its save.
private final class CallValue<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func set(_ new: Value?) { value.withLock { $0 = new } }
    func take() -> Value? { value.withLock { $0 } }
}
