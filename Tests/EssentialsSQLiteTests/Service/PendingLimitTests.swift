#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// The limits of pending rows, which do not apply to calls that save to the store at once.
    struct PendingLimitTests {
        private func open(rows: Int = 100_000, bytes: Int = 64 << 20) async throws -> SQLitePersistenceService {
            var store = SQLiteStore.temporary(models: [Note.self])
            (store.maximumPendingRows, store.maximumPendingBytes) = (rows, bytes)
            let service = SQLitePersistenceService(store, migrations: [Note.migration])
            try await service.ready()
            return service
        }

        private func notes(_ ids: Range<Int64>) -> [Note] { ids.map { Note(id: $0, title: "a", year: 1) } }

        private func expectLimit(
            _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
        ) async {
            do {
                try await body()
                Issue.record("The call has no error: \(comment.rawValue)", sourceLocation: sourceLocation)
            } catch {
                let failure = error as? PersistenceFailure
                #expect(failure?.reason == .limit, comment, sourceLocation: sourceLocation)
                #expect(failure?.remedy?.contains("limits of pending rows") == true, sourceLocation: sourceLocation)
            }
        }

        @Test("A scope can have as many pending rows as its store's setting allows, in each form of a change")
        func rows() async throws {
            let store = try await open(rows: 10)
            try await store.create(notes(0..<20), save: .store)
            let edits = try store.child("edit")
            try await edits.create(notes(100..<108), save: .pending)
            await expectLimit("create") { try await edits.create(notes(200..<203), save: .pending) }
            await expectLimit("update") { try await edits.update(Note.all, save: .pending) { $0.year = 2 } }
            await expectLimit("delete") { try await edits.delete(Note.all, save: .pending) }
            await expectLimit("unit of work") {
                try await edits.perform(save: .pending) { work in
                    for note in notes(200..<203) { try work.create(note) }
                }
            }
            let inner = try edits.child("inner")
            try await inner.create(notes(300..<303), save: .pending)
            await expectLimit("save") { try await inner.save(.parent) }
            await expectLimit("create in the scope above") { try await inner.create(notes(400..<401), save: .parent) }
            #expect(try await edits.count(Note.all) == 28)
            #expect(try await inner.count(Note.all) == 31)
            // Saves to the store have no limit.
            try await inner.create(notes(500..<520), save: .store)
            #expect(try await store.count(Note.all) == 51)
            await store.close()
        }

        @Test("Pending rows can have as many bytes as the setting allows, and rows saved at once have any size")
        func bytes() async throws {
            let store = try await open(bytes: 1 << 20)
            let text = String(repeating: "x", count: 800_000)
            try await store.create(Note(id: 1, title: text + text, year: 1), save: .store)
            let edits = try store.child("edit")
            await expectLimit("update") { try await edits.update(Note.self, id: 1, save: .pending) { $0.year = 2 } }
            try await edits.update(Note.self, id: 1, save: .store) { $0.year = 3 }
            try await edits.perform(save: .store) { work in try work.update(Note.self, id: 1) { $0.year = 4 } }
            #expect(try await store.find(Note.self, id: 1)?.year == 4)
            await store.close()
        }

        @Test("A change of more rows than may be pending is saved at once in one transaction")
        func direct() async throws {
            let store = try await open(rows: 100)
            try await store.create(notes(0..<5_000), save: .store)
            try await store.update(Note.all, save: .store) { $0.year = 2 }
            #expect(try await store.count(Note.where { $0.year == 2 }) == 5_000)
            // The root scope has no parent, so its rows are saved to the store.
            try await store.update(Note.all, save: .parent) { $0.year = 3 }
            let failure = await #expect(throws: PersistenceFailure.self) {
                try await store.update(Note.all, save: .store) { $0.year = $0.id == 4_999 ? 99 : 4 }
            }
            #expect(failure?.reason == .constraint)
            #expect(try await store.count(Note.where { $0.year == 3 }) == 5_000)
            #expect(try await store.delete(Note.all, save: .store) == 5_000)
            #expect(try await store.count(Note.all) == 0)
            await store.close()
        }

        #if !ESSENTIALS_THREAD_SANITIZER
            @Test("120,000 rows are deleted at once, by one statement and beside a pending row")
            func many() async throws {
                let filling = Migration(
                    "2 rows",
                    sql: """
                        INSERT INTO note(id, year) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 120000)
                        SELECT i, 1 FROM n
                        """)
                for isPending in [false, true] {
                    let store = SQLitePersistenceService(
                        .temporary(models: [Note.self]), migrations: [Note.migration, filling])
                    if isPending { try await store.create(Note(id: 200_000, year: 1), save: .pending) }
                    #expect(try await store.delete(Note.all, save: .store) == (isPending ? 120_001 : 120_000))
                    #expect(try await store.count(Note.all) == 0)
                    await store.close()
                }
            }

            @Test("A row with 70 MiB in one column is changed in another one")
            func wide() async throws {
                let filling = Migration(
                    "2 rows", sql: "INSERT INTO note(id, title, year) VALUES (1, hex(zeroblob(35 << 20)), 1)")
                let store = SQLitePersistenceService(
                    .temporary(models: [Note.self]), migrations: [Note.migration, filling])
                try await store.update(Note.self, id: 1, save: .store) { $0.year = 2 }
                #expect(try await store.values(Note.all.values { $0.year }) == [2])
                await store.close()
            }
        #endif
    }
#endif
