#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// The time limit of reads.
    @Suite(.timeLimit(.minutes(5)))
    struct ReadLimitTests {
        /// A query whose only row takes forever.
        private static let endless = Note.where { _ in
            .sql("(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) > 0")
        }

        private func open(_ limit: Duration) async throws -> SQLitePersistenceService {
            var description = SQLiteStore.temporary(models: [Note.self])
            description.readTimeLimit = limit
            let store = SQLitePersistenceService(description, migrations: [Note.migration])
            try await store.importRows(of: Note.self, from: [Note(id: 1, year: 1)])
            return store
        }

        private func reason(_ body: () async throws -> Void) async -> PersistenceFailure.Reason? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? PersistenceFailure)?.reason
            }
        }

        @Test("A statement that exceeds the time limit of reads is interrupted, over the file and over pending rows")
        func running() async throws {
            let store = try await open(.milliseconds(500))
            let edits = try store.child("edit")
            #expect(await reason { _ = try await store.count(Self.endless) } == .expired)
            try await edits.create(Note(id: 2, year: 2), save: .pending)
            #expect(await reason { _ = try await edits.fetch(Self.endless) } == .expired)
            let unit = await reason {
                try await edits.perform(save: .store) { work in
                    try work.create(Note(id: 3, year: 3))
                    _ = try work.fetch(Self.endless)
                }
            }
            #expect(unit == .expired)
            let batches = await reason {
                for try await _ in store.batches(of: Self.endless, state: .oneState) {}
            }
            #expect(batches == .expired)
            // No row is lost, and each connection keeps working.
            #expect(try await edits.fetch(Note.all).map(\.id) == [1, 2])
            #expect(try await edits.save(.store).inserted == 1)
            for _ in 0..<8 { #expect(try await store.count(Note.all) == 2) }
            await store.close()
        }

        @Test("A closure that holds its state longer than the time limit fails at its next query")
        func closures() async throws {
            let store = try await open(.milliseconds(500))
            let reason = await reason {
                try await store.read { work in
                    _ = try work.count(Note.all)
                    let end = ContinuousClock.now + .milliseconds(500)
                    while .now < end {}
                    _ = try work.count(Note.all)
                }
            }
            #expect(reason == .expired)
            #expect(try await store.count(Note.all) == 1)
            await store.close()
        }

        @Test("Writes are not limited")
        func writes() async throws {
            let store = try await open(.zero)
            #expect(await reason { _ = try await store.count(Note.all) } == .expired)
            let report = try await store.importRows(of: Note.self, from: (2..<5_000).map { Note(id: $0, year: 1) })
            #expect(report.inserted == 4_998)
            #expect(try await store.reserveIDs(for: Note.self, count: 1) == 5_000..<5_001)
            let ids = try await store.perform(save: .store) { try $0.reserveIDs(for: Note.self, count: 1) }
            #expect(ids == 5_001..<5_002)
            await store.close()
        }
    }
#endif
