#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// Stores that live as long as their service.
    struct TemporaryStoreTests {
        private let store = SQLiteStore.temporary(models: [Person.self, Company.self])
        private var folder: String { String(store.path.dropLast("/store.sqlite".count)) }

        private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

        private func service() -> SQLitePersistenceService {
            SQLitePersistenceService(store, migrations: [StoreFixture.first])
        }

        @Test("A temporary store is a private folder with a log that is never flushed, and is removed on closing")
        func closing() async throws {
            let service = service()
            try await service.create(Company(id: 1, name: "Ufa"), save: .store)
            var status = stat()
            #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
            #expect(exists("/dev/shm") == folder.hasPrefix("/dev/shm/"))
            #expect(exists(store.path + "-wal"))
            let database = try service.core.openStore().database
            #expect(try database.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 0)
            #expect(try await service.child("edit").count(Company.all) == 1)
            await service.close()
            #expect(!exists(folder))
            // The same description is a new store afterwards.
            let again = self.service()
            #expect(try await again.count(Company.all) == 0)
            await again.close()
            #expect(!exists(folder))
        }

        @Test("A temporary store is also removed when it is released, and a scope keeps it", .timeLimit(.minutes(5)))
        func releasing() async throws {
            func scope() async throws -> any PersistenceService {
                let service = service()
                try await service.ready()
                return try service.child("scope")
            }
            var held: (any PersistenceService)? = try await scope()
            #expect(try await held?.count(Company.all) == 0)
            #expect(exists(folder))
            held = nil
            while exists(folder) { await Task.yield() }
        }

        @Test("A temporary store that cannot be opened leaves no files, and an open one is not opened twice")
        func failing() async throws {
            let broken = SQLitePersistenceService(store, migrations: [Migration("1 broken", sql: "CREATE")])
            await #expect(throws: PersistenceFailure.self) { try await broken.ready() }
            #expect(!exists(folder))
            let service = service()
            try await service.ready()
            let failure = await #expect(throws: PersistenceFailure.self) { try await self.service().ready() }
            #expect(failure?.reason == .busy)
            #expect(try await service.count(Company.all) == 0)
            await service.close()
        }

        @Test("Folders that a process left behind are removed with the next store, and folders in use stay")
        func sweeping() throws {
            let root = try TemporaryFolder()
            // The number of a process that has ended.
            let dead = try ended()
            func make(_ process: pid_t, _ name: String) -> String {
                let folder = root.file("service-essentials-store-\(process)-\(name)")
                mkdir(folder, 0o700)
                for name in ["", "-wal", "-shm", "-owner"] {
                    Glibc.close(Glibc.open("\(folder)/store.sqlite\(name)", O_RDWR | O_CREAT, 0o600))
                }
                return folder
            }
            let (left, locked, own) = (make(dead, "left"), make(dead, "locked"), make(getpid(), "own"))
            let empty = root.file("service-essentials-store-\(dead)-empty")
            mkdir(empty, 0o700)
            let owner = try StoreOwner(store: "\(locked)/store.sqlite")
            let other = root.file("other")
            mkdir(other, 0o700)
            TemporaryStore.sweep(root.path)
            #expect([left, empty].allSatisfy { !exists($0) })
            #expect([locked, own, other].allSatisfy { exists($0) })
            owner.release()
            TemporaryStore.sweep(root.path)
            #expect(!exists(locked))
            TemporaryStore(store: "\(own)/store.sqlite").remove()
            rmdir(other)
            #expect(root.entries == [])
        }

        /// The number of a process that has ended.
        private func ended() throws -> pid_t {
            var process: pid_t = 0
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            defer { free(arguments[0]) }
            try #require(posix_spawnp(&process, "true", nil, nil, &arguments, environ) == 0)
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return process
        }

        @Test("A scope that is closed or released with pending rows reports their number, once")
        func discarding() async throws {
            let log = Log()
            var store = store
            store.onDiscard = { log.add("\($0.split(separator: " ").last ?? "") \($1)") }
            let service = SQLitePersistenceService(store, migrations: [StoreFixture.first])
            let edits = try service.child("edit")
            try await edits.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .pending)
            await edits.close()
            await edits.close()
            do {
                let other = try service.child("other")
                try await other.create(Company(id: 1, name: "Ufa"), save: .pending)
            }
            let saved = try service.child("saved")
            try await saved.create(Company(id: 1, name: "Ufa"), save: .store)
            await saved.close()
            await service.close()
            #expect(log.lines.sorted() == ["edit 2", "other 1"])
        }

        private final class Log: Sendable {
            private let list = Mutex<[String]>([])
            var lines: [String] { list.withLock { $0 } }
            func add(_ line: String) { list.withLock { $0.append(line) } }
        }
    }
#endif
