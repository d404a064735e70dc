#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
    import Glibc
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    @Suite struct MigrationTests {
        private typealias Step = MigrationPlan.Step

        private func reason(_ known: [Step], _ applied: [Step]) -> PersistenceFailure.Reason? {
            do {
                _ = try MigrationPlan(known: known, applied: applied)
                return nil
            } catch {
                return error.reason
            }
        }

        @Test("Migrations that have not run are pending, in order, and edited ones are named")
        func plan() throws {
            let known = [Step(name: "1", digest: "a"), Step(name: "2", digest: "b"), Step(name: "3", digest: "c")]
            #expect(try MigrationPlan(known: known, applied: []).pending == [0, 1, 2])
            let plan = try MigrationPlan(
                known: known, applied: [Step(name: "1", digest: "a"), Step(name: "2", digest: "x")])
            #expect(plan.pending == [2])
            #expect(plan.edited == ["2"])
        }

        @Test("Unknown, duplicate and late migrations are refused")
        func refusals() {
            let (one, two) = (Step(name: "1", digest: ""), Step(name: "2", digest: ""))
            #expect(reason([one], [one, two]) == .newerSchema)
            #expect(reason([one, one], []) == .migration)
            #expect(reason([one, two], [two]) == .migration)
            #expect(reason([], []) == nil)
        }

        @Test(
            "Hashes of texts are those of FNV-1a with 128 bits",
            arguments: [
                ("", "6c62272e07bb014262b821756295c58d"), ("a", "d228cb696f1a8caf78912b704e4a8964"),
                ("foobar", "343e1662793c64bf6f0d3597ba446f18"),
            ])
        func digests(text: String, digest: String) { #expect(Migration("1", sql: text).digest == digest) }

        @Test("A hash of an earlier version is not compared with the hash of a text, and is not that of code")
        func earlierDigest() throws {
            let applied = [Step(name: "1", digest: String(repeating: "a", count: 64))]
            let known = [Step(name: "1", digest: Migration("1", sql: "SELECT 1").digest)]
            #expect(try MigrationPlan(known: known, applied: applied).edited.isEmpty)
            #expect(try MigrationPlan(known: [Step(name: "1", digest: "")], applied: applied).edited == ["1"])
            #expect(try MigrationPlan(known: known, applied: [Step(name: "1", digest: "")]).edited == ["1"])
        }

        @Test("A store of a newer program is refused with the names of its migrations, and is not changed")
        func newer() throws {
            let fixture = try StoreFixture()
            try fixture.open([StoreFixture.first, Migration("2 more", sql: "CREATE TABLE more(a)")]).close()
            let before = fixture.read("store.sqlite")
            let failure = #expect(throws: PersistenceFailure.self) { try fixture.open() }
            #expect(failure?.reason == .newerSchema)
            #expect(failure?.message.contains("2 more") == true)
            #expect(fixture.read("store.sqlite") == before)
        }

        @Test("Before a store with data is changed, a backup with the mode 0600 and the old data is made")
        func backup() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            try database.add("Ufa")
            try database.close()
            let drop = Migration("2/drop it", sql: "DELETE FROM company")
            let again = try fixture.open([StoreFixture.first, drop])
            let backup = fixture.path + ".before-2-drop-it"
            #expect(again.report.backup == backup)
            #expect(again.report.applied == ["2/drop it"])
            #expect(try again.names() == [])
            #expect(fixture.mode("store.sqlite.before-2-drop-it") == 0o600)
            let names = try DatabaseQueue(path: backup).read {
                try String.fetchAll($0, sql: "SELECT name FROM company")
            }
            #expect(names == ["Ufa"])
            try again.close()
        }

        @Test("Two backups are kept")
        func oldBackups() throws {
            let fixture = try StoreFixture()
            var migrations = [StoreFixture.first]
            for number in 2...6 {
                try fixture.open(migrations).close()
                migrations.append(Migration("\(number)", sql: "CREATE TABLE t\(number)(a)"))
            }
            try fixture.open(migrations).close()
            let backups = fixture.folder.entries.filter { $0.contains(".before-") }
            #expect(backups.count == 2)
            #expect(backups.contains("store.sqlite.before-6"))
        }

        @Test("The two newest backups are kept, however close together they were made")
        func closeBackups() throws {
            let fixture = try StoreFixture()
            var migrations = [StoreFixture.first]
            for number in 2...8 {
                try fixture.open(migrations).close()
                migrations.append(Migration("\(number)", sql: "CREATE TABLE t\(number)(a)"))
                let before = fixture.folder.entries.filter { $0.contains(".before-") }
                // As if the clock had been set back.
                let times = [timespec(tv_sec: 4_000_000_000, tv_nsec: 7), timespec(tv_sec: 4_000_000_000, tv_nsec: 7)]
                if number == 2 { fixture.write([], to: "store.sqlite.before-1") }
                if number == 2 { utimensat(AT_FDCWD, fixture.path + ".before-1", times, 0) }
                try fixture.open(migrations).close()
                let after = fixture.folder.entries.filter { $0.contains(".before-") }
                #expect(after.contains("store.sqlite.before-\(number)"))
                if number > 2 {
                    #expect(after == ["store.sqlite.before-\(number - 1)", "store.sqlite.before-\(number)"])
                    #expect(before.contains("store.sqlite.before-\(number - 1)"))
                }
            }
        }

        @Test("A backup that does not fit fails as full before anything is changed, and a smaller store migrates")
        func backupWithoutSpace() throws {
            let fixture = try StoreFixture()
            try fixture.open().close()
            let size = fixture.fileSize
            // A file with a hole is larger than the free space, but uses no space.
            let free = try #require(FileCalls.freeBytes(besides: fixture.path))
            try fixture.setPages(UInt32(clamping: free / 4096 + 100_000))
            let before = fixture.read("store.sqlite")
            let drop = Migration("2 drop", sql: "DROP TABLE person")
            let failure = #expect(throws: PersistenceFailure.self) { try fixture.open([StoreFixture.first, drop]) }
            #expect(failure?.reason == .full)
            #expect(failure?.message.contains("The backup before the migration 2 drop needs") == true)
            #expect(fixture.read("store.sqlite") == before)
            #expect(!fixture.folder.entries.contains { $0.contains(".before-") || $0.hasSuffix(".unfinished") })
            try fixture.setPages(UInt32(size / 4096))
            let again = try fixture.open()
            #expect(again.report.backup == nil)
            #expect(try again.read { try $0.tableExists("person") })
            try again.close()
        }

        @Test("A migration that fails at any of its statements leaves the store as before it", arguments: 0..<4)
        func failing(position: Int) throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            try database.add("Ufa")
            try database.close()
            var statements = ["CREATE TABLE a(x)", "DELETE FROM company", "INSERT INTO company VALUES (7, 'Nero')"]
            statements.insert("INSERT INTO missing VALUES (1)", at: position)
            let broken = Migration("2", sql: statements.joined(separator: ";"))
            let failure = #expect(throws: PersistenceFailure.self) { try fixture.open([StoreFixture.first, broken]) }
            #expect(failure?.reason == .migration)
            #expect(failure?.message.contains("The migration 2 has failed") == true)
            let again = try fixture.open([StoreFixture.first, Migration("2", sql: "CREATE TABLE a(x)")])
            #expect(try again.names() == ["Ufa"])
            #expect(again.report.applied == ["2"])
            try again.close()
        }

        @Test("A migration that breaks a foreign key fails at its end, and one that rebuilds a table does not")
        func foreignKeys() throws {
            let fixture = try StoreFixture()
            let database = try fixture.open()
            try database.write { db in
                try db.execute(sql: "INSERT INTO company VALUES (1, 'Ufa'); INSERT INTO person VALUES (1, 'Lang', 1)")
            }
            try database.close()
            let broken = Migration("2", sql: "DELETE FROM company")
            let failure = #expect(throws: PersistenceFailure.self) { try fixture.open([StoreFixture.first, broken]) }
            #expect(failure?.reason == .migration)
            let rebuilding = Migration("2") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE other(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
                        INSERT INTO other SELECT id, name FROM company;
                        DROP TABLE company;
                        ALTER TABLE other RENAME TO company;
                        """)
            }
            let again = try fixture.open([StoreFixture.first, rebuilding])
            #expect(try again.names() == ["Ufa"])
            try again.close()
        }

        @Test("A migration whose text was edited after it had run is reported, and does not run again")
        func edited() throws {
            let fixture = try StoreFixture()
            try fixture.open().close()
            let database = try fixture.open([Migration("1 persons", sql: StoreFixture.schema + "\n-- edited")])
            #expect(database.report.edited == ["1 persons"])
            #expect(database.report.applied == [])
            try database.close()
        }
    }

    extension StoreFixture {
        fileprivate var fileSize: Int {
            var status = stat()
            return stat(path, &status) == 0 ? Int(status.st_size) : 0
        }

        /// Sets another number of pages in the header of a closed store, and another size.
        fileprivate func setPages(_ count: UInt32) throws {
            let descriptor = Glibc.open(path, O_RDWR)
            defer { close(descriptor) }
            let isResized = ftruncate(descriptor, Int(count) * 4096) == 0
            try #require(isResized, "The file system has no files of this size.")
            let bytes = withUnsafeBytes(of: count.bigEndian) { Array($0) }
            #expect(pwrite(descriptor, bytes, 4, 28) == 4)
        }
    }
#endif
