#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Models with fewer columns than another model of their table.
    @Suite(.timeLimit(.minutes(5)))
    struct PartialModelTests {
        struct Play: PersistentModel, Hashable {
            var id: Int64
            var title: String
            var year: Int
            var acts: Int?

            static let table = "play"
            static let columns: MappedColumns<Play> = ["id": \.id, "title": \.title, "year": \.year, "acts": \.acts]
        }

        struct Title: PersistentModel, Hashable {
            var id: Int64
            var title: String

            static let table = "play"
            static let columns: MappedColumns<Title> = ["id": \.id, "title": \.title]
        }

        struct Year: PersistentModel, Hashable {
            var id: Int64
            var year: Int

            static let table = "play"
            static let columns: MappedColumns<Year> = ["id": \.id, "year": \.year]
        }

        private func open(_ models: [any PersistentModel.Type]) async throws -> SQLitePersistenceService {
            let sql = """
                CREATE TABLE play(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT 'new',
                    year INTEGER NOT NULL DEFAULT 7, acts INTEGER DEFAULT 3, note TEXT DEFAULT 'kept') STRICT
                """
            let store = SQLitePersistenceService(.temporary(models: models), migrations: [Migration("1", sql: sql)])
            try await store.ready()
            return store
        }

        @Test(
            "A row that is created through a model with fewer columns gets the defaults that other models require",
            arguments: [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
        func created(_ order: [Int]) async throws {
            let models: [any PersistentModel.Type] = [Play.self, Title.self, Year.self]
            let store = try await open(order.map { models[$0] })
            try await store.create(Title(id: 1, title: "A"), save: .store)
            let edits = try store.child("edit")
            try await edits.create(Year(id: 2, year: 2), save: .pending)
            try await edits.create(Play(id: 3, title: "C", year: 3, acts: nil), save: .pending)
            let early = await #expect(throws: PersistenceFailure.self) { try await edits.find(Play.self, id: 2) }
            #expect(early?.reason == .decoding)
            try await edits.save(.store)
            // NULL in an optional column may be intended.
            #expect(
                try await store.fetch(Play.all) == [
                    Play(id: 1, title: "A", year: 7, acts: nil), Play(id: 2, title: "new", year: 2, acts: nil),
                    Play(id: 3, title: "C", year: 3, acts: nil),
                ])
            #expect(try await store.count(Play.where { _ in .sql("note = 'kept'", []) }) == 3)
            try await store.importRows(of: Title.self, from: [Title(id: 4, title: "D")])
            #expect(try await store.find(Play.self, id: 4) == Play(id: 4, title: "D", year: 7, acts: 3))
            await store.close()
        }

        @Test("A row that is created in place of a deleted one keeps the values that other models require")
        func replaced() async throws {
            let store = try await open([Play.self, Title.self])
            try await store.create(Play(id: 1, title: "A", year: 9, acts: 5), save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Title.self, ids: [1], save: .pending)
            try await edits.create(Title(id: 1, title: "B"), save: .pending)
            #expect(try await edits.save(.store) == SaveReport(updated: 1))
            #expect(try await store.find(Play.self, id: 1) == Play(id: 1, title: "B", year: 9, acts: nil))
            await store.close()
        }

        @Test("A column outside all models gets its default, even if it is optional")
        func alone() async throws {
            let store = try await open([Title.self, Year.self])
            try await store.create(Title(id: 1, title: "A"), save: .store)
            let found = try await store.fetch(Play.self, sql: "SELECT id, title, year, acts FROM play")
            #expect(found == [Play(id: 1, title: "A", year: 7, acts: 3)])
            await store.close()
        }
    }
#endif
