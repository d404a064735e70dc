#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    @Suite("The article PendingRows")
    struct PendingRowsTests {
        struct Film: PersistentModel {
            var id: Int64
            var year: Int

            static let table = "film"
            static let columns = Columns()

            struct Columns: ModelColumns {
                let id = Column<Film, Int64>("id")
                let year = Column<Film, Int>("year")
                var all: [ModelColumn<Film>] { [id.erased, year.erased] }
            }
        }

        @Test("The article on pending rows names the defaults of all limits, and raises them")
        func limits() async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("shop.sqlite")
            let migrations = [
                Migration("1", sql: "CREATE TABLE film(id INTEGER PRIMARY KEY NOT NULL, year INTEGER NOT NULL) STRICT")
            ]
            let defaults = SQLiteStore(path: path, models: [])
            #expect(defaults.maximumPendingRows == 100_000 && defaults.maximumPendingBytes == 64 << 20)
            #expect(defaults.limits.depth == 16)
            #expect(Conflict.maximum == 100 && ViolationList.maximum == 100)
            // Article begins
            var settings = SQLiteStore(path: path, models: [Film.self])
            settings.maximumPendingRows = 1_000_000
            settings.maximumPendingBytes = 1 << 30
            let store = SQLitePersistenceService(settings, migrations: migrations)
            // Article ends
            #expect(store.limits.rows == 1_000_000 && store.limits.bytes == 1 << 30)
            try await store.create((1...3).map { Film(id: $0, year: 1898 + Int($0)) }, save: .store)
            // Article begins
            try await store.delete(Film.where { $0.year < 1900 }, save: .store)
            // Article ends
            #expect(try await store.count(Film.all) == 2)
            await store.close()
        }

        @Test("ON UPDATE and deletions by a key of two columns show only at the save, not in the scope")
        func unseen() async throws {
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT, UNIQUE(name, other)) STRICT;
                CREATE TABLE note(id INTEGER PRIMARY KEY NOT NULL, title TEXT, year INTEGER NOT NULL,
                    kind TEXT DEFAULT 'k', more TEXT,
                    FOREIGN KEY(kind, more) REFERENCES label(name, other) ON DELETE CASCADE ON UPDATE CASCADE) STRICT;
                INSERT INTO label VALUES (1, 'k', 'm'), (2, 'k', 'n');
                INSERT INTO note VALUES (1, 'a', 0, 'k', 'm'), (2, 'b', 0, 'k', 'n');
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self, Note.self]), migrations: [Migration("1", sql: sql)])
            let edits = try store.child("edit")
            try await edits.delete(Label.self, ids: [1], save: .pending)
            try await edits.update(Label.self, id: 2, save: .pending) { $0.other = "p" }
            try await edits.create(Note(id: 3, year: 1), save: .pending)
            #expect(try await edits.count(Note.all) == 3)
            #expect(try await edits.count(Note.where { _ in .sql("more = 'n'") }) == 1)
            #expect(try await edits.count(Note.where { _ in .sql("kind IS NULL") }) == 1)
            let report = try await edits.save(.store)
            #expect(report == SaveReport(inserted: 1, updated: 1, deleted: 1, cascaded: 2))
            #expect(try await store.ids(Note.all) == [2, 3])
            #expect(try await store.count(Note.where { _ in .sql("more = 'p'") }) == 1)
            #expect(try await store.count(Note.where { _ in .sql("kind = 'k'") }) == 2)
            await store.close()
        }

        @Test("A deletion through a chain of more than a thousand rows that the scope does not see fails as limit")
        func longChain() async throws {
            let sql = """
                CREATE TABLE part(id INTEGER PRIMARY KEY NOT NULL,
                    whole INTEGER REFERENCES part(id) ON DELETE CASCADE) STRICT;
                CREATE INDEX part_whole ON part(whole);
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Part.self]), migrations: [Migration("1", sql: sql)])
            try await store.create(Part(id: 0, whole: nil), save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Part.self, ids: [0], save: .pending)
            try await store.create((1...1_500).map { Part(id: $0, whole: $0 - 1) }, save: .store)
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(failure?.reason == .limit)
            #expect(failure?.remedy?.contains("smaller steps") == true)
            await store.close()
        }
    }
#endif
