#if Persistence
    import Dispatch
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Transformations, deletions and replacements over stored and pending rows.
    struct ChangingTests {
        private struct Refusal: Error {}

        private let store: SQLitePersistenceService
        private let edits: any PersistenceService

        /// The rows 1 to 6. A scope has pending rows 5 and 6 and a pending change of row 1.
        init() async throws {
            store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.create((1...4).map { Note(id: $0, title: "\($0)", year: Int($0)) }, save: .store)
            edits = try store.child("edit")
            try await edits.create(
                [Note(id: 5, title: nil, year: 0), Note(id: 6, title: nil, year: 60)], save: .pending)
            try await edits.update(Note.self, id: 1, save: .pending) { $0.year = 50 }
        }

        private func failure(_ body: () async throws -> Void) async -> PersistenceFailure? {
            do {
                try await body()
                return nil
            } catch {
                return error as? PersistenceFailure
            }
        }

        @Test("A transformation that throws fails as work with its error, and returns nothing")
        func transformations() async throws {
            #expect(try await edits.fetch(Note.where { $0.year > 40 }) { $0.id } == [1, 6])
            let found = await failure {
                _ = try await edits.fetch(Note.all) { note throws -> Int64 in
                    if note.id == 4 { throw Refusal() }
                    return note.id
                }
            }
            #expect(found?.reason == .work && found?.legacyCode == 2000)
            #expect(found?.underlying is Refusal)
            let result = await withCheckedContinuation { continuation in
                edits.start(completionQueue: .global()) { work in
                    try work.fetch(Note.all).map { (_: Note) throws -> Int64 in throw Refusal() }
                } completion: {
                    continuation.resume(returning: $0)
                }
            }
            #expect(throws: PersistenceFailure.self) { try result.get() }
            await store.close()
        }

        @Test("A deletion by query follows the order, the limit and the offset of the query")
        func deletions() async throws {
            let latest = Note.all.sorted { [$0.year.descending] }
            #expect(try await edits.delete(latest.limit(2), save: .pending) == 2)
            #expect(try await edits.ids(Note.all) == [2, 3, 4, 5])
            #expect(try await edits.delete(latest.limit(1).offset(1), save: .pending) == 1)
            #expect(try await edits.ids(Note.all) == [2, 4, 5])
            #expect(try await edits.delete(Note.where { $0.year > 80 }, save: .pending) == 0)
            #expect(try await edits.save(.store) == SaveReport(inserted: 1, deleted: 2))
            #expect(try await store.delete(latest.limit(1), save: .store) == 1)
            #expect(try await store.ids(Note.all) == [2, 5])
            await store.close()
        }

        @Test("A deletion by ids names every missing id, including pending deletions, and deletes nothing")
        func missing() async throws {
            try await edits.delete(Note.self, ids: [2], save: .pending)
            let found = await failure { try await edits.delete(Note.self, ids: [9, 1, 2, 5, 8], save: .pending) }
            #expect(found?.reason == .notFound)
            #expect(found?.model == "note")
            #expect(found?.ids == [9, 2, 8])
            #expect(try await edits.ids(Note.all) == [1, 3, 4, 5, 6])
            let count = try await edits.delete(Note.self, ids: [9, 1, 2, 5, 8], missing: .ignore, save: .pending)
            #expect(count == 2)
            #expect(try await edits.ids(Note.all) == [3, 4, 6])
            await store.close()
        }

        @Test("A put replaces and creates all of its rows or none, whether a value or the save fails")
        func put() async throws {
            let before = try await edits.fetch(Note.all)
            let twice = [Note(id: 1, title: "new", year: 7), Note(id: 7, year: 7), Note(id: 7, year: 8)]
            #expect(await failure { try await edits.put(twice, save: .pending) }?.reason == .invalidModel)
            let late = [Note(id: 1, title: "new", year: 7), Note(id: 7, year: 7), Note(id: 8, year: 99)]
            let found = await failure { try await edits.put(late, save: .store) }
            #expect(found?.reason == .constraint)
            #expect(found?.ids == [8])
            #expect(try await edits.fetch(Note.all) == before)
            #expect(try await store.ids(Note.all) == [1, 2, 3, 4])
            try await edits.put(Array(late.dropLast()), save: .store)
            #expect(try await store.fetch(Note.where { $0.year == 7 }) == Array(late.dropLast()))
            await store.close()
        }

        @Test("A put is compared with the row at the time of the call, so a later change by others is a conflict")
        func basis() async throws {
            try await edits.put(Note(id: 2, title: "put", year: 2), save: .pending)
            try await store.update(Note.self, id: 2, save: .store) { $0.year = 3 }
            let found = await failure { try await edits.save(.store) }
            #expect(found?.reason == .conflict)
            #expect(try found?.conflicts.first?.models(of: Note.self).base == Note(id: 2, title: "2", year: 2))
            await store.close()
        }
    }
#endif
