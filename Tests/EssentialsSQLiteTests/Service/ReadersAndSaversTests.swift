import TestTools

#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// An amount. Amounts always come in pairs whose sum is 0.
    struct Entry: PersistentModel, Hashable {
        var id: Int64
        var amount: Int

        static let table = "entry"
        static let columns = Columns()
        static let migration = Migration(
            "1 entries", sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY NOT NULL, amount INTEGER NOT NULL) STRICT")

        struct Columns: ModelColumns {
            let id = Column<Entry, Int64>("id")
            let amount = Column<Entry, Int>("amount")
            var all: [ModelColumn<Entry>] { [id.erased, amount.erased] }
        }
    }

    /// Reads during saves: while a row moves from a scope into the file, no read sees it twice or misses it.
    struct ReadersAndSaversTests {
        /// How long readers and savers run: for some rounds, or for the seconds in `ESSENTIALS_STORE_SECONDS`.
        private struct Pace {
            private static let rounds = 60
            private static let seconds = getenv("ESSENTIALS_STORE_SECONDS").flatMap { Int(String(cString: $0)) }

            private let end = seconds.map { ContinuousClock.now + .seconds($0) }

            /// Whether a round with this number follows. The first number is 1.
            func hasRound(_ number: Int) -> Bool { end.map { .now < $0 } ?? (number <= Self.rounds) }
        }

        private func store() async throws -> (TemporaryFolder, SQLitePersistenceService) {
            let folder = try TemporaryFolder()
            let store = SQLitePersistenceService(
                SQLiteStore(path: folder.file("entries.sqlite"), models: [Entry.self]), migrations: [Entry.migration])
            try await store.create((0..<16).map { Entry(id: $0, amount: 0) }, save: .store)
            return (folder, store)
        }

        @Test("No read mixes two states while four scopes save and eight read")
        func pairs() async throws {
            let (folder, store) = try await store()
            let shared = try store.child("shared")
            let pace = Pace()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for saver in 0..<4 {
                    group.addTask {
                        let scope = try shared.child("saver \(saver)")
                        for round in 1... {
                            guard pace.hasRound(round) else { break }
                            let ids = [Int64(saver * 4 + round % 2 * 2), Int64(saver * 4 + round % 2 * 2 + 1)]
                            try await scope.perform(save: .pending) { work in
                                try work.update(Entry.self, id: ids[0]) { $0.amount += round }
                                try work.update(Entry.self, id: ids[1]) { $0.amount -= round }
                            }
                            try await scope.save(round % 3 == 0 ? .store : .parent, resolving: .mine)
                        }
                        try await scope.save(.store, resolving: .mine)
                    }
                }
                for reader in 0..<8 {
                    group.addTask {
                        let scope: any PersistenceService =
                            switch reader % 3 {
                            case 0: store
                            case 1: shared
                            default: try shared.child("reader")
                            }
                        for round in 1... {
                            guard pace.hasRound(round) else { break }
                            let (sum, count) = try await scope.read { work in
                                (try work.sum(Entry.all.values { $0.amount }), try work.count(Entry.all))
                            }
                            #expect(sum == 0 && count == 16)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.sum(Entry.all.values { $0.amount }) == 0)
            #expect(try await shared.validate() == SaveReport())
            await store.close()
            _ = folder
        }

        @Test("A thousand cancelled calls end once each, and the store keeps working")
        func cancelled() async throws {
            let (folder, store) = try await store()
            var numbers = SeededNumbers(state: 7)
            for _ in 0..<1000 {
                let yields = Int.random(in: 0..<20, using: &numbers)
                let level = SaveLevel.allCases.randomElement(using: &numbers) ?? .store
                let task = Task { () -> PersistenceFailure.Reason? in
                    do throws(PersistenceFailure) {
                        try await store.update(Entry.all, save: level) { $0.amount += 1 }
                        return nil
                    } catch {
                        return error.reason
                    }
                }
                for _ in 0..<yields { await Task.yield() }
                task.cancel()
                let reason = await task.value
                #expect(reason == nil || reason == .cancelled)
            }
            try await store.save(.store)
            let amounts = try await store.values(Entry.all.values { $0.amount }.distinct())
            // Each call has changed all rows or none.
            #expect(amounts.count == 1)
            await store.close()
            _ = folder
        }

        @Test("Ten thousand rows of a scope are saved, and a scope beyond its limit fails and keeps its rows")
        func many() async throws {
            let (folder, store) = try await store()
            let scope = try store.child("many")
            try await scope.create((100..<10_100).map { Entry(id: $0, amount: 1) }, save: .pending)
            #expect(try await scope.count(Entry.all) == 10_016)
            #expect(try await scope.save(.store).inserted == 10_000)
            #expect(try await store.count(Entry.all) == 10_016)
            let large = (20_000..<120_001).map { Entry(id: $0, amount: 1) }
            await #expect(throws: PersistenceFailure.self) { try await scope.create(large, save: .pending) }
            #expect(try await scope.count(Entry.all) == 10_016)
            await store.close()
            _ = folder
        }
    }
#endif
