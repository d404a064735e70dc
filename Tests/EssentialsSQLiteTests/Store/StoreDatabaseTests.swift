#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    @Suite struct StoreDatabaseTests {
        @Test("All files of a store have the mode 0600, whatever the mask of the process is")
        func modes() throws {
            let old = umask(0)
            defer { umask(old) }
            let fixture = try StoreFixture()
            let database = try fixture.open()
            try database.add("Ufa")
            let names = ["store.sqlite", "store.sqlite-owner", "store.sqlite-shm", "store.sqlite-wal"]
            #expect(fixture.folder.entries == names)
            #expect(names.compactMap { fixture.mode($0) } == Array(repeating: 0o600, count: 4))
            try database.close()
            #expect(fixture.mode("store.sqlite") == 0o600)
        }

        @Test(
            "If a file is replaced or removed while the store is open, saves and new connections fail until it is back"
        )
        func replacedFile() async throws {
            let fixture = try StoreFixture()
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            let edits = try store.child("edit")
            try await edits.create(Company(id: 2, name: "Nero"), save: .pending)
            #expect(try await edits.count(Company.all) == 2)
            let original = fixture.folder.file("original")
            #expect(link(fixture.path, original) == 0)
            fixture.write([UInt8](repeating: 0, count: 4_096), to: "other")
            #expect(rename(fixture.folder.file("other"), fixture.path) == 0)
            for isThere in [true, false] {
                if !isThere { unlink(fixture.path) }
                for body in [
                    { try await edits.save(.store) }, { try await edits.validate() },
                    { try await store.importRows(of: Company.self, from: [Company(id: 3, name: "Decla")]) },
                ] as [() async throws -> Any] {
                    let failure = await #expect(throws: PersistenceFailure.self) { _ = try await body() }
                    #expect(failure?.reason == .file && failure?.message.contains("replaced") == true)
                }
            }
            // Open connections read the file that they have opened, and new ones do not read another file.
            #expect(try await edits.count(Company.all) == 2)
            let inner = try edits.child("inner")
            let failure = await #expect(throws: PersistenceFailure.self) { try await inner.count(Company.all) }
            #expect(failure?.reason == .file)
            #expect(rename(original, fixture.path) == 0)
            #expect(try await inner.count(Company.all) == 2)
            try await edits.save(.store)
            #expect(try await store.count(Company.all) == 2)
            await store.close()
        }

        @Test("Written rows are there after the store is opened again, and closing leaves no log")
        func reopening() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            #expect(database.report.applied == ["1 persons"])
            #expect(database.report.backup == nil)
            try database.add("Ufa")
            #expect(FileState(fixture.path + "-wal").bytes > 0)
            try database.close()
            #expect(fixture.folder.entries == ["store.sqlite", "store.sqlite-owner"])
            let again = try fixture.open()
            #expect(again.report == MigrationRunner.Report())
            #expect(try again.names() == ["Ufa"])
            try again.close()
        }

        @Test("A second owner in the same process is refused with the process number, until the first one closes")
        func secondOwner() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            let failure = #expect(throws: PersistenceFailure.self) { try fixture.open() }
            #expect(failure?.reason == .busy)
            #expect(failure?.message.contains("\(getpid())") == true)
            try database.add("Ufa")
            try database.close()
            try fixture.open().close()
        }

        @Test("An owner that was not closed gives up its store when it is released")
        func forgottenOwner() throws {
            let fixture = try StoreFixture()
            do {
                let owner = try StoreOwner(store: fixture.path)
                #expect(owner.isOwner)
            }
            let owner = try StoreOwner(store: fixture.path)
            owner.release()
            owner.release()
            #expect(!owner.isOwner)
            try fixture.open().close()
        }

        @Test("A closed store refuses calls")
        func closed() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            try database.close()
            #expect(#expect(throws: PersistenceFailure.self) { try database.close() }?.reason == .closed)
            #expect(#expect(throws: PersistenceFailure.self) { _ = try database.names() }?.reason == .closed)
        }

        @Test("A blocking call inside a closure of the same store is reentrant, and one of another store is not")
        func reentrant() throws {
            let (fixture, other) = (try StoreFixture(), try StoreFixture())
            let (database, second) = (try fixture.open(), try other.open())
            for call in [{ try database.add("x") }, { _ = try database.names() }, { try database.close() }] {
                let failures = [
                    #expect(throws: PersistenceFailure.self) { try database.read { _ in try call() } },
                    #expect(throws: PersistenceFailure.self) { try database.write { _ in try call() } },
                    #expect(throws: PersistenceFailure.self) {
                        try database.read { _ in try second.write { _ in try call() } }
                    },
                ]
                #expect(failures.allSatisfy { $0?.reason == .reentrant })
            }
            try database.write { _ in try second.add("Ufa") }
            #expect(try second.names() == ["Ufa"])
            try database.close()
            try second.close()
        }

        @Test("A closure that throws changes nothing, and its error is the cause of the failure")
        func rollback() throws {
            struct Refusal: Error {}
            let fixture = try StoreFixture()
            let database = try fixture.open()
            let failure = #expect(throws: PersistenceFailure.self) {
                try database.write { db in
                    try db.execute(sql: "INSERT INTO company(name) VALUES ('Ufa')")
                    throw Refusal()
                }
            }
            #expect(failure?.reason == .work)
            #expect(failure?.underlying is Refusal)
            #expect(try database.names() == [])
            try database.add("Ufa")
            let unique = #expect(throws: PersistenceFailure.self) { try database.add("Ufa") }
            #expect(unique?.reason == .constraint)
            #expect(unique?.model == "company")
            try database.close()
        }

        @Test("A text file is corrupt, and stays unchanged", arguments: ["no store, but a long enough text\n", "x"])
        func textFile(text: String) throws {
            let fixture = try StoreFixture()
            let bytes = Array(String(repeating: text, count: 100).utf8)
            fixture.write(bytes, to: "store.sqlite")
            let failure = #expect(throws: PersistenceFailure.self) { try fixture.open() }
            #expect(failure?.reason == .corrupt)
            #expect(failure?.store == fixture.path)
            #expect(fixture.read("store.sqlite") == bytes)
        }

        @Test("Damage of a page is found when the store opens, if verification is on")
        func verification() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            for number in 0..<2_000 { try database.add("Company \(number)") }
            try database.close()
            var store = fixture.store
            for verification in [SQLiteStore.Verification.quick, .full] {
                store.verification = verification
                try StoreDatabase.open(store, migrations: [StoreFixture.first]).close()
            }
            var bytes = fixture.read("store.sqlite")
            let damaged = bytes.count / 8192 * 4096
            bytes.replaceSubrange(damaged..<damaged + 4096, with: Array(repeating: 0xA5, count: 4096))
            fixture.write(bytes, to: "store.sqlite")
            for verification in [SQLiteStore.Verification.quick, .full] {
                store.verification = verification
                let failure = #expect(throws: PersistenceFailure.self) {
                    try StoreDatabase.open(store, migrations: [StoreFixture.first])
                }
                #expect(failure?.reason == .corrupt)
            }
            // Without verification, the first query that meets the damage finds it.
            try fixture.open().close()
        }

        @Test("An empty file becomes a store")
        func emptyFile() throws {
            let fixture = try StoreFixture()
            fixture.write([], to: "store.sqlite")
            try fixture.open().close()
        }

        @Test("A store in a missing folder, or whose path is a folder, cannot be opened")
        func noFolder() throws {
            let fixture = try StoreFixture()
            for path in [fixture.folder.file("missing/store.sqlite"), fixture.folder.path] {
                let failure = #expect(throws: PersistenceFailure.self) {
                    try StoreDatabase.open(SQLiteStore(path: path, models: []), migrations: [])
                }
                #expect(failure?.reason == .file)
            }
            unlink(fixture.folder.path + "-owner")
        }

        @Test("A store without space fails as full, and works again when there is space")
        func full() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            try database.write { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
            }
            let failure = #expect(throws: PersistenceFailure.self) {
                try database.write { try $0.execute(sql: "INSERT INTO company(name) VALUES (hex(zeroblob(100000)))") }
            }
            #expect(failure?.reason == .full)
            try database.write { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
            try database.add("Ufa")
            #expect(try database.names() == ["Ufa"])
            try database.close()
        }

        @Test("A large log is copied into the file after a save, and reused from its start")
        func checkpoints() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            for round in 0..<12 {
                try database.write { db in
                    try db.execute(
                        sql: "INSERT OR REPLACE INTO company(id, name) VALUES (1, ?||hex(zeroblob(500000)))",
                        arguments: [round])
                }
            }
            #expect(FileState(fixture.path + "-wal").bytes < 2 * LogPages.step * 4_096)
            try database.close()
        }

        @Test("A copied log is not copied again before it has grown again")
        func pages() throws {
            let fixture = try StoreFixture()
            try fixture.open().close()
            let pool = try DatabasePool(path: fixture.path)
            let pages = LogPages()
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
                pages.watch(db)
                var rounds: [Int] = []
                for round in 1...60 {
                    // About a hundred pages.
                    try db.execute(
                        sql: "INSERT OR REPLACE INTO person(id, name) VALUES (1, ?||hex(zeroblob(200000)))",
                        arguments: [round])
                    guard pages.takeCheckpoint() else { continue }
                    rounds.append(round)
                    _ = try db.checkpoint(.passive)
                }
                #expect((4...6).contains(rounds.count), "\(rounds)")
                #expect(zip(rounds, rounds.dropFirst()).allSatisfy { $1 - $0 >= 9 }, "\(rounds)")
            }
            try pool.close()
        }

        @Test(
            "The durability decides whether each save waits for the disk",
            arguments: [
                (SQLiteStore.Durability.process, 1), (.power, 2),
            ])
        func durability(durability: SQLiteStore.Durability, expected: Int) throws {
            let fixture = try StoreFixture()
            var store = fixture.store
            store.durability = durability
            let database = try StoreDatabase.open(store, migrations: [StoreFixture.first])
            #expect(try database.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == expected)
            #expect(try database.write { try Int.fetchOne($0, sql: "PRAGMA wal_autocheckpoint") } == 0)
            #expect(try database.write { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") } == 1)
            try database.close()
        }
    }
#endif
