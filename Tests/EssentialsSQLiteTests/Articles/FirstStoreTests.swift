#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import Testing

    @Suite("The article FirstStore", .timeLimit(.minutes(5)))
    struct FirstStoreTests {
        // Article begins
        struct Studio: PersistentModel {
            var id = ModelID<Studio>()
            var name: String

            static let table = "studio"
            static let columns: MappedColumns<Studio> = [
                "id": \.id, "name": \.name,
            ]
        }

        struct Film: PersistentModel {
            var id = ModelID<Film>()
            var title: String
            var year: Int
            var studioID: ModelID<Studio>?

            static let table = "film"
            static let columns: MappedColumns<Film> =
                [
                    "id": \.id, "title": \.title, "year": \.year,
                    "studioID": \.studioID,
                ]
            static let studio = ToOne<Film, Studio>(columns.studioID)
            static var references: [ModelReference] { [studio.reference] }
        }
        // Article ends

        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func openStore() -> SQLitePersistenceService {
            let path = folder.file("shop.sqlite")
            // Article begins
            let tables = """
                CREATE TABLE studio(id BLOB PRIMARY KEY NOT NULL,
                    name TEXT NOT NULL UNIQUE) STRICT, WITHOUT ROWID;
                CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL,
                    year INTEGER NOT NULL, studioID BLOB REFERENCES studio(id)
                    ON DELETE SET NULL) STRICT, WITHOUT ROWID;
                CREATE INDEX film_year ON film(year);
                """
            let store = SQLitePersistenceService(
                SQLiteStore(path: path, models: [Studio.self, Film.self]),
                migrations: [Migration("1 studios and films", sql: tables)])
            // Article ends
            return store
        }

        @Test("The article on the first store writes, reads, edits in a scope and saves")
        func firstStore() async throws {
            let store = openStore()
            // Article begins
            let ufa = Studio(name: "Ufa")
            try await store.create(ufa, save: .store)
            let films = [
                Film(title: "Metropolis", year: 1926, studioID: ufa.id),
                Film(title: "Faust", year: 1926, studioID: ufa.id),
                Film(title: "M", year: 1931),
            ]
            try await store.create(films, save: .store)
            try await store.update(
                Film.where { $0.title == "Metropolis" }, save: .store
            ) { $0.year = 1927 }
            let deleted = try await store.delete(
                Film.where { $0.year > 1930 }, save: .store)
            // Article ends
            #expect(deleted == 1)
            // Article begins
            let metropolis = try await store.one(
                Film.where { $0.title == "Metropolis" })
            let silent = try await store.fetch(
                Film.where { $0.year < 1930 && $0.title.hasPrefix("M") }
                    .sorted { [$0.year.descending, $0.title.ascending] }.limit(20))
            let count = try await store.count(Film.where { $0.studioID == ufa.id })
            let years = try await store.values(Film.all.values { $0.year }.distinct())
            // films, each with its studio
            let pairs = try await store.fetch(Film.all, with: Film.studio)
            // Article ends
            #expect(silent.map(\.title) == ["Metropolis"])
            #expect(count == 2 && years == [1926, 1927])
            #expect(pairs.map { $0.1?.name } == ["Ufa", "Ufa"])
            // Article begins
            let edits = try store.child("edit")
            try await edits.update(metropolis.id, save: .pending) {
                $0.title = "Metropolis (restored)"
            }
            // Metropolis (restored)
            let mine = try await edits.one(Film.where { $0.year == 1927 }).title
            // Metropolis
            let stored = try await store.one(Film.where { $0.year == 1927 }).title
            try await edits.save(.store)  // without this line, nothing has happened
            await edits.close()
            // Article ends
            #expect(mine == "Metropolis (restored)" && stored == "Metropolis")
            #expect(try await store.one(Film.where { $0.year == 1927 }).title == "Metropolis (restored)")
            // Article begins
            let moved = try await store.perform(save: .store) { work in
                let nero = Studio(name: "Nero")
                try work.create(nero)
                return try work.update(Film.where { $0.year < 1927 }) {
                    $0.studioID = nero.id
                }
            }
            // Article ends
            #expect(moved == 1)
            let faust = try await store.fetch(Film.where { $0.title == "Faust" }, with: Film.studio)
            #expect(faust.first?.1?.name == "Nero")
            await store.close()
        }

        @Test("The article on the first store puts rows by a unique column")
        func put() async throws {
            let store = openStore()
            let ufa = Studio(name: "Ufa")
            try await store.create(ufa, save: .store)
            // Article begins
            let names = ["Ufa", "Decla"]
            // Ufa keeps its id
            try await store.put(
                names.map { Studio(name: $0) }, matching: { $0.name }, save: .store)
            // Article ends
            let studios = try await store.fetch(Studio.all.sorted { [$0.name.ascending] })
            #expect(studios.map(\.name) == ["Decla", "Ufa"] && studios.last?.id == ufa.id)
            await store.close()
        }
    }
#endif
