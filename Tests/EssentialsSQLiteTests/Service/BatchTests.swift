import TestTools

#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// Batches of a query over a real file.
    struct BatchTests {
        /// One state that does not expire even on a busy machine.
        private static let long = BatchState.oneState(for: .seconds(3600))

        private let folder: TemporaryFolder
        private let store: SQLitePersistenceService

        init() throws {
            folder = try TemporaryFolder()
            var description = SQLiteStore(path: folder.file("samples.sqlite"), models: [Sample.self])
            description.readTimeLimit = .seconds(3600)
            store = SQLitePersistenceService(
                description, migrations: [Migration("1 samples", sql: Sample.schema)])
        }

        private func samples(_ ids: Range<Int64>, _ numbers: inout SeededNumbers) -> [Sample] {
            ids.map { Sample.random(id: $0, &numbers) }
        }

        private func reason(_ body: () async throws -> Void) async -> PersistenceFailure.Reason? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? PersistenceFailure)?.reason
            }
        }

        @Test(
            "The batches of a query have its rows in order, with any sorting, offset or pending rows",
            arguments: [UInt64.random(in: 0 ... .max), 1, 2])
        func pages(seed: UInt64) async throws {
            var numbers = SeededNumbers(state: seed)
            try await store.create(samples(0..<60, &numbers), save: .store)
            let edits = try store.child("edit")
            try await edits.create(samples(60..<75, &numbers), save: .pending)
            try await edits.put(samples(10..<20, &numbers), save: .pending)
            try await edits.delete(Sample.self, ids: [3, 4, 5, 62], save: .pending)
            var random = RandomQuery(numbers: numbers)
            var count = 0
            for _ in 0..<50 {
                let query = random.query(depth: 2)
                let size = Int.random(in: 1...12, using: &random.numbers)
                let state = Bool.random(using: &random.numbers) ? BatchState.newest : Self.long
                let scope: any PersistenceService = Bool.random(using: &random.numbers) ? edits : store
                let expected = try await scope.fetch(query)
                var found: [Sample] = []
                for try await batch in scope.batches(of: query, size: size, state: state) {
                    try #require(!batch.isEmpty && batch.count <= size)
                    found += batch
                }
                try #require(found == expected, "seed \(seed), size \(size), \(query.node)")
                count += found.count
            }
            #expect(count > 100)
            await store.close()
        }

        @Test("Batches of the newest state see saves between them, and those of one state do not")
        func states() async throws {
            var numbers = SeededNumbers(state: 1)
            try await store.create(samples(0..<4, &numbers), save: .store)
            for state in [BatchState.newest, Self.long] {
                var batches = store.batches(of: Sample.all, size: 2, state: state).makeAsyncIterator()
                #expect(try await batches.next()?.map(\.id) == [0, 1])
                try await store.delete(Sample.self, ids: [2], save: .store)
                try await store.create(samples(9..<10, &numbers), save: .store)
                #expect(try await batches.next()?.map(\.id) == (state == .newest ? [3, 9] : [2, 3]))
                #expect(try await batches.next() == nil)
                #expect(try await batches.next() == nil)
                try await store.delete(Sample.self, ids: [9], save: .store)
                try await store.create(samples(2..<3, &numbers), save: .store)
            }
            await store.close()
        }

        /// Whether a reader keeps a part of the log from being copied into the file and overwritten.
        private func isLogHeld() throws -> Bool {
            let other = try DatabaseQueue(path: folder.file("samples.sqlite"))
            defer { try? other.close() }
            return other.writeWithoutTransaction { db in (try? db.checkpoint(.restart)) == nil }
        }

        @Test("Between batches of the newest state the whole log can be copied, but not between those of one state")
        func log() async throws {
            var numbers = SeededNumbers(state: 1)
            try await store.create(samples(0..<4, &numbers), save: .store)
            for state in [BatchState.newest, Self.long] {
                var batches = store.batches(of: Sample.all, size: 2, state: state).makeAsyncIterator()
                #expect(try await batches.next()?.count == 2)
                try await store.update(Sample.self, id: 0, save: .store) { $0.text += "x" }
                let isHeld = try isLogHeld()
                #expect(isHeld == (state == Self.long))
            }
            // The iterator of the loop is released, and its state with it.
            while try isLogHeld() { await Task.yield() }
            await store.close()
        }

        @Test("One state that is read too slowly expires", .timeLimit(.minutes(5)))
        func expired() async throws {
            var numbers = SeededNumbers(state: 1)
            try await store.create(samples(0..<4, &numbers), save: .store)
            let limit = Duration.seconds(1)
            var batches = store.batches(of: Sample.all, size: 1, state: .oneState(for: limit)).makeAsyncIterator()
            #expect(try await batches.next()?.count == 1)
            let end = ContinuousClock.now + limit
            while .now < end { await Task.yield() }
            #expect(await reason { _ = try await batches.next() } == .expired)
            #expect(try await batches.next() == nil)
            await store.close()
        }

        @Test(
            "Iterators of one state do not block other reads, and an iterator beyond the limit fails at once",
            .timeLimit(.minutes(5)), arguments: [false, true])
        func manyStates(isPending: Bool) async throws {
            var description = SQLiteStore(path: folder.file("many.sqlite"), models: [Sample.self])
            (description.readers, description.pendingReaders, description.stateReaders) = (1, 1, 12)
            description.readTimeLimit = .seconds(3600)
            let store = SQLitePersistenceService(description, migrations: [Migration("1 samples", sql: Sample.schema)])
            var numbers = SeededNumbers(state: 1)
            try await store.create(samples(0..<4, &numbers), save: .store)
            if isPending { try await store.create(samples(4..<8, &numbers), save: .pending) }
            let count = isPending ? 8 : 4
            var iterators: [QueryBatches<Sample>.AsyncIterator] = []
            for _ in 0..<12 {
                var iterator = store.batches(of: Sample.all, size: 2, state: Self.long).makeAsyncIterator()
                #expect(try await iterator.next()?.map(\.id) == [0, 1])
                iterators.append(iterator)
            }
            #expect(try await store.fetch(Sample.all).count == count)
            #expect(try await store.child("scope").count(Sample.all) == count)
            var further = store.batches(of: Sample.all, size: 2, state: Self.long).makeAsyncIterator()
            do throws(PersistenceFailure) {
                _ = try await further.next()
                Issue.record("The iterator holds a state.")
            } catch {
                #expect(error.reason == .busy && error.message.contains("12 iterators"))
            }
            // Each continues in its state.
            try await store.delete(Sample.where { $0.id == 2 }, save: .store)
            for index in iterators.indices { #expect(try await iterators[index].next()?.map(\.id) == [2, 3]) }
            iterators.removeAll()
            var reason: PersistenceFailure.Reason?
            repeat {
                var next = store.batches(of: Sample.all, size: 9, state: Self.long).makeAsyncIterator()
                do throws(PersistenceFailure) {
                    #expect(try await next.next()?.count == count - 1)
                    reason = nil
                } catch {
                    reason = error.reason
                }
            } while reason == .busy
            #expect(reason == nil)
            await store.close()
        }

        @Test("A batch is also available in a unit of work, and continues after a position")
        func calls() async throws {
            var numbers = SeededNumbers(state: 1)
            try await store.create(samples(0..<7, &numbers), save: .store)
            let query = Sample.all.sorted { [$0.number.descending] }.offset(1)
            var found: [Sample] = []
            var position: BatchPosition<Sample>?
            var count = 0
            repeat {
                let store = store
                let batch = try await withCheckedContinuation { [position] continuation in
                    store.start {
                        try $0.batch(of: query, size: 3, after: position)
                    } completion: {
                        continuation.resume(returning: $0)
                    }
                }.get()
                found += batch.models
                position = batch.position
                count += 1
            } while position != nil
            #expect(try await store.fetch(query) == found)
            #expect(found.count == 6 && count == 3)
            let end = try await store.read { try $0.batch(of: query.limit(3), size: 3) }
            #expect(end.models.count == 3 && end.position == nil)
            await store.close()
        }

        @Test("Batches fail once for an invalid query, a cancelled task and a closed scope, and then end")
        func failures() async throws {
            var numbers = SeededNumbers(state: 1)
            try await store.create(samples(0..<4, &numbers), save: .store)
            let store = store
            for state in [BatchState.newest, Self.long] {
                for query in [Sample.all.limit(-1), Sample.all.offset(-1)] {
                    #expect(
                        await reason { for try await _ in store.batches(of: query, state: state) {} } == .invalidQuery)
                }
                #expect(
                    await reason { for try await _ in store.batches(of: Sample.all, size: 0, state: state) {} }
                        == .invalidQuery)
                let reason = await Task {
                    await self.reason {
                        for try await _ in store.batches(of: Sample.all, size: 1, state: state) {
                            withUnsafeCurrentTask { $0?.cancel() }
                        }
                    }
                }.value
                #expect(reason == .cancelled)
            }
            let scope = try store.child("scope")
            var batches = scope.batches(of: Sample.all, size: 1).makeAsyncIterator()
            #expect(try await batches.next()?.count == 1)
            await scope.close()
            #expect(await self.reason { _ = try await batches.next() } == .closed)
            #expect(try await batches.next() == nil)
            await store.close()
        }
    }
#endif
