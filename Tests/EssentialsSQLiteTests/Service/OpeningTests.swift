#if Persistence
    import Dispatch
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Stores that are opened in the background, that cannot be opened, and that are closed.
    struct OpeningTests {
        private let fixture: StoreFixture

        init() throws { fixture = try StoreFixture() }

        @Test("Calls made before the store is open wait for it, also on scopes")
        func waiting() async throws {
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            let edits = try store.child("edit")
            try await edits.create(Company(id: 1, name: "Ufa"), save: .store)
            #expect(store.state == .ready)
            #expect(try await store.count(Company.all) == 1)
            await store.close()
            #expect(store.state == .closed)
        }

        @Test("A store that cannot be opened reports why in every call, and can be opened after the cause is removed")
        func failing() async throws {
            fixture.write(Array("no database".utf8) + Array(repeating: 32, count: 600), to: "store.sqlite")
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            let edits = try store.child("edit")
            for service in [store, edits] as [any PersistenceService] {
                do {
                    try await service.ready()
                    Issue.record("The store was opened.")
                } catch {
                    #expect(error.reason == .corrupt)
                    #expect(error.store == fixture.path)
                    #expect(error.legacyCode == 2001)
                }
            }
            fixture.write([], to: "store.sqlite")
            store.reopen()
            try await edits.ready()
            #expect(edits.state == .ready)
            await store.close()
        }

        @Test("A second owner of a store is refused, until the first one is closed")
        func owners() async throws {
            let first = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await first.ready()
            let second = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            await #expect(throws: PersistenceFailure(.busy, "", store: fixture.path)) { try await second.ready() }
            await first.close()
            second.reopen()
            try await second.ready()
            await second.close()
        }

        @Test("A store that is closed while it is being opened has released its file when the call returns")
        func closedEarly() async throws {
            for _ in 0..<20 {
                let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
                async let other: Void = store.close()
                await store.close()
                try fixture.open().close()
                await other
            }
        }

        @Test("A blocking call inside a closure of the store fails as reentrant, on every scope")
        func reentrancy() async throws {
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            let edits = try store.child("edit")
            for outer in [store, edits] as [any PersistenceService] {
                for inner in [store, edits] as [any PersistenceService] {
                    let reason = try await outer.perform(save: .pending) { _ in
                        do throws(PersistenceFailure) {
                            _ = try inner.wait { try $0.count(Company.all) }
                            return "none"
                        } catch {
                            return error.reason.name
                        }
                    }
                    #expect(reason == "reentrant")
                }
            }
            await store.close()
        }

        @Test("A blocking call works on a thread of the program, and a unit of work cannot use its rows after its end")
        func blocking() async throws {
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.ready()
            let count = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    try? store.wait(save: .store) { try $0.create(Company(id: 1, name: "Ufa")) }
                    continuation.resume(returning: try? store.wait { try $0.count(Company.all) })
                }
            }
            #expect(count == 1)
            await store.close()
        }

        @Test("A long query ends when its task is cancelled")
        func cancelling() async throws {
            var description = fixture.store
            description.readTimeLimit = .seconds(3600)
            let store = SQLitePersistenceService(description, migrations: [StoreFixture.first])
            try await store.create((1...2000).map { Company(id: $0, name: "\($0)") }, save: .store)
            let endless = Company.where { _ in
                .sql("(SELECT count(*) FROM company a, company b, company c, company d WHERE a.id + b.id > c.id) > 0")
            }
            let task = Task { () -> PersistenceFailure? in
                do throws(PersistenceFailure) {
                    _ = try await store.count(endless)
                    return nil
                } catch {
                    return error
                }
            }
            for _ in 0..<100 { await Task.yield() }
            task.cancel()
            #expect(await task.value?.reason == .cancelled)
            #expect(try await store.count(Company.all) == 2000)
            await store.close()
        }
    }
#endif
