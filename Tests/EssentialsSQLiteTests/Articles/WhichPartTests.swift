#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import Testing

    @Suite("The article WhichPart, persistence", .timeLimit(.minutes(5)))
    struct WhichPartTests {
        struct Film: PersistentModel {
            var id = ModelID<Film>()
            var title: String
            var year: Int
            var stars = 0

            static let table = "film"
            static let columns: MappedColumns<Film> = [
                "id": \.id, "title": \.title, "year": \.year, "stars": \.stars,
            ]
        }

        @Test("The article on the parts changes rows in a scope and saves them")
        func persistence() async throws {
            let folder = try TemporaryFolder()
            let table = """
                CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL,
                    stars INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                """
            let store = SQLitePersistenceService(
                SQLiteStore(path: folder.file("films.sqlite"), models: [Film.self]),
                migrations: [Migration("1 films", sql: table)])
            try await store.create([Film(title: "Faust", year: 1926), Film(title: "M", year: 1931)], save: .store)
            // Article begins
            let edits = try store.child("edit")
            try await edits.update(Film.where { $0.year < 1927 }, save: .pending) {
                $0.stars = 5
            }
            let best = try await edits.fetch(Film.where { $0.stars > 4 })
            try await edits.save(.store)
            // Article ends
            #expect(best.map(\.title) == ["Faust"])
            #expect(try await store.fetch(Film.where { $0.stars > 4 }).map(\.title) == ["Faust"])
            await edits.close()
            await store.close()
        }
    }
#endif
