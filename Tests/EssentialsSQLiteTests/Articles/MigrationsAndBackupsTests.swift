#if Persistence
    import EssentialsPersistence
    import EssentialsSQLite
    import FoundationEssentials
    import GRDB
    import Testing

    @Suite("The article MigrationsAndBackups", .timeLimit(.minutes(5)))
    struct MigrationsAndBackupsTests {
        struct Film: PersistentModel {
            var id: Int64
            var title: String

            static let table = "film"
            static let columns = Columns()

            struct Columns: ModelColumns {
                let id = Column<Film, Int64>("id")
                let title = Column<Film, String>("title")
                var all: [ModelColumn<Film>] { [id.erased, title.erased] }
            }
        }

        // Article begins
        static let migrations = [
            Migration(
                "1 films",
                sql: """
                    CREATE TABLE film(id INTEGER PRIMARY KEY NOT NULL,
                        title TEXT NOT NULL) STRICT
                    """),
            Migration(
                "2 years",
                sql: "ALTER TABLE film ADD COLUMN year INTEGER NOT NULL DEFAULT 0"),
            Migration("3 trimmed titles") { db in
                for row in try Row.fetchAll(db, sql: "SELECT id, title FROM film") {
                    let title = (row["title"] as String).split(separator: " ")
                        .joined(separator: " ")
                    try db.execute(
                        sql: "UPDATE film SET title = ? WHERE id = ?",
                        arguments: [title, row["id"]])
                }
            },
        ]
        // Article ends

        private let folder: TemporaryFolder
        private var path: String { folder.file("shop.sqlite") }

        init() throws { folder = try TemporaryFolder() }

        private func open(_ migrations: some Sequence<Migration>) -> SQLitePersistenceService {
            SQLitePersistenceService(SQLiteStore(path: path, models: [Film.self]), migrations: Array(migrations))
        }

        private func reason(_ migrations: some Sequence<Migration>) async -> PersistenceFailure.Reason? {
            let store = open(migrations)
            let failure = await #expect(throws: PersistenceFailure.self) { try await store.ready() }
            await store.close()
            return failure?.reason
        }

        @Test("The article on migrations brings an old store up to date, after a backup that can be restored")
        func steps() async throws {
            let old = open(Self.migrations.prefix(1))
            try await old.create(Film(id: 1, title: " The  Blue   Angel "), save: .store)
            await old.close()
            let new = open(Self.migrations)
            #expect(try await new.one(Film.all).title == "The Blue Angel")
            await new.close()
            #expect(folder.entries == ["shop.sqlite", "shop.sqlite-owner", "shop.sqlite.before-2-years"])

            #expect(await reason(Self.migrations.prefix(1)) == .newerSchema)
            try Self.restore("before-2-years", of: path)
            let restored = open(Self.migrations.prefix(1))
            #expect(try await restored.one(Film.all).title == " The  Blue   Angel ")
            await restored.close()
            let again = open(Self.migrations)
            #expect(try await again.one(Film.all).title == "The Blue Angel")
            await again.close()
        }

        /// Does the same as the commands of the article.
        private static func restore(_ backup: String, of path: String) throws {
            let files = FileManager.default
            for suffix in ["", "-wal", "-shm"] where files.fileExists(atPath: path + suffix) {
                try files.moveItem(atPath: path + suffix, toPath: path + ".set-aside" + suffix)
            }
            try files.copyItem(atPath: "\(path).\(backup)", toPath: path)
        }

        @Test("The article on migrations says why a store does not open, and opens it after the correction")
        func failures() async throws {
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }
            let newer = open(Self.migrations)
            try await newer.create(Film(id: 1, title: "M"), save: .store)
            await newer.close()
            let bytes = try Data(contentsOf: URL(filePath: path))
            let store = open(Self.migrations.prefix(2))
            // Article begins
            do {
                try await store.ready()
            } catch {
                switch error.reason {
                case .newerSchema:
                    show("A newer version has used this store. " + error.message)
                case .migration, .schemaMismatch:
                    show("This version has a mistake. " + error.message)
                default: show(error.description)
                }
            }
            // Article ends
            #expect(shown.first?.contains("3 trimmed titles") == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
            await store.close()
        }

        @Test("A failed migration leaves the store as before it, and earlier migrations are not undone")
        func failed() async throws {
            let old = open(Self.migrations.prefix(1))
            try await old.create(Film(id: 1, title: " M"), save: .store)
            await old.close()
            let broken = Migration("3 broken", sql: "DELETE FROM film; DELETE FROM missing")
            #expect(await reason(Self.migrations.prefix(2) + [broken]) == .migration)
            let middle = open(Self.migrations.prefix(2))
            #expect(try await middle.one(Film.where { _ in .sql("year = 0") }).title == " M")
            await middle.close()
        }

        @Test("Late, duplicate and edited migrations, and tables that do not fit")
        func mistakes() async throws {
            let old = open(Self.migrations.dropLast())
            try await old.create(Film(id: 1, title: "M"), save: .store)
            await old.close()
            let late = Migration("0 late", sql: "CREATE TABLE other(id INTEGER)")
            #expect(await reason([late] + Self.migrations) == .migration)
            #expect(await reason(Self.migrations + Self.migrations.prefix(1)) == .migration)
            let edited = Migration("2 years", sql: "DROP TABLE film")
            let store = open([Self.migrations[0], edited])
            #expect(try await store.count(Film.all) == 1)
            await store.close()
            let renaming = Migration("3", sql: "ALTER TABLE film RENAME COLUMN title TO name")
            #expect(await reason(Self.migrations.dropLast() + [renaming]) == .schemaMismatch)
        }
    }
#endif
