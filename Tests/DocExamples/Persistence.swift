// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsLocator
import EssentialsTools
import FoundationEssentials

@testable import EssentialsPersistence

private typealias Film = FilmModels.Film
private typealias Studio = FilmModels.Studio
private typealias Country = FilmModels.Country

private let app = Application()
private let (show, ask, log, report, reload, reloadAll, mark) = (app, app, app, app, app, app, app)
private let (queue, model) = (DispatchQueue(label: "app"), Film(title: "", year: 0))
private let films = [model]
private let (studio, film) = (Studio(), model)
private var store: any PersistenceService { given() }
private var edits: any PersistenceService { given() }
private var failure: PersistenceFailure { given() }

// Failure/Conflict.swift
private func conflictExample() async throws {
    for conflict in failure.conflicts where conflict.table == Film.table {
        let film = try conflict.models(of: Film.self)
        ask("Keep \(film.mine?.title ?? "deleted") or \(film.theirs?.title ?? "deleted")?")
    }
}

// Failure/ConstraintViolation.swift
private func constraintViolationExample() async throws {
    for violation in failure.violations where violation.kind == .unique {
        show("\(violation.columns.joined(separator: ", ")) is taken", for: violation.ids)
    }
}

// Failure/PersistenceFailure.swift
private func persistenceFailureExample() async {
    do throws(PersistenceFailure) {
        try await edits.save(.store)
    } catch where error.reason == .conflict {
        show(error.conflicts)                        // base, mine and theirs; the scope is as it was
    } catch {
        log(error.message, error.remedy)
    }
}

// Models/Column.swift
private func columnExample() async throws {
    let year = Column<Film, Int>("year")
    let query = Film.where { $0.year >= 1920 && $0.year < 1930 }
    use(year, query)
}

// Models/MappedColumns.swift
private func mappedColumnsExample() async throws {
    struct Film: PersistentModel {
        var id = ModelID<Film>()
        var title: String
        var year: Int

        static let table = "film"
        static let columns: MappedColumns<Film> = ["id": \.id, "title": \.title, "year": \.year]
    }

    let query = Film.where { $0.year < 1930 }
    use(query)
}

// Models/ModelID.swift
private func modelIDExample() async throws {
    struct Film: Codable {
        var id = ModelID<Film>()
        var studioID: ModelID<Studio>?
    }
    let id = ModelID<Film>("018f4d6e-6a1c-7abc-8def-0123456789ab")
    use(id)
}

// Models/ModelIDGenerator.swift
private func modelIDGeneratorExample() async throws {
    let generator = ModelIDGenerator(milliseconds: { 1_700_000_000_000 }, randomBits: { 7 })
    ModelIDGenerator.$current.withValue(generator) {
        print(Film(title: "M", year: 1931).id)           // the same in each run
    }
}

// Models/ModelIdentifier.swift
private func modelIdentifierExample() async throws {
    struct Country: PersistentModel {
        var id: String                       // the code of ISO 3166
        var name: String

        static let table = "country"
        static let columns: MappedColumns<Country> = ["id": \.id, "name": \.name]
    }
}

// Models/OrderedEncoding.swift
private func orderedEncodingExample(encoder: JSONEncoder) throws {
    let data = try encoder.encode(OrderedEncoding(model))
    use(data)
}

// Models/PersistentModel.swift
private func persistentModelExample() async throws {
    struct Film: PersistentModel {
        var id = ModelID<Film>()
        var title: String
        var year: Int
        var studioID: ModelID<Studio>?

        static let table = "film"
        static let columns: MappedColumns<Film> =
            ["id": \.id, "title": \.title, "year": \.year, "studioID": \.studioID]
        static let studio = ToOne<Film, Studio>(columns.studioID)
    }
}

// Models/PersistentModel.swift
private enum PersistentModelExample2 {
    struct Columns: ModelColumns {
        let id = Column<Film, ModelID<Film>>("id")
        let title = Column<Film, String>("title")
        var all: [ModelColumn<Film>] { [id.erased, title.erased] }
    }
}

// Models/Relations.swift
private struct RelationsExample2 {
    static let films = ToMany<Studio, Film>(Film.studio)
    let query = Studio.films.children(of: studio.id).sorted { [$0.year.ascending] }
}

// Models/StoredRow.swift
private func storedRowExample() async throws {
    for conflict in failure.conflicts {
        show(conflict.mine?["year"], conflict.theirs?["year"])
    }
}

// Observation/ModelChanges.swift
private func modelChangesExample() async throws {
    for try await change in store.changes(in: Film.self) {
        if case .ids(let ids) = change { reload(ids) } else { reloadAll() }
    }
}

// Observation/PersistenceChange.swift
private func persistenceChangeExample() async throws {
    let observation = try store.observeChanges { change in
        if change.touches(Film.table) { reload() }
    }
    use(observation)
}

// Observation/PersistenceService+Observing.swift
private func persistenceServiceObservingExample() async throws {
    for try await count in store.observe(Film.where { $0.year < 1930 }, by: { try $0.count($1) }) { show(count) }
    let pairs = store.observe(Film.all, and: Studio.self) { try $0.fetch($1, with: Film.studio) }
    use(pairs)
}

// Observation/PersistenceService+Observing.swift
private func persistenceServiceObservingExample2() async throws {
    let observation = store.observe(Film.all, queue: .main) { result in show(result) }
    use(observation)
}

// Observation/PersistenceService+Observing.swift
private func persistenceServiceObservingExample3() async throws {
    for await state in store.states {
        if case .failed(let failure) = state { report(failure) }
    }
}

// Observation/QueryObservation.swift
private func queryObservationExample() async throws {
    for try await films in store.observe(Film.where { $0.year < 1930 }) {
        show(films)
    }
}

// Observation/QueryObservation.swift
private func queryObservationExample2() async throws {
    let observation = store.observe(Film.all).start(queue: .main) { result in show(result) }
    use(observation)
}

// Observation/RowOrigin.swift
private func rowOriginExample() async throws {
    for row in try await edits.fetchWithOrigins(Film.all) where row.origin.isPending {
        mark(row.model)
    }
}

// Overlay/ConflictResolution.swift
private func conflictResolutionExample() async throws {
    let resolution = ConflictResolution { conflict in
        conflict.columns.isEmpty ? .mergeColumns : .fail
    }
    try await edits.save(.store, resolving: resolution)
}

// Overlay/DeletionRules.swift
private func deletionRulesExample(
    keys: [ForeignKey], film: DeletionRules.Found,
    children: (ModelReference, [StoredValue]) throws(PersistenceFailure) -> [DeletionRules.Found]
) throws {
    let rules = DeletionRules(foreignKeys: keys)
    let changes = try rules.changes(deleting: [film]) { (reference, values) throws(PersistenceFailure) in
        try children(reference, values)
    }
    use(changes)
}

// Overlay/OverlayMachine.swift
private func overlayMachineExample(root: OverlayLevel, child: OverlayLevel, row: StoredRow, key: RowKey) throws {
    var machine = try OverlayMachine(levels: [root, child])
    try machine.update(row, at: key, stored: row)
    try machine.saveToParent { _ in .policy(.fail) }
}

// Overlay/SaveReport.swift
private func saveReportExample() async throws {
    let report = try await edits.save(.store, resolving: .theirs)
    if report.kept > 0 { log("\(report.kept) changes were dropped, because others had changed the rows.") }
}

// Values/ColumnValue.swift
enum Genre: String, Codable, ColumnValue { case drama, comedy }

// Values/StoredValue.swift
@Listed private func storedValueExample() async throws -> [Any] {
    Film.where { _ in .sql("year % 4 = ?", [.integer(0)]) }
}

// Observation/StoreEvent.swift
private struct StoreEventExample: StoreObserver {
    func observe(_ event: StoreEvent) {
        if case .called(let call) = event.kind, call.action == .save { histogram.record(call.duration) }
    }
}

// Observation/StoreEvent.swift
final class ConflictCounter: StoreObserver {
    let count = Atomic(0)

    func observe(_ event: StoreEvent) {
        if case .called(let call) = event.kind { count.add(call.conflicts, ordering: .relaxed) }
    }
}

private struct Histogram {
    func record(_ duration: Duration) {}
}
private let histogram = Histogram()
