#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import FoundationEssentials
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    @Suite("The article Durability", .timeLimit(.minutes(5)))
    struct DurabilityTests {
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

        private static let migrations = [
            Migration("1", sql: "CREATE TABLE film(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL) STRICT")
        ]

        private let folder: TemporaryFolder
        private var path: String { folder.file("shop.sqlite") }

        init() throws { folder = try TemporaryFolder() }

        private func open() -> SQLitePersistenceService {
            SQLitePersistenceService(SQLiteStore(path: path, models: [Film.self]), migrations: Self.migrations)
        }

        @Test("The article on durability lets saves wait for the disk")
        func power() async throws {
            let migrations = Self.migrations
            // Article begins
            var settings = SQLiteStore(path: path, models: [Film.self])
            settings.durability = .power
            let store = SQLitePersistenceService(settings, migrations: migrations)
            // Article ends
            try await store.create(Film(id: 1, title: "M"), save: .store)
            let mode = try store.core.openStore().database.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            #expect(mode == 2)
            #expect(folder.entries == ["shop.sqlite", "shop.sqlite-owner", "shop.sqlite-shm", "shop.sqlite-wal"])
            for name in folder.entries {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            await store.close()
            #expect(folder.entries == ["shop.sqlite", "shop.sqlite-owner"])
        }

        @Test("The article on durability opens a store again when the cause of its failure is gone")
        func reopening() async throws {
            let first = open()
            try await first.create(Film(id: 1, title: "M"), save: .store)
            let store = open()
            var shown: [String] = []
            func show(_ texts: String?...) { shown += texts.compactMap { $0 } }
            // Article begins
            do {
                try await store.ready()
            } catch {
                guard error.reason == .busy else { throw error }
                // "The store belongs to process 4711."
                show(error.message, error.remedy)
            }
            // Article ends
            #expect(shown.first == "The store belongs to process \(getpid()).")
            #expect(shown.last == "End that process, or close its store.")
            await first.close()
            // Article begins
            if case .failed = store.state { store.reopen() }
            try await store.ready()
            // Article ends
            #expect(try await store.count(Film.all) == 1)
            await store.close()
        }

        @Test("The article on durability saves again when there is space")
        func full() async throws {
            let store = open()
            try await store.ready()
            let database = try store.core.openStore().database
            try database.write { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
            }
            let edits = try store.child("edit")
            try await edits.create(Film(id: 1, title: String(repeating: "M", count: 100_000)), save: .pending)
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }
            // Article begins
            do {
                try await edits.save(.store)
            } catch {
                guard error.reason == .full else { throw error }
                // all rows are still pending: save again when there is space
                show(error.message)
            }
            // Article ends
            #expect(shown.count == 1)
            #expect(try await edits.count(Film.all) == 1)
            #expect(try await store.count(Film.all) == 0)
            try database.write { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
            try await edits.save(.store)
            #expect(try await store.count(Film.all) == 1)
            await store.close()
        }

        @Test("Files that a killed process leaves have all confirmed saves, and no pending rows")
        func killed() async throws {
            let store = open()
            try await store.create(Film(id: 1, title: "M"), save: .store)
            let edits = try store.child("edit")
            try await edits.create(Film(id: 2, title: "Faust"), save: .pending)
            // The files in their present state, copied without notice to their owner.
            let other = try TemporaryFolder()
            for name in ["shop.sqlite", "shop.sqlite-wal"] {
                try FileManager.default.copyItem(atPath: folder.file(name), toPath: other.file(name))
            }
            let next = SQLitePersistenceService(
                SQLiteStore(path: other.file("shop.sqlite"), models: [Film.self]), migrations: Self.migrations)
            #expect(try await next.fetch(Film.all).map(\.title) == ["M"])
            await next.close()
            #expect(other.entries == ["shop.sqlite", "shop.sqlite-owner"])
            await store.close()
        }

        @Test("A damaged file is corrupt and stays as it is, and a good file can replace it")
        func corrupt() async throws {
            let good = open()
            try await good.create(Film(id: 1, title: "M"), save: .store)
            await good.close()
            let bytes = try Data(contentsOf: URL(filePath: path))
            var damaged = bytes
            damaged.replaceSubrange(0..<64, with: Data(repeating: 32, count: 64))
            try damaged.write(to: URL(filePath: path))
            let store = open()
            let failure = await #expect(throws: PersistenceFailure.self) { try await store.ready() }
            #expect(failure?.reason == .corrupt)
            #expect(try Data(contentsOf: URL(filePath: path)) == damaged)
            try bytes.write(to: URL(filePath: path))
            store.reopen()
            #expect(try await store.one(Film.all).title == "M")
            await store.close()
        }
    }
#endif
