import TestTools

#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// The growth of a call's time with its rows, and with the rows that are already pending.
    struct WorkGrowthTests {
        private func notes(_ count: Int, from first: Int64 = 0) -> [Note] {
            (0..<Int64(count)).map { Note(id: first + $0, title: "a", year: 1) }
        }

        private func onThread(_ body: @escaping @Sendable () throws -> Bool) async throws -> Bool {
            try await ChildProcess.onThread(body)
        }

        private func store() async throws -> SQLitePersistenceService {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.ready()
            return store
        }

        @Test("The time of a unit of work grows linearly with the rows that it creates and reads one by one")
        func creating() async throws {
            let store = try await store()
            let isLinear = try await onThread {
                try GrowthOfTime.isLinear(from: 400) { size in
                    let edits = try store.child("edit")
                    return {
                        try edits.wait(
                            for: .perform(save: .pending) { work in
                                for note in notes(size) {
                                    try work.create(note)
                                    _ = try work.exists(Note.where { $0.id == note.id })
                                }
                            })
                    }
                }
            }
            #expect(isLinear)
            await store.close()
        }

        @Test("The time of a unit of work grows linearly with the rows that it changes and deletes one by one")
        func changing() async throws {
            let store = try await store()
            try await store.create(notes(4_000), save: .store)
            let isLinear = try await onThread {
                try GrowthOfTime.isLinear(from: 400) { size in
                    let edits = try store.child("edit")
                    return {
                        try edits.wait(
                            for: .perform(save: .pending) { work in
                                for id in 0..<Int64(size) {
                                    try work.update(Note.self, id: id) { $0.year = 2 }
                                    if id % 2 == 0 { try work.delete(Note.self, ids: [id]) }
                                }
                            })
                    }
                }
            }
            #expect(isLinear)
            await store.close()
        }

        @Test("A save of one row to the scope above takes no longer if many rows are pending there")
        func savingUp() async throws {
            let store = try await store()
            let isConstant = try await onThread {
                try GrowthOfTime.isConstant(from: 2_000) { size in
                    let edits = try store.child("edit")
                    try edits.wait(save: .pending) { try $0.create(notes(size)) }
                    let inner = try edits.child("inner")
                    // The first call copies the pending rows to a connection.
                    try inner.wait(save: .parent) { try $0.create(Note(id: -100, title: "a", year: 1)) }
                    return {
                        for id in 0..<Int64(20) {
                            try inner.wait(save: .parent) { try $0.create(Note(id: -1 - id, title: "a", year: 1)) }
                        }
                    }
                }
            }
            #expect(isConstant)
            await store.close()
        }
    }
#endif
