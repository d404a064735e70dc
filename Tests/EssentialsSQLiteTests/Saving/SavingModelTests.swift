#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Compares scopes over a real file with dictionaries, over random sequences of changes, saves and commits of
    /// others.
    @Suite struct SavingModelTests {
        private static let sequences: UInt64 = 300

        /// - Parameter first: The seed of the first sequence. A failure names its own seed, which can be added here.
        @Test(
            "Random sequences in scopes save the same rows as dictionaries, with every policy",
            .timeLimit(.minutes(5)), arguments: [UInt64.random(in: .min ... .max)])
        func sequences(first: UInt64) async throws {
            print("seeds of the sequences of saves: \(Self.sequences) from \(first)")
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.ready()
            var seen: [String: Int] = [:]
            for number in 0..<Self.sequences {
                var world = SavingWorld(store, seed: first &+ number)
                try await world.run()
                seen.merge(world.seen) { $0 + $1 }
            }
            print("saves: \(seen)")
            for outcome in ["done", "conflict", "constraint"] { #expect(seen[outcome, default: 0] > 5) }
            await store.close()
        }

        @Test("A row that violates a constraint does not affect the next rows of its save")
        func unblamed() async throws {
            let store = SQLitePersistenceService(.temporary(models: [Note.self]), migrations: [Note.migration])
            try await store.importRows(of: Note.self, from: (10..<20).map { Note(id: $0, year: 1) })
            let edits = try store.child("edit")
            try await edits.create((1..<9).map { Note(id: $0, year: $0 % 3 == 0 ? 99 : 1) }, save: .pending)
            try await edits.update(Note.where { $0.id >= 10 }, save: .pending) { $0.year = $0.id == 11 ? 99 : 2 }
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(failure?.violations.map(\.name) == ["early"])
            #expect(Set(failure?.ids ?? []) == [3, 6, 11])
            await store.close()
        }
    }
#endif
