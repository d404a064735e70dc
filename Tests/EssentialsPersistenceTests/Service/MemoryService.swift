import Dispatch
import EssentialsTools

@testable import EssentialsPersistence

/// A service over dictionaries that implements only the six requirements. The only filter that it supports is `==` on
/// one column.
final class MemoryService: PersistenceService {
    struct State {
        var tables: [String: [StoredValue: StoredRow]] = [:]
        var plans: [PersistenceJob.Plan] = []
        var state = PersistenceState.ready
        /// Jobs that wait until they are released.
        var held: [PersistenceJob]?
        var observers: [Int: @Sendable (PersistenceChange) -> Void] = [:]
    }

    static let layouts = [
        Film.table: RowLayout(Film.columns.all.map(\.name) + ["note"]), Studio.table: RowLayout(["id", "name"]),
        Mistaken.table: RowLayout(["id", "count"]),
    ]

    let name = "memory"
    let contents = Mutex(State())
    private let queue = DispatchQueue(label: "memory")

    var state: PersistenceState { contents.withLock { $0.state } }
    var plans: [PersistenceJob.Plan] { contents.withLock { $0.plans } }

    func row(_ id: some ModelIdentifier, in table: String) -> StoredRow? {
        contents.withLock { state in id.storedValue.flatMap { state.tables[table]?[$0] } }
    }

    /// Keeps jobs until ``release()``.
    func hold() { contents.withLock { $0.held = [] } }

    func release() {
        let held = contents.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for job in held { queue.async { self.perform(job) } }
    }

    func run(_ job: PersistenceJob) {
        let isHeld = contents.withLock { state in
            state.plans.append(job.plan)
            state.held?.append(job)
            return state.held != nil
        }
        if isHeld { return }
        if job.plan.isBlocking { return perform(job) }
        queue.async { self.perform(job) }
    }

    private func perform(_ job: PersistenceJob) {
        do throws(PersistenceFailure) {
            let rows = MemoryRows(contents.withLock { $0.tables })
            try job.run(on: rows)
            if case .change = job.plan.action {
                let observers = contents.withLock { state in
                    state.tables = rows.tables
                    return Array(state.observers.values)
                }
                for observer in observers { observer(.unknown) }
            }
            job.finish(.success(SaveReport(updated: 7)))
        } catch {
            job.finish(.failure(error))
        }
    }

    func child(_ name: String, resolving: ConflictResolution?) throws(PersistenceFailure) -> any PersistenceService {
        throw PersistenceFailure(.limit, "There are no scopes.")
    }

    func observeChanges(
        _ observer: @escaping @Sendable (PersistenceChange) -> Void
    ) throws(PersistenceFailure) -> PersistenceObservation {
        let number = contents.withLock { state in
            state.observers[state.observers.count] = observer
            return state.observers.count - 1
        }
        return PersistenceObservation { [weak self] in self?.contents.withLock { $0.observers[number] = nil } }
    }

    func close() async { contents.withLock { $0.state = .closed } }
}

/// Rows in dictionaries.
final class MemoryRows: WorkRows {
    var tables: [String: [StoredValue: StoredRow]]

    init(_ tables: [String: [StoredValue: StoredRow]]) { self.tables = tables }

    func layout(of table: String) throws(PersistenceFailure) -> RowLayout {
        if let layout = MemoryService.layouts[table] { return layout }
        throw PersistenceFailure(.schemaMismatch, "There is no such table.", model: table)
    }

    func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] {
        var rows = tables[query.table, default: [:]].sorted { $0.key.precedes($1.key) }.map(\.value)
        if case .comparison(let column, .equal, let argument) = query.filter {
            rows.removeAll { $0[column] != argument.value }
        }
        return Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
    }

    func rows(of table: String, ids: [StoredValue]) throws(PersistenceFailure) -> [StoredValue: StoredRow] {
        tables[table, default: [:]].filter { ids.contains($0.key) }
    }

    func values(_ query: RowQuery) throws(PersistenceFailure) -> [StoredValue] {
        try rows(query).compactMap { $0[query.column ?? "id"] }
    }

    func count(_ query: RowQuery) throws(PersistenceFailure) -> Int { try rows(query).count }

    func aggregate(_ query: RowQuery, _ function: AggregateFunction) throws(PersistenceFailure) -> StoredValue {
        let values = try values(query).compactMap { value -> Int64? in
            if case .integer(let number) = value { number } else { nil }
        }
        guard !values.isEmpty else { return .null }
        let sum = values.reduce(0, +)
        return switch function {
        case .sum: .integer(sum)
        case .minimum: values.min().map { .integer($0) } ?? .null
        case .maximum: values.max().map { .integer($0) } ?? .null
        case .average: .real(Double(sum) / Double(values.count))
        }
    }

    func counts(_ query: RowQuery) throws(PersistenceFailure) -> [(value: StoredValue, count: Int)] {
        Dictionary(grouping: try values(query)) { $0 }.map { ($0, $1.count) }
    }

    func place(_ changes: [RowChange]) throws(PersistenceFailure) {
        for change in changes { tables[change.table, default: [:]][change.id] = change.row }
    }

    func delete(_ rows: [StoredRow], of table: String) throws(PersistenceFailure) {
        for row in rows { row["id"].map { tables[table]?[$0] = nil } }
    }
}

/// A model whose property has another type than its declared column.
struct Mistaken: PersistentModel {
    var id: Int64
    var count: String?

    static let table = "mistaken"
    static let columns = Columns()

    struct Columns: ModelColumns {
        let id = Column<Mistaken, Int64>("id")
        let count = Column<Mistaken, Int>("count")
        var all: [ModelColumn<Mistaken>] { [id.erased, count.erased] }
    }
}
