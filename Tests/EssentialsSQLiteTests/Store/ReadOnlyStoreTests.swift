#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// Stores in places that cannot be written.
    struct ReadOnlyStoreTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        private func prepare() async throws {
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            await store.close()
        }

        private func reason(_ body: () async throws -> Void) async -> PersistenceFailure.Reason? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? PersistenceFailure)?.reason
            }
        }

        /// Reads work on all connections, and what would write fails and leaves the scope as it was.
        private func use(_ store: SQLitePersistenceService) async throws {
            #expect(try await store.find(Company.self, id: 1)?.name == "Ufa")
            let edits = try store.child("edit")
            try await edits.create(Company(id: 2, name: "Nero"), save: .pending)
            for _ in 0..<2 {
                #expect(await reason { try await edits.save(.store) } == .readOnly)
                #expect(await reason { try await edits.validate() } == .readOnly)
                #expect(await reason { try await store.delete(Company.self, ids: [1], save: .store) } == .readOnly)
                #expect(await reason { _ = try await store.reserveIDs(for: Company.self, count: 1) } == .readOnly)
                let models = [Company(id: 3, name: "Terra")]
                #expect(await reason { try await store.importRows(of: Company.self, from: models) } == .readOnly)
                #expect(try await edits.fetch(Company.all).map(\.name) == ["Ufa", "Nero"])
                #expect(try await store.count(Company.all) == 1)
            }
        }

        @Test(
            "A read-only file, or one in a read-only folder, can be read, and saves fail as readOnly",
            .enabled(if: geteuid() != 0, "The user root may write every file."), arguments: [false, true])
        func reading(isFolder: Bool) async throws {
            try await prepare()
            let place = isFolder ? fixture.folder.path : fixture.path
            chmod(place, isFolder ? 0o500 : 0o400)
            defer { chmod(place, 0o700) }
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await use(store)
            await store.close()
            let migrations = [StoreFixture.first, Migration("2 more", sql: "CREATE TABLE more(id)")]
            let behind = SQLitePersistenceService(fixture.store, migrations: migrations)
            #expect(await reason { try await behind.ready() } == .readOnly)
            await behind.close()
            chmod(place, 0o700)
            let again = SQLitePersistenceService(fixture.store, migrations: migrations)
            try await again.create(Company(id: 2, name: "Nero"), save: .store)
            #expect(try await again.count(Company.all) == 2)
            await again.close()
        }

        @Test(
            "A new store in a read-only folder fails as readOnly",
            .enabled(if: geteuid() != 0, "The user root may write every folder."))
        func creating() async throws {
            chmod(fixture.folder.path, 0o500)
            defer { chmod(fixture.folder.path, 0o700) }
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            #expect(await reason { try await store.ready() } == .readOnly)
            await store.close()
        }

        @Test("The path of a store is escaped in the name for SQLite")
        func names() {
            #expect(ReadOnlyStore.uri("/var/a b?#%é") == "file:/var/a%20b%3F%23%25%C3%A9?immutable=1")
            #expect(ReadOnlyStore.uri("shop.sqlite") == "file:./shop.sqlite?immutable=1")
        }

        @Test("A file that can be written is no read-only store, nor is one that does not exist")
        func writable() throws {
            #expect(!ReadOnlyStore.isThere(fixture.path))
            fixture.write([], to: "store.sqlite")
            #expect(!ReadOnlyStore.isThere(fixture.path))
        }
    }
#endif
