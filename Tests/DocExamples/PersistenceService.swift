// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsLocator
import FoundationEssentials

@testable import EssentialsPersistence

private typealias Film = FilmModels.Film
private typealias Studio = FilmModels.Studio

private struct Draft: Sendable {}
private struct Invoice: PersistentModel {
    var id: Int64
    init(id: Int64, _ draft: Draft) { self.id = id }
    static let table = "invoice"
    static let columns: MappedColumns<Invoice> = ["id": \.id]
}

private let app = Application()
private let (show, report) = (app, app)
private let (locator, queue, model) = (ServiceLocator(name: "app"), DispatchQueue(label: "app"), Film(title: "", year: 0))
private let (drafts, lines, films) = ([Draft()], [Substring("M")], [model])
private let (studio, film) = (Studio(), model)
private var store: any PersistenceService { given() }
private var edits: any PersistenceService { given() }
private var work: PersistenceWork { given() }
private func MyRows() -> any WorkRows { given() }
private func export(_ films: [Film]) {}
private func export(_ films: [Film]) async throws {}

// Service/ImportReport.swift
private func importReportExample() async throws {
    try await store.importRows(of: Film.self, from: films, onConflict: .replace)
}

// Service/ImportReport.swift
private func importReportExample2() async {
    do throws(PersistenceFailure) {
        try await store.importRows(of: Film.self, from: films)
    } catch {
        print("\(error.imported?.rows ?? 0) models are stored; continue with the next one.")
    }
}

// Service/PersistenceCall.swift
private func persistenceCallExample() throws {
    let job = store.start(.save(.store), completionQueue: queue) { result in show(result) }
    job.cancel()
    let found = try store.wait(for: .find(film.id))
    use(found)
}

// Service/PersistenceJob.swift
private struct PersistenceJobExample {
    func run(_ job: PersistenceJob) {
        queue.async {
            do throws(PersistenceFailure) {
                try job.run(on: MyRows())
                job.finish(.success(SaveReport()))
            } catch {
                job.finish(.failure(error))
            }
        }
    }
    let queue = DispatchQueue(label: "store")
}

// Service/PersistenceService+Importing.swift
private func persistenceServiceImportingExample() async throws {
    let report = try await store.importRows(of: Film.self, from: lines.map { try Film($0) }, onConflict: .replace)
    use(report)
}

// Service/PersistenceService+Importing.swift
private func persistenceServiceImportingExample2() async throws {
    var ids = try await store.reserveIDs(for: Invoice.self, count: 100).makeIterator()
    let first = ids.next()
    use(ids, first)
}

// Service/PersistenceService+Importing.swift
private func persistenceServiceImportingExample3() async throws {
    try await edits.perform(save: .pending) { work in
        for (id, draft) in zip(try work.reserveIDs(for: Invoice.self, count: drafts.count), drafts) {
            try work.create(Invoice(id: id, draft))
        }
    }
}

// Service/PersistenceService.swift
private func persistenceServiceExample() async throws {
    let store = try locator.resolve((any PersistenceService).self)
    try await store.create(Film(title: "Metropolis", year: 1926), save: .store)

    let edits = try store.child("edit")
    let film = try await edits.one(Film.where { $0.title == "Metropolis" })
    try await edits.update(film.id, save: .pending) { $0.year = 1927 }
    let silent = try await edits.fetch(Film.where { $0.year < 1930 })       // sees 1927; the store still says 1926
    try await edits.save(.store)                                            // without this line nothing has happened
    use(silent)
}

// Service/PersistenceService.swift
private func persistenceServiceExample2() async throws {
    let job = store.start(.save(.store), completionQueue: queue) { result in show(result) }
    use(job)
}

// Service/PersistenceService.swift
private func persistenceServiceExample3() {
    store.start(completionQueue: queue) { try $0.fetch(Film.all) } completion: { result in show(result) }
    store.start(save: .store) { try $0.create(film) } completion: { result in show(result) }
}

// Service/PersistenceService.swift
private func persistenceServiceExample4() throws {
    try store.wait(save: .store) { try $0.create(film) }
    let count = try store.wait { try $0.count(Film.all) }
    use(count)
}

// Service/PersistenceService.swift
private func persistenceServiceExample5() async throws {
    let moved = try await store.perform(save: .store) { work in
        let studio = try work.one(Studio.where { $0.name == "Ufa" })
        return try work.update(Film.where { $0.year < 1930 }) { $0.studioID = studio.id }
    }
    use(moved)
}

// Service/QueryBatches.swift
private func queryBatchesExample() async throws {
    for try await films in store.batches(of: Film.where { $0.year < 1930 }, size: 500) {
        try await export(films)
    }
}

// Service/QueryBatches.swift
private func queryBatchesExample2() throws {
    var batch = try store.wait { try $0.batch(of: Film.all, size: 500) }
    while let position = batch.position {
        export(batch.models)
        batch = try store.wait { try $0.batch(of: Film.all, size: 500, after: position) }
    }
    export(batch.models)
}

// Service/SaveLevel.swift
private func saveLevelExample() async throws {
    try await edits.update(film.id, save: .pending) { $0.year = 1927 }   // only this scope and those below see it
    try await edits.save(.store)                                         // now everybody does
}
