import EssentialsPersistence

/// Two studios and four films, which a scope sees wherever the rows are.
struct Shop {
    /// Where the rows are.
    enum Place: String, CaseIterable {
        /// In the store.
        case stored
        /// Some in the store, and some pending in the scope, which has also deleted a row of the store.
        case pending
        /// In the store, in a scope, and in another scope within it, which is the one that reads.
        case nested
    }

    static let ufa = Studio(id: 1, name: "Ufa")
    static let nero = Studio(id: 2, name: "Nero")
    /// In the order of their ids.
    static let films = [
        Film(title: "Metropolis", year: 1927, studioID: 1), Film(title: "Faust", year: 1926, studioID: 1),
        Film(title: "M", year: 1931, studioID: 2), Film(title: "Nosferatu", year: 1922, studioID: nil),
    ]
    static var metropolis: Film { films[0] }
    static var faust: Film { films[1] }
    static var m: Film { films[2] }
    static var nosferatu: Film { films[3] }
    private static let lost = Film(title: "Lost", year: 1910, studioID: 1)

    let store: any PersistenceService
    /// The scope that sees the rows.
    let scope: any PersistenceService
    let place: Place

    init(_ run: ConformanceRun, _ place: Place = .stored) async throws {
        self.place = place
        store = try await run.store()
        switch place {
        case .stored:
            try await store.create([Self.ufa, Self.nero], save: .store)
            try await store.create(Self.films, save: .store)
            scope = try store.child("scope")
        case .pending:
            try await store.create([Self.ufa, Studio(id: 2, name: "Old")], save: .store)
            try await store.create([Self.old, Self.faust, Self.lost], save: .store)
            scope = try store.child("scope")
            try await scope.update(Studio.self, id: 2, save: .pending) { $0.name = "Nero" }
            try await Self.finish(scope)
        case .nested:
            try await store.create(Self.ufa, save: .store)
            try await store.create([Self.faust, Self.lost], save: .store)
            let outer = try store.child("outer")
            try await outer.create(Self.nero, save: .pending)
            try await outer.create(Self.old, save: .pending)
            try await outer.update(Self.lost.id, save: .pending) { $0.title = "Found" }
            scope = try outer.child("scope")
            try await Self.finish(scope)
        }
    }

    /// A film before the scope changes it.
    private static var old: Film {
        var film = metropolis
        (film.year, film.studioID) = (1900, nil)
        return film
    }

    private static func finish(_ scope: any PersistenceService) async throws {
        try await scope.create([m, nosferatu], save: .pending)
        try await scope.delete(Film.self, ids: [lost.id], save: .pending)
        try await scope.update(metropolis.id, save: .pending) { ($0.year, $0.studioID) = (1927, 1) }
    }

    /// Runs a check for each place of the rows.
    static func forEach(_ run: ConformanceRun, _ body: (Shop) async throws -> Void) async throws {
        for place in Place.allCases { try await body(try await Shop(run, place)) }
    }
}
