import TestTools

#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// Tests which file a path means, and that all files of a store are beside it.
    @Suite(.timeLimit(.minutes(5)))
    struct StorePathTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        private var folder: TemporaryFolder { fixture.folder }

        @Test(
            "A path means one file, whether it uses folders, links, or links to files that do not exist yet",
            arguments: [
                "store.sqlite", "./store.sqlite", "sub/../store.sqlite", "sub//../store.sqlite", "dangling", "twice",
                "absolute", "folder/store.sqlite", "folder/dangling",
            ], [false, true])
        func resolving(name: String, exists: Bool) throws {
            mkdir(folder.file("sub"), 0o700)
            symlink("store.sqlite", folder.file("dangling"))
            symlink("sub/../dangling", folder.file("twice"))
            symlink(folder.file("store.sqlite"), folder.file("absolute"))
            symlink(".", folder.file("folder"))
            if exists { fixture.write([], to: "store.sqlite") }
            #expect(try StorePath.resolved(folder.file(name)) == fixture.path)
        }

        @Test(
            "A path without a folder, through a circle of links, or without a name is refused as a missing file",
            arguments: ["missing/store.sqlite", "circle", "missing/..", "", "missing/"])
        func refusals(name: String) throws {
            symlink("circle", folder.file("circle"))
            let path = name.isEmpty ? "" : folder.file(name)
            let failure = #expect(throws: PersistenceFailure.self) { try StorePath.resolved(path) }
            #expect(failure?.reason == .file)
        }

        @Test("A link to a store and the store have one owner, in either order")
        func oneOwner() throws {
            let link = folder.file("link.sqlite")
            symlink("store.sqlite", link)
            for (first, second) in [(fixture.path, link), (link, fixture.path)] {
                let models: [any PersistentModel.Type] = [Person.self, Company.self]
                let owner = try StoreDatabase.open(
                    SQLiteStore(path: first, models: models), migrations: [StoreFixture.first])
                let failure = #expect(throws: PersistenceFailure.self) {
                    try StoreDatabase.open(
                        SQLiteStore(path: second, models: models), migrations: [StoreFixture.first])
                }
                #expect(failure?.reason == .busy)
                #expect(failure?.store == fixture.path)
                try owner.close()
            }
            #expect(!folder.entries.contains { $0.hasPrefix("link.sqlite-") })
        }

        @Test("The log, backups and failures of a store that was opened through a link name the file itself")
        func beside() async throws {
            let link = folder.file("link.sqlite")
            symlink("store.sqlite", link)
            let store = SQLiteStore(path: link, models: [Person.self, Company.self])
            try StoreDatabase.open(store, migrations: [StoreFixture.first]).close()
            let more = Migration("2 more", sql: "CREATE TABLE more(a)")
            let service = SQLitePersistenceService(store, migrations: [StoreFixture.first, more])
            try await service.create(Company(id: 1, name: "Ufa"), save: .store)
            #expect(service.name == fixture.path)
            let scope = try service.child("edit")
            try await scope.create(Company(id: 2, name: "Nero"), save: .pending)
            #expect(try await scope.fetch(Company.all).map(\.id) == [1, 2])
            await #expect(throws: PersistenceFailure(.notFound, "", store: fixture.path, model: "company")) {
                try await service.one(Company.where { $0.name == "?" })
            }
            #expect(
                folder.entries == [
                    "link.sqlite", "store.sqlite", "store.sqlite-owner", "store.sqlite-shm", "store.sqlite-wal",
                    "store.sqlite.before-2-more",
                ])
            await service.close()
        }

        @Test("A store with a relative path stays the same file after the program has changed its folder")
        func changedFolder() async throws {
            // The current folder belongs to the whole process, so another process changes it.
            let folder = folder.path
            let lines = try await ChildProcess.onThread {
                let process = try ChildProcess("StoreProbe", ["relative", folder])
                defer { process.wait() }
                return process.lines(for: .seconds(60))
            }
            #expect(lines == ["pending: 2", "stored: 2", "backups: 1", "done"])
            #expect(self.folder.entries.contains("store.sqlite"))
            #expect(!self.folder.entries.contains { $0.hasSuffix("-wal") })
        }
    }
#endif
