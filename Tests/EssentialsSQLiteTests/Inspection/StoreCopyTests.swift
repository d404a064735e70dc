#if Persistence
    import EssentialsPersistence
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    @Suite("StoreInspection: checks, backups and restorations", .timeLimit(.minutes(5)))
    struct StoreCopyTests {
        private let fixture: StoreFixture
        private var backupPath: String { fixture.folder.file("backup.sqlite") }

        init() throws { fixture = try StoreFixture() }

        private func inspection() throws -> StoreInspection { try StoreInspection(path: fixture.path) }

        /// A closed store with one company.
        private func make(_ name: String) throws {
            let store = try fixture.open()
            try store.add(name)
            try store.close()
        }

        private func names(_ path: String) throws -> [String] {
            let rows = try #require(try StoreInspection(path: path).rows(of: "company", limit: 10, offset: 0))
            return rows.rows.map { if case .text(let name, _) = $0[1] { name } else { "" } }
        }

        @Test("A sound store has no findings, only its number of migrations")
        func sound() throws {
            try make("Acme")
            let findings = try inspection().findings()
            #expect(findings.isEmpty && findings.migrationCount == 1)
        }

        @Test("Rows that refer to missing rows are counted for each pair of tables")
        func dangling() throws {
            try make("Acme")
            let queue = try DatabaseQueue(path: fixture.path)
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA foreign_keys = OFF; INSERT INTO person(name, employer) VALUES ('a', 8), ('b', 9), ('c', 1)
                        """)
            }
            try queue.close()
            let findings = try inspection().findings()
            #expect(findings.damage.isEmpty)
            #expect(findings.dangling == [StoreFindings.Dangling(table: "person", parent: "company", rows: 2)])
        }

        @Test("Overwritten pages are findings")
        func damaged() throws {
            try make("Acme")
            var bytes = fixture.read("store.sqlite")
            for index in 4096..<bytes.count { bytes[index] = 0xA5 }
            fixture.write(bytes, to: "store.sqlite")
            #expect(try !inspection().findings().damage.isEmpty)
        }

        @Test("A backup is one complete state of an open store, with the mode 0600")
        func backup() throws {
            let store = try fixture.open()
            try store.add("Acme")
            let bytes = try StoreBackup(of: inspection(), to: backupPath).make(overwriting: false)
            try store.add("Bolt")
            #expect(bytes > 0 && FileState(backupPath).bytes == bytes && fixture.mode("backup.sqlite") == 0o600)
            #expect(try names(backupPath) == ["Acme"])
            #expect(try names(fixture.path) == ["Acme", "Bolt"])
            try store.close()
            #expect(fixture.folder.entries == ["backup.sqlite", "store.sqlite", "store.sqlite-owner"])
        }

        @Test("A backup replaces a file only on demand, and never the store, a store in use or a file with a log")
        func refusedTargets() throws {
            try make("Acme")
            fixture.write([1], to: "backup.sqlite")
            let backup = StoreBackup(of: try inspection(), to: backupPath)
            func refused(_ backup: StoreBackup, overwriting: Bool, _ reason: PersistenceFailure.Reason) {
                let failure = #expect(throws: PersistenceFailure.self) { try backup.make(overwriting: overwriting) }
                #expect(failure?.reason == reason && failure?.remedy != nil)
            }
            refused(backup, overwriting: false, .file)
            #expect(fixture.read("backup.sqlite") == [1])
            refused(StoreBackup(of: try inspection(), to: fixture.path), overwriting: true, .file)
            refused(StoreBackup(of: try inspection(), to: fixture.folder.file("none/b")), overwriting: true, .file)
            fixture.write([1], to: "backup.sqlite-wal")
            refused(backup, overwriting: true, .file)
            unlink(backupPath + "-wal")
            let owner = try StoreOwner(store: backupPath)
            refused(backup, overwriting: true, .busy)
            owner.release()
            _ = try backup.make(overwriting: true)
            #expect(try names(backupPath) == ["Acme"])
            #expect(!fixture.folder.entries.contains { $0.contains(".partial-") })
        }

        @Test("A restoration puts the backup in place and keeps the present file with its log")
        func restored() throws {
            try make("Acme")
            _ = try StoreBackup(of: inspection(), to: backupPath).make(overwriting: false)
            // A log of a killed process.
            let writer = try DatabaseQueue(path: fixture.path)
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; INSERT INTO company(name) VALUES ('Bolt')")
            }
            let log = fixture.read("store.sqlite-wal")
            let file = fixture.read("store.sqlite")
            try writer.close()
            fixture.write(file, to: "store.sqlite")
            fixture.write(log, to: "store.sqlite-wal")
            try #require(try names(fixture.path) == ["Acme", "Bolt"])

            let kept = try #require(
                try StoreRestoration(of: fixture.path, from: StoreInspection(path: backupPath)).run())
            #expect(kept.hasPrefix(fixture.path + ".replaced-2"))
            #expect(try names(fixture.path) == ["Acme"])
            #expect(fixture.mode("store.sqlite") == 0o600)
            #expect(FileState(fixture.path + "-wal").bytes == 0)
            #expect(try names(kept) == ["Acme", "Bolt"])
            #expect(try inspection().information().backups.map { fixture.folder.file($0.name) } == [kept])
            let store = try fixture.open()
            #expect(try store.names() == ["Acme"])
            try store.close()
        }

        @Test("A restoration is refused while a process owns the store or from a damaged backup, and changes nothing")
        func refused() throws {
            let store = try fixture.open()
            try store.add("Acme")
            _ = try StoreBackup(of: inspection(), to: backupPath).make(overwriting: false)
            let restoration = StoreRestoration(of: fixture.path, from: try StoreInspection(path: backupPath))
            let busy = #expect(throws: PersistenceFailure.self) { try restoration.run() }
            #expect(busy?.reason == .busy && busy?.message.contains("\(getpid())") == true)
            try store.add("Bolt")
            try store.close()

            var bytes = fixture.read("backup.sqlite")
            for index in 4096..<bytes.count { bytes[index] = 0xA5 }
            fixture.write(bytes, to: "backup.sqlite")
            let before = fixture.folder.entries
            let corrupt = #expect(throws: PersistenceFailure.self) { try restoration.run() }
            #expect(corrupt?.reason == .corrupt)
            let itself = StoreRestoration(of: fixture.path, from: try inspection())
            #expect(#expect(throws: PersistenceFailure.self) { try itself.run() }?.reason == .file)
            #expect(fixture.folder.entries == before)
            #expect(try names(fixture.path) == ["Acme", "Bolt"])
        }

        @Test("A store whose file is missing is restored")
        func gone() throws {
            try make("Acme")
            _ = try StoreBackup(of: inspection(), to: backupPath).make(overwriting: false)
            unlink(fixture.path)
            let restoration = StoreRestoration(of: fixture.path, from: try StoreInspection(path: backupPath))
            #expect(try restoration.run() == nil)
            #expect(try names(fixture.path) == ["Acme"])
        }
    }
#endif
