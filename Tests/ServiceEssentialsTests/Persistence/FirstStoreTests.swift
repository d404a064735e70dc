#if Persistence
    import ServiceEssentials
    import Testing

    /// The part of the article that needs a locator.
    @Suite("The article FirstStore in a locator", .timeLimit(.minutes(5)))
    struct FirstStoreTests {
        struct Film: PersistentModel {
            var id = ModelID<Film>()
            var title: String
            var year: Int

            static let table = "film"
            static let columns: MappedColumns<Film> = [
                "id": \.id, "title": \.title, "year": \.year,
            ]
        }

        @Test("The article on the first store registers it, and edits in a workflow")
        func workflow() async throws {
            let (folder, app) = (TestFolder(), ServiceLocator(name: "app"))
            let settings = SQLiteStore(path: folder.path + "/shop.sqlite", models: [Film.self])
            let tables =
                "CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL) STRICT"
            let migrations = [Migration("1 films", sql: tables)]
            // Article begins
            try app.registerLazy((any PersistenceService).self) { _ in
                SQLitePersistenceService(settings, migrations: migrations)
            }
            try await app.withScope("edit") { workflow in
                let edits = try workflow.openPersistence()
                try await edits.create(Film(title: "M", year: 1931), save: .pending)
                try await edits.save(.store)
            }
            // Article ends
            try await app.withScope("forgotten") { workflow in
                let edits = try workflow.openPersistence()
                try await edits.create(Film(title: "Faust", year: 1926), save: .pending)
            }
            let store = try app.resolve((any PersistenceService).self)
            #expect(try await store.fetch(Film.all).map(\.title) == ["M"])
            await app.close()
            #expect(store.state == .closed)
        }
    }
#endif
