#if Persistence
    import EssentialsPersistence
    import EssentialsTools
    import GRDB
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// Writes of other processes.
    @Suite(.timeLimit(.minutes(5)))
    struct OtherWritesTests {
        static let tool = "/usr/bin/sqlite3"

        private let fixture: StoreFixture
        private let store: SQLitePersistenceService

        init() async throws {
            fixture = try StoreFixture()
            var description = fixture.store
            description.watchesOthers = .milliseconds(10)
            store = SQLitePersistenceService(description, migrations: [StoreFixture.first])
            try await store.ready()
        }

        private func insert(_ id: Int) throws {
            let other = try DatabaseQueue(path: fixture.path)
            try other.write { try $0.execute(sql: "INSERT INTO company VALUES (?, ?)", arguments: [id, "\(id)"]) }
            try other.close()
        }

        @Test("A write through a foreign connection is observed, in every scope")
        func connections() async throws {
            let edits = try store.child("edit")
            var states = store.observe(Company.all).makeAsyncIterator()
            var scoped = edits.observe(Company.all).makeAsyncIterator()
            var changes = edits.changes(in: Company.self).makeAsyncIterator()
            #expect(try await states.next() == [])
            #expect(try await scoped.next() == [])
            try insert(1)
            #expect(try await states.next()?.map(\.id) == [1])
            #expect(try await scoped.next()?.map(\.id) == [1])
            #expect(try await changes.next() == .unknown)
            await store.close()
        }

        @Test(
            "A write of another process is observed",
            .enabled(if: access(OtherWritesTests.tool, X_OK) == 0, "The program sqlite3 is not installed."))
        func processes() async throws {
            var states = store.observe(Company.all).makeAsyncIterator()
            #expect(try await states.next() == [])
            var child: pid_t = 0
            let arguments = [Self.tool, fixture.path, "INSERT INTO company VALUES (7, 'Ufa')"]
            var pointers = arguments.map { strdup($0) } + [nil]
            defer { for pointer in pointers { free(pointer) } }
            #expect(posix_spawn(&child, Self.tool, nil, nil, &pointers, nil) == 0)
            #expect(try await states.next()?.map(\.id) == [7])
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child && status == 0)
            await store.close()
        }

        @Test("A write between the opening and the first observer is not missed")
        func early() async throws {
            try insert(1)
            // Seeing it once more than needed is better than not seeing it.
            let (stream, continuation) = AsyncStream<PersistenceChange>.makeStream()
            let observation = try store.observeChanges { continuation.yield($0) }
            for await change in stream {
                #expect(change == .unknown)
                break
            }
            observation.cancel()
            await store.close()
        }

        @Test("Saves of the store itself do not count as writes of others")
        func ownWrites() async throws {
            let watch = try #require(store.core.otherWrites)
            let (stream, continuation) = AsyncStream<PersistenceChange>.makeStream()
            let observation = try store.observeChanges { continuation.yield($0) }
            try await store.create(Company(id: 1, name: "1"), save: .store)
            let edits = try store.child("edit")
            try await edits.create(Company(id: 2, name: "2"), save: .pending)
            #expect(try await edits.count(Company.all) == 2)
            let looks = watch.looks
            // The checks after the save have found nothing.
            while watch.looks < looks + 3 { await Task.yield() }
            try insert(3)
            var seen: [PersistenceChange] = []
            for await change in stream {
                seen.append(change)
                if change == .unknown { break }
            }
            #expect(seen == [PersistenceChange(["company": .ids([1])]), .unknown])
            observation.cancel()
            await store.close()
        }

        @Test("Without observers there are no checks")
        func rest() async throws {
            let watch = try #require(store.core.otherWrites)
            #expect(watch.looks == 0)
            let observation = try store.observeChanges { _ in }
            while watch.looks < 2 { await Task.yield() }
            observation.cancel()
            observation.cancel()
            // A check that has begun may finish.
            try await Task.sleep(for: .milliseconds(50))
            let looks = watch.looks
            try await Task.sleep(for: .milliseconds(100))
            #expect(watch.looks == looks)
            let again = try store.observeChanges { _ in }
            while watch.looks < looks + 2 { await Task.yield() }
            again.cancel()
            await store.close()
        }

        @Test("Without the setting, a store never checks for writes of others")
        func unwatched() async throws {
            await store.close()
            let plain = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            #expect(plain.core.otherWrites == nil)
            await plain.close()
        }
    }
#endif
