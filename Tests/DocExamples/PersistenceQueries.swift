// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsLocator
import FoundationEssentials

@testable import EssentialsPersistence

private typealias Film = FilmModels.Film
private typealias Studio = FilmModels.Studio

private let model = Film(title: "", year: 0)
private let (films, studios) = ([model], [Studio()])
private let (studio, film) = (Studio(), model)
private var store: any PersistenceService { given() }

// Queries/Assignment.swift
private func assignmentExample() async throws {
    try await store.update(
        Film.where { $0.year < 1930 }, set: [\.views += 1, .set(\.note, to: "silent")], save: .store)
}

// Queries/Filter+Operators.swift
private func filterOperatorsExample() async throws {
    let studios = Studio.where { $0.name.hasPrefix("U") }
    let films = Film.where { $0.studioID.isIn(studios.values { $0.id }) }
    use(films)
}

// Queries/Filter.swift
private func filterExample() async throws {
    let silent = Film.where { ($0.year < 1930 || $0.year == 1931) && !$0.title.hasPrefix("M") }
    let orphans = Film.where { $0.studioID == nil }
    use(silent, orphans)
}

// Queries/Query.swift
private func queryExample() async throws {
    let query = Film.where { $0.year < 1930 && $0.title.hasPrefix("M") }
        .sorted { [$0.year.descending, $0.title.ascending] }
        .limit(20)
    use(query)
}

// Queries/Query.swift
private func queryExample2() async throws {
    let years = Film.all.values { $0.year }.distinct()
    use(years)
}

// Queries/Query.swift
private func queryExample3() async throws {
    let query = Film.all.sorted { [$0.year.descending, $0.title.ascending] }
    use(query)
}

// Queries/Query.swift
private func queryExample4() async throws {
    let studios = Film.where { $0.year == 1926 }.values { $0.studioID }.distinct()
    use(studios)
}

// Queries/RowQuery.swift
private struct RowQueryExample {
    func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] {
        var found: [StoredRow] = []
        for row in tables[query.table, default: []] where try passes(query.filter, row) { found.append(row) }
        let sorted = found.sorted { comesBefore($0, $1, query.order, query.key) }.dropFirst(query.offset)
        return Array(query.limit.map { sorted.prefix($0) } ?? sorted)
    }
    let tables: [String: [StoredRow]] = [:]
    func passes(_ filter: RowFilter?, _ row: StoredRow) throws(PersistenceFailure) -> Bool { given() }
    func comesBefore(_ one: StoredRow, _ other: StoredRow, _ order: [RowQuery.Order], _ key: String) -> Bool { given() }
}
