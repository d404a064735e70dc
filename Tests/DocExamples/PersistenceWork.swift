// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsLocator
import FoundationEssentials

@testable import EssentialsPersistence

private typealias Film = FilmModels.Film
private typealias Studio = FilmModels.Studio

private let app = Application()
private let show = app
private let model = Film(title: "", year: 0)
private let (lines, films, studios) = ([Substring("M")], [model], [Studio()])
private let (studio, film, filmID) = (Studio(), model, model.id)
private var edits: any PersistenceService { given() }
private var work: PersistenceWork { given() }

// Work/PersistenceWork+Changing.swift
private func persistenceWorkChangingExample() async throws {
    let count = try work.create(from: lines) { line in try Film(line) }
    use(count)
}

// Work/PersistenceWork+Changing.swift
private func persistenceWorkChangingExample2() async throws {
    try work.put(studios, matching: { $0.name })
}

// Work/PersistenceWork+Changing.swift
private func persistenceWorkChangingExample3() async throws {
    let count = try work.update(Film.where { $0.year < 1930 }, set: [\.views += 1, .set(\.note, to: "silent")])
    use(count)
}

// Work/PersistenceWork+Reading.swift
private func persistenceWorkReadingExample() async throws {
    struct Decade: Decodable { var decade: Int; var films: Int }
    let decades = try work.fetch(
        Decade.self, sql: "SELECT year / 10 AS decade, count(*) AS films FROM film WHERE year > ? GROUP BY 1",
        arguments: [1900])
    use(decades)
}

// Work/PersistenceWork+Reading.swift
private func persistenceWorkReadingExample2() async throws {
    let film = try work.find(filmID)
    use(film)
}

// Work/PersistenceWork+Reading.swift
private func persistenceWorkReadingExample3() async throws {
    let years = try work.values(Film.all.values { $0.year }.distinct())
    use(years)
}

// Work/PersistenceWork+Reading.swift
private func persistenceWorkReadingExample4() async throws {
    let films = try work.counts(by: Film.all.values { $0.year })   // [1926: 2, 1931: 1]
    use(films)
}

// Work/PersistenceWork+Reading.swift
private func persistenceWorkReadingExample5() async throws {
    let minutes = try work.sums(of: Film.all.values { $0.minutes }, by: { $0.year })   // [1926: 220, 1931: 90]
    use(minutes)
}

// Work/PersistenceWork+Relations.swift
private func persistenceWorkRelationsExample() async throws {
    for (film, studio) in try work.fetch(Film.all, with: Film.studio) { show(film, studio) }
    for (film, studio, director) in try work.fetch(Film.all, with: Film.studio, Film.director) {
        show(film, studio, director)
    }
}

// Work/PersistenceWork+Relations.swift
private func persistenceWorkRelationsExample2() async throws {
    for (film, studio, country) in try work.fetch(Film.all, with: Film.studio, then: Studio.country) {
        show(film, studio, country)
    }
}

// Work/PersistenceWork+Relations.swift
private func persistenceWorkRelationsExample3() async throws {
    for (studio, films) in try work.fetch(Studio.all, with: Studio.films) { show(studio, films) }
}

// Work/PersistenceWork.swift
private func persistenceWorkExample() async throws {
    let moved = try await edits.perform(save: .store) { work in
        let studio = try work.one(Studio.where { $0.name == "Ufa" })
        return try work.update(Film.where { $0.year < 1930 }) { $0.studioID = studio.id }
    }
    use(moved)
}

// Work/WorkRows.swift
private struct WorkRowsExample {
    func rows(_ query: RowQuery) throws(PersistenceFailure) -> [StoredRow] {
        throw PersistenceFailure(.full, "The disk is full.")
    }
}
