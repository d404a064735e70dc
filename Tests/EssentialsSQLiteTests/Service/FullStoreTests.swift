#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// Stores without space.
    struct FullStoreTests {
        private func notes(_ ids: Range<Int64>) -> [Note] {
            ids.map { Note(id: $0, title: String(repeating: "x", count: 2_000), year: 1) }
        }

        private func limit(_ store: SQLitePersistenceService, morePages: Int) throws {
            try store.core.openStore().database.write { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages + morePages)")
            }
        }

        private func reason(_ body: () async throws -> Void) async -> PersistenceFailure.Reason? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? PersistenceFailure)?.reason
            }
        }

        @Test("A save without space fails as full, leaves all scopes unchanged, and works when there is space")
        func full() async throws {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.create(notes(0..<10), save: .store)
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            try await edits.update(Note.self, id: 0, save: .pending) { $0.year = 2 }
            try await inner.create(notes(10..<100), save: .pending)
            try limit(store, morePages: 3)
            for _ in 0..<2 {
                #expect(await reason { try await inner.save(.store) } == .full)
                #expect(await reason { try await inner.validate() } == .full)
                #expect(await reason { try await store.create(notes(200..<300), save: .store) } == .full)
                #expect(await reason { try await store.importRows(of: Note.self, from: notes(300..<400)) } == .full)
            }
            #expect(try await inner.count(Note.all) == 100)
            #expect(try await edits.find(Note.self, id: 0)?.year == 2)
            #expect(try await store.count(Note.all) == 10)
            #expect(try await store.find(Note.self, id: 0)?.year == 1)
            // Changes that need no space can still be saved.
            try await store.update(Note.self, id: 1, save: .store) { $0.year = 3 }
            try limit(store, morePages: 1_000)
            #expect(try await inner.save(.store) == SaveReport(inserted: 90, updated: 1))
            #expect(try await store.count(Note.all) == 100)
            await store.close()
        }
    }
#endif
