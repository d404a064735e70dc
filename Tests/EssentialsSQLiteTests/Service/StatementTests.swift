#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// Changes of all rows of a query without their closure, and rows that are put by a unique column.
    @Suite(.timeLimit(.minutes(5)))
    struct StatementTests {
        struct Shelf: PersistentModel, Hashable {
            var id: Int64
            var name: String

            static let table = "shelf"
            static let columns: MappedColumns<Shelf> = ["id": \.id, "name": \.name]
        }

        struct Book: PersistentModel, Hashable {
            var id: Int64
            var title: String
            var count: Int
            var small: Int8 = 0
            var price: Double?
            var shelf: Int64?

            static let table = "book"
            static let columns: MappedColumns<Book> = [
                "id": \.id, "title": \.title, "count": \.count, "small": \.small, "price": \.price, "shelf": \.shelf,
            ]
        }

        private let store: SQLitePersistenceService

        /// A store in which no row can be read: only statements that load no rows succeed.
        private let unread: SQLitePersistenceService
        private let folder: TemporaryFolder

        init() async throws {
            folder = try TemporaryFolder()
            let migration = Migration(
                "1",
                sql: """
                    CREATE TABLE shelf(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
                    CREATE TABLE book(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL UNIQUE, count INTEGER NOT NULL,
                        small INTEGER NOT NULL, price REAL, shelf INTEGER REFERENCES shelf(id) ON DELETE SET NULL) STRICT;
                    """)
            store = SQLitePersistenceService(
                .temporary(models: [Book.self, Shelf.self]), migrations: [migration])
            var settings = SQLiteStore(path: folder.file("unread.sqlite"), models: [Book.self, Shelf.self])
            settings.readTimeLimit = .zero
            unread = SQLitePersistenceService(settings, migrations: [migration])
            for store in [store, unread] { try await Self.fill(store) }
        }

        private static func fill(_ store: SQLitePersistenceService) async throws {
            try await store.importRows(
                of: Shelf.self, from: [Shelf(id: 1, name: "A"), Shelf(id: 2, name: "B")])
            try await store.importRows(
                of: Book.self,
                from: [
                    Book(id: 1, title: "a", count: 1, price: 1.5, shelf: 1),
                    Book(id: 2, title: "b", count: 2, shelf: 1), Book(id: 3, title: "c", count: 3, shelf: 2),
                ])
        }

        private func close() async {
            await store.close()
            await unread.close()
        }

        private static let assignments: [Assignment<Book>] = [
            \.count += 10, \.price += 0.5, .set(\.shelf, to: nil), .set(\.title, to: \.title),
        ]

        @Test("Columns of all rows of a query are assigned new values, whether they are saved or pending")
        func values() async throws {
            for level in [SaveLevel.pending, .store] {
                let edits = try store.child("edit")
                if level == .pending {
                    try await edits.create(Book(id: 4, title: "d", count: 4, price: 4), save: .pending)
                }
                let query = Book.where { $0.count > 1 }.sorted { [$0.count.descending] }.limit(2)
                let count = try await edits.update(query, set: Self.assignments, save: level)
                #expect(count == 2)
                let books = try await edits.fetch(Book.where { $0.count > 10 })
                if level == .pending {
                    #expect(books.map(\.count) == [13, 14] && books.map(\.price) == [nil, 4.5])
                } else {
                    #expect(books.map(\.count) == [12, 13] && books.map(\.price) == [nil, nil])
                    #expect(try await store.fetch(Book.all).map(\.count) == [1, 12, 13])
                }
                #expect(books.allSatisfy { $0.shelf == nil })
                await edits.close()
            }
            await close()
        }

        @Test("Without pending rows, rows are changed and deleted in the store without being loaded")
        func withoutLoading() async throws {
            await #expect(throws: PersistenceFailure(.expired, "", store: unread.name)) {
                try await unread.update(Book.all, save: .store) { $0.count += 1 }
            }
            let changed = try await unread.update(
                Book.where { $0.count < 3 }, set: [\.count += 1], save: .store)
            #expect(changed == 2)
            #expect(try await unread.delete(Book.where { $0.count == 3 }, save: .parent) == 2)
            #expect(try await unread.delete(Book.where { $0.count == 3 }, save: .store) == 0)
            await close()
            #expect(try storedCounts() == [2])
        }

        private func storedCounts() throws -> [Int] {
            try DatabaseQueue(path: folder.file("unread.sqlite")).read {
                try Int.fetchAll($0, sql: "SELECT count FROM book")
            }
        }

        @Test("A value out of range, or a duplicate, fails with the ids of rows, and changes nothing")
        func failures() async throws {
            func reason(_ assignments: [Assignment<Book>]) async -> (PersistenceFailure.Reason?, [StoredValue]) {
                do throws(PersistenceFailure) {
                    try await store.update(Book.where { $0.id >= 2 }, set: assignments, save: .store)
                    return (nil, [])
                } catch {
                    return (error.reason, error.ids)
                }
            }
            #expect(await reason([\.count += .max]) == (.invalidModel, [2]))
            #expect(await reason([\.small += 127, \.small += 1]) == (nil, []))
            #expect(await reason([\.small += 127]) == (.invalidModel, [2]))
            #expect(await reason([.set(\.price, to: .nan)]) == (.invalidModel, [2]))
            #expect(await reason([.set(\.id, to: 7)]) == (.invalidModel, [2]))
            let unique = await reason([.set(\.title, to: "a")])
            #expect(unique.0 == .constraint && !unique.1.isEmpty)
            #expect(await reason([]) == (nil, []))
            #expect(try await store.fetch(Book.all).map(\.count) == [1, 2, 3])
            await close()
        }

        /// The changes that an observer receives, in their order.
        private func changes() throws -> (AsyncStream<PersistenceChange>.AsyncIterator, PersistenceObservation) {
            let (stream, continuation) = AsyncStream<PersistenceChange>.makeStream()
            let observation = try store.observeChanges { continuation.yield($0) }
            return (stream.makeAsyncIterator(), observation)
        }

        @Test(
            "Observers receive the rows that a statement has changed, or any rows if the store has changed others")
        func observers() async throws {
            var (changes, observation) = try changes()
            try await store.update(Book.where { $0.id > 1 }, set: [\.count += 1], save: .store)
            #expect(await changes.next()?.tables == [Book.table: .ids([2, 3])])
            try await store.delete(Book.where { $0.id == 3 }, save: .store)
            #expect(await changes.next()?.tables == [Book.table: .ids([3])])
            // Two books lose their shelf.
            try await store.delete(Shelf.where { $0.id == 1 }, save: .store)
            #expect(await changes.next()?.touches(Book.table) == true)
            #expect(try await store.fetch(Book.all).map(\.shelf) == [nil, nil])
            observation.cancel()
            await close()
        }

        @Test("Rows are put by a unique column: existing rows keep their ids, and others are created")
        func matching() async throws {
            let shelves = [Shelf(id: 10, name: "B"), Shelf(id: 11, name: "C")]
            try await store.put(shelves, matching: { $0.name }, save: .store)
            #expect(try await store.fetch(Shelf.all).map(\.id) == [1, 2, 11])
            let edits = try store.child("edit")
            try await edits.create(Book(id: 9, title: "new", count: 1), save: .pending)
            let books = [Book(id: 20, title: "new", count: 5), Book(id: 21, title: "a", count: 6, shelf: 2)]
            try await edits.put(books, matching: { $0.title }, save: .store)
            #expect(try await store.find(Book.self, id: 9)?.count == 5)
            #expect(try await store.find(Book.self, id: 1) == Book(id: 1, title: "a", count: 6, shelf: 2))
            #expect(try await store.count(Book.all) == 4)
            await #expect(throws: PersistenceFailure.self) {
                try await store.put([shelves[0], shelves[0]], matching: { $0.name }, save: .store)
            }
            await close()
        }

        @Test("Putting by a value that several rows have fails, and after any failure no row of the call is stored")
        func matchingFailures() async throws {
            let twins = [Book(id: 30, title: "x", count: 9), Book(id: 31, title: "y", count: 9)]
            try await store.create(twins, save: .store)
            func reason(_ books: [Book]) async -> PersistenceFailure.Reason? {
                do throws(PersistenceFailure) {
                    try await store.put(books, matching: { $0.count }, save: .store)
                    return nil
                } catch {
                    return error.reason
                }
            }
            #expect(
                await reason([Book(id: 40, title: "new", count: 40), Book(id: 41, title: "z", count: 9)])
                    == .invalidModel)
            // The id of a new row is taken.
            #expect(
                await reason([Book(id: 40, title: "new", count: 40), Book(id: 1, title: "z", count: 41)]) == .constraint
            )
            #expect(try await store.fetch(Book.all).map(\.id) == [1, 2, 3, 30, 31])
            await close()
        }

        @Test("Infinite values of both signs have no sum, whether rows are loaded or not")
        func infiniteSums() async throws {
            try await store.update(Book.self, id: 1, save: .store) { $0.price = -.infinity }
            for level in [SaveLevel.store, .pending] {
                let failure = await #expect(throws: PersistenceFailure.self) {
                    try await store.update(Book.all, set: [\.price += .infinity], save: level)
                }
                #expect(failure?.reason == .invalidModel)
            }
            #expect(try await store.find(Book.self, id: 1)?.price == -.infinity)
            await close()
        }

        @Test("A cancelled statement changes nothing")
        func cancelled() async throws {
            let store = store
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await store.update(Book.all, set: [\.count += 1], save: .store)
            }
            guard case .failure(let error) = await task.result else {
                Issue.record("The call was not cancelled.")
                return
            }
            #expect((error as? PersistenceFailure)?.reason == .cancelled)
            #expect(try await store.fetch(Book.all).map(\.count) == [1, 2, 3])
            await close()
        }
    }
#endif
