#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    @Suite("StoreInspection", .timeLimit(.minutes(5)))
    struct StoreInspectionTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        private func inspection() throws -> StoreInspection { try StoreInspection(path: fixture.path) }

        /// Makes a store with SQL, and closes it.
        private func make(_ sql: String) throws {
            let store = try fixture.open()
            try store.write { try $0.execute(sql: sql) }
            try store.close()
        }

        @Test(
            "The information names sizes, the journal, migrations, tables with their rows, and no owner after closing")
        func information() throws {
            try make("INSERT INTO company(id, name) VALUES (1, 'Acme'), (2, 'Bolt'); PRAGMA user_version = 7")
            let before = fixture.folder.entries
            let information = try inspection().information()
            #expect(information.bytes == information.pages * information.pageSize && information.bytes > 0)
            #expect(information.journalMode == "wal" && information.logBytes == 0 && information.userVersion == 7)
            #expect(information.migrations.map(\.name) == ["1 persons"])
            #expect(information.migrations.first?.date.hasPrefix("20") == true)
            let rows = Dictionary(uniqueKeysWithValues: information.tables.map { ($0.name, $0.rows) })
            #expect(rows == ["company": 2, "person": 0, "essentials_migrations": 1])
            #expect(information.owner?.process == getpid() && information.owner?.holdsStore == false)
            #expect(information.backups.isEmpty && !information.isCut)
            #expect(fixture.folder.entries == before)
        }

        @Test("An open store with a log is read as its owner sees it, and the owner keeps saving")
        func beside() throws {
            let store = try fixture.open()
            try store.add("Acme")
            let inspection = try inspection()
            let information = try inspection.information()
            #expect(information.owner?.process == getpid() && information.owner?.holdsStore == true)
            #expect(information.logBytes > 0 && information.journalMode == "wal")
            #expect(information.tables.first { $0.name == "company" }?.rows == 1)
            try inspection.read { db in
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM company") == 1)
                try store.add("Bolt")
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM company") == 1)
            }
            #expect(try store.names() == ["Acme", "Bolt"])
            #expect(try inspection.findings().isEmpty)
            try store.close()
        }

        @Test("If a write begins while a file at rest is read, the read is repeated")
        func repeated() throws {
            try make("INSERT INTO company(id, name) VALUES (1, 'Acme')")
            var counts: [Int] = []
            var store: StoreDatabase?
            try inspection().read { db in
                counts.append(try Int.fetchOne(db, sql: "SELECT count(*) FROM company") ?? 0)
                guard store == nil else { return }
                store = try fixture.open()
                try store?.add("Bolt")
            }
            #expect(counts == [1, 2])
            try store?.close()
        }

        @Test("A missing path, a folder and a file that is not a database are refused with a remedy")
        func refused() throws {
            fixture.write(Array("This is not a database, but it is long enough to have a header.".utf8), to: "text")
            let cases: [(path: String, reason: PersistenceFailure.Reason)] = [
                (fixture.folder.file("missing"), .file), (fixture.folder.path, .file),
            ]
            for (path, reason) in cases {
                let failure = #expect(throws: PersistenceFailure.self) { try StoreInspection(path: path) }
                #expect(failure?.reason == reason && failure?.remedy != nil && failure?.store == path)
            }
            let text = try StoreInspection(path: fixture.folder.file("text"))
            let failure = #expect(throws: PersistenceFailure.self) { try text.information() }
            #expect(failure?.reason == .corrupt && failure?.message.contains("not a database") == true)
        }

        @Test("A claim names a running process, a process that has closed the store, and one that has ended")
        func owners() throws {
            #expect(StoreOwnership(file: fixture.path + "-owner") == nil)
            let owner = try StoreOwner(store: fixture.path)
            #expect(StoreOwnership(file: fixture.path + "-owner")?.holdsStore == true)
            owner.release()
            let closed = try #require(StoreOwnership(file: fixture.path + "-owner"))
            #expect(closed.isRunning && !closed.holdsStore)
            // The greatest number of a process is 4194304.
            for (text, process) in [("4194999\n", 4_194_999), ("x", nil), ("-1\n", nil), ("", nil)]
                as [(String, Int32?)]
            {
                fixture.write(Array(text.utf8), to: "store.sqlite-owner")
                let ownership = StoreOwnership(file: fixture.path + "-owner")
                #expect(ownership?.process == process && ownership?.isRunning != true)
            }
        }

        @Test(
            "The WAL-reset bug exists in the versions 3.7.0 to 3.51.2, except in two corrected series",
            arguments: [
                (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true), (3_044_006, false),
                (3_045_000, true), (3_050_006, true), (3_050_007, false), (3_051_000, true), (3_051_002, true),
                (3_051_003, false),
            ] as [(Int32, Bool)])
        func versions(version: Int32, hasFault: Bool) {
            #expect(StoreInformation.hasLogResetFault(version: version) == hasFault)
        }

        @Test("The outline has the statements, columns and foreign keys, without a store's internal tables")
        func outline() throws {
            try make("CREATE INDEX by_name ON person(name); CREATE VIEW names AS SELECT name FROM person")
            let outline = try inspection().outline()
            #expect(outline.entries.map(\.kind) == ["table", "table", "table", "view", "index"])
            #expect(outline.entries.last?.sql == "CREATE INDEX by_name ON person(name)")
            #expect(outline.tables.map(\.name) == ["company", "person"])
            let person = try #require(outline.tables.last)
            #expect(person.columns.map(\.name) == ["id", "name", "employer"])
            #expect(person.columns.map(\.isKey) == [true, false, false])
            #expect(person.columns.map(\.isRequired) == [true, true, false])
            #expect(person.references == [StoreOutline.Reference(columns: ["employer"], parent: "company")])
        }
    }
#endif
