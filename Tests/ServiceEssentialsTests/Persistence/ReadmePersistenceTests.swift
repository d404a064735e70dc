#if Persistence
    import ServiceEssentials
    import Testing

    @Suite("README, with the trait Persistence", .timeLimit(.minutes(5)))
    struct ReadmePersistenceTests {
        private struct Film: PersistentModel {
            var id = ModelID<Film>()
            var title: String
            var year: Int

            static let table = "film"
            static let columns: MappedColumns<Film> = ["id": \.id, "title": \.title, "year": \.year]
        }

        @Test("The README's scope changes a row that others see after the save")
        func scope() async throws {
            let app = ServiceLocator(name: "app")
            let tables = """
                CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL) STRICT
                """
            try app.registerLazy((any PersistenceService).self) { _ in
                SQLitePersistenceService(
                    .temporary(models: [Film.self]), migrations: [Migration("1 films", sql: tables)])
            }
            let store = try app.resolve((any PersistenceService).self)
            try await store.create(Film(title: "Metropolis", year: 1926), save: .store)
            let workflow = ServiceLocator(name: "edit", parent: app)

            // README begins
            let edits = try workflow.openPersistence()  // a scope that is closed with the workflow's locator
            try await edits.update(Film.where { $0.title == "Metropolis" }, save: .pending) { $0.year = 1927 }
            try await edits.save(.store)  // without this line nothing has happened
            // README ends

            #expect(try await store.fetch(Film.all).map(\.year) == [1927])
            await workflow.close()
            #expect(edits.state == .closed)
            await app.close()
        }
    }
#endif
