import TestTools

#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import Glibc
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// Files that are refused before anything is written.
    @Suite(.timeLimit(.minutes(5)))
    struct OpeningCheckTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        private func failure(
            _ store: SQLiteStore? = nil, _ migrations: [Migration] = [StoreFixture.first]
        ) -> PersistenceFailure? {
            do throws(PersistenceFailure) {
                try StoreDatabase.open(store ?? fixture.store, migrations: migrations).close()
                return nil
            } catch {
                return error
            }
        }

        /// Removes the log mode from the file, so that it is like a copy of a store.
        private func withoutLog() throws {
            let queue = try DatabaseQueue(path: fixture.path)
            _ = try queue.writeWithoutTransaction { try Row.fetchAll($0, sql: "PRAGMA journal_mode = DELETE") }
            try queue.close()
        }

        @Test("A file that is not empty and not a database is refused and kept", arguments: [1, 99, 511, 512, 4_096])
        func noDatabase(count: Int) {
            for byte: UInt8 in [0, 7] {
                let bytes = Array(repeating: byte, count: count)
                fixture.write(bytes, to: "store.sqlite")
                #expect(failure()?.reason == .corrupt)
                #expect(fixture.read("store.sqlite") == bytes)
                #expect(fixture.folder.entries == ["store.sqlite", "store.sqlite-owner"])
            }
        }

        @Test("An empty file becomes a store")
        func empty() {
            fixture.write([], to: "store.sqlite")
            #expect(failure() == nil)
        }

        @Test("A newer store, and one that does not fit the models, is not written, and no file is left beside it")
        func refused() throws {
            let more = Migration("2 more", sql: "CREATE TABLE more(a)")
            try fixture.open([StoreFixture.first, more]).close()
            for hasLog in [true, false] {
                if !hasLog { try withoutLog() }
                let before = fixture.read("store.sqlite")
                #expect(failure()?.reason == .newerSchema)
                let store = SQLiteStore(path: fixture.path, models: [Stranger.self])
                #expect(failure(store, [StoreFixture.first, more])?.reason == .schemaMismatch)
                #expect(fixture.read("store.sqlite") == before)
                #expect(fixture.folder.entries == ["store.sqlite", "store.sqlite-owner"])
            }
        }

        @Test("A store that proves damaged when it opens is not written")
        func damaged() throws {
            let database = try fixture.open()
            try database.write { db in
                for number in 0..<2_000 {
                    try db.execute(sql: "INSERT INTO company(name) VALUES (?)", arguments: ["company \(number)"])
                }
            }
            try database.close()
            try withoutLog()
            var bytes = fixture.read("store.sqlite")
            let page = try #require(stride(from: 8_192, to: bytes.count, by: 4_096).first { bytes[$0] == 13 })
            bytes.replaceSubrange(page..<page + 4_096, with: repeatElement(0xA5, count: 4_096))
            fixture.write(bytes, to: "store.sqlite")
            var store = fixture.store
            for verification in [SQLiteStore.Verification.quick, .full] {
                store.verification = verification
                let more = Migration("2 more", sql: "CREATE TABLE more(a)")
                #expect(failure(store, [StoreFixture.first, more])?.reason == .corrupt)
            }
            #expect(fixture.read("store.sqlite") == bytes)
            #expect(fixture.folder.entries == ["store.sqlite", "store.sqlite-owner"])
        }

        @Test("Opening waits for a program that locks the file, as long as other calls do")
        func locked() throws {
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
            try other.writeWithoutTransaction { db in
                try db.execute(sql: StoreFixture.schema)
                try db.beginTransaction(.exclusive)
                try db.execute(sql: "INSERT INTO company(name) VALUES ('Ufa')")
            }
            var store = fixture.store
            store.busyTimeout = .milliseconds(300)
            let start = ContinuousClock.now
            let migration = Migration("1 persons", sql: "SELECT 1")
            #expect(failure(store, [migration])?.reason == .busy)
            #expect(ContinuousClock.now - start >= .milliseconds(250))
            try other.writeWithoutTransaction { try $0.commit() }
            #expect(failure(store, [migration]) == nil)
            try other.close()
        }

        private static let journals = ["DELETE", "TRUNCATE", "WAL"]
        private static let locks = [
            "BEGIN; SELECT * FROM company", "BEGIN IMMEDIATE", "BEGIN IMMEDIATE; DELETE FROM company",
            "BEGIN EXCLUSIVE", "BEGIN EXCLUSIVE; DELETE FROM company",
        ]

        @Test("Opening succeeds when another program's lock ends, for every kind of lock", arguments: journals, locks)
        func unlocked(journal: String, lock: String) async throws {
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            // The end of its transaction can meet the reader that opens the store.
            configuration.busyMode = .timeout(60)
            let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
            try await other.writeWithoutTransaction { db in
                _ = try Row.fetchAll(db, sql: "PRAGMA journal_mode = \(journal)")
                try db.execute(sql: StoreFixture.schema)
                try db.execute(sql: lock)
            }
            var store = fixture.store
            store.busyTimeout = .seconds(60)
            let migration = Migration("1 persons", sql: "SELECT 1")
            async let failure = ChildProcess.onThread { [self, store] in self.failure(store, [migration]) }
            try await Task.sleep(for: .milliseconds(200))
            try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            #expect(try await failure == nil)
            try other.close()
        }

        @Test("Opening gives up after the timeout, even where SQLite itself does not wait")
        func lockedJournal() throws {
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
            try other.writeWithoutTransaction { db in
                try db.execute(sql: StoreFixture.schema)
                try db.execute(sql: "BEGIN IMMEDIATE")
            }
            var store = fixture.store
            store.busyTimeout = .milliseconds(100)
            let start = ContinuousClock.now
            #expect(failure(store, [Migration("1 persons", sql: "SELECT 1")])?.reason == .busy)
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try other.close()
        }

        @Test("A failure of the system has its error number as the underlying error")
        func systemErrors() throws {
            let missing = SQLiteStore(path: fixture.folder.file("missing/store.sqlite"), models: [])
            let failure = try #require(self.failure(missing, []))
            #expect(failure.reason == .file)
            #expect((failure.underlying as? POSIXError)?.code == .ENOENT)
            let inspection = #expect(throws: PersistenceFailure.self) { try StoreInspection(path: missing.path) }
            #expect((inspection?.underlying as? POSIXError)?.code == .ENOENT)
        }
    }

    /// A model without a table in these stores.
    private struct Stranger: PersistentModel {
        var id: Int64

        static let table = "stranger"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Stranger, Int64>("id")
            var all: [ModelColumn<Stranger>] { [id.erased] }
        }
    }
#endif
