#if Persistence
    import Glibc
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Reads by id of rows that are pending.
    @Suite(.timeLimit(.minutes(5)))
    struct ScopeLookupTests {
        private let scopes: NestedScopes
        private var store: SQLitePersistenceService { scopes.store }
        private var edits: any PersistenceService { scopes.edits }
        private var inner: any PersistenceService { scopes.inner }

        init() async throws { scopes = try await NestedScopes() }

        private func isAtHand(_ ids: [Int64], in scope: any PersistenceService) -> Bool {
            scope.rowsAtHand(of: Company.table, ids: ids.map { .integer($0) }) != nil
        }

        @Test("A pending row is at hand in its scope and the scopes within it, and a stored row is not")
        func levels() async throws {
            try await edits.update(Company.self, id: 1, save: .pending) { $0.name = "one" }
            try await inner.delete(Company.self, ids: [2], save: .pending)
            #expect(isAtHand([1], in: edits) && isAtHand([1], in: inner) && !isAtHand([1], in: store))
            #expect(isAtHand([2], in: inner) && !isAtHand([2], in: edits))
            #expect(isAtHand([1, 2, 1], in: inner) && !isAtHand([1, 3], in: inner))
            #expect(try await inner.find(Company.self, id: 1)?.name == "one")
            #expect(try await inner.find(Company.self, id: 2) == nil)
            #expect(try await inner.fetch(Company.self, ids: [1, 2, 1], missing: .ignore).map(\.id) == [1, 1])
            #expect(try await inner.fetch(Company.self, ids: [3, 1]).map(\.name) == ["C3", "one"])
            do throws(PersistenceFailure) {
                _ = try await inner.fetch(Company.self, ids: [1, 2])
                Issue.record("A deleted row was found.")
            } catch {
                #expect(error.reason == .notFound && error.ids == [2])
            }
        }

        @Test("Async and blocking calls read a pending row on the caller's thread, but not a stored row")
        func threads() async throws {
            try await edits.create(Company(id: 9, name: "9"), save: .pending)
            let call = threadCall(9)
            let (thread, isSame) = try await edits.result(of: call)
            #expect(isSame && thread == pthread_self())
            #expect(try wait(for: call).isSame)
            #expect(try await !edits.result(of: threadCall(1)).isSame)
        }

        /// Finds a row, and returns the thread and whether a task of the caller is running on it.
        private func threadCall(_ id: Int64) -> PersistenceCall<(thread: pthread_t, isSame: Bool)> {
            .looking(up: [id], of: Company.self) { work in
                let company = try work.find(Company.self, id: id)
                #expect(company?.id == id)
                return (pthread_self(), withUnsafeCurrentTask { $0 != nil })
            }
        }

        private func wait<Value>(for call: PersistenceCall<Value>) throws(PersistenceFailure) -> Value {
            try edits.wait(for: call)
        }

        @Test("A read of a pending row sees the calls before it, through every save and rollback")
        func order() async throws {
            for round in 0..<200 {
                let name = "round \(round)"
                try await inner.update(Company.self, id: 1, save: .pending) { $0.name = name }
                #expect(try await inner.find(Company.self, id: 1)?.name == name)
                switch round % 4 {
                case 0: try await inner.save(.parent)
                case 1: try await inner.save(.store)
                case 2: try await inner.rollback()
                default: try await inner.discard(Company.self, ids: [1])
                }
                let found = try await inner.find(Company.self, id: 1)?.name
                #expect(round % 4 > 1 ? found != name : found == name)
            }
        }

        @Test("Rows that move to the parent scope and to the store are always found once, and in one state")
        func moving() async throws {
            let inner = inner
            let (scope, edits) = (try inner.child("moving"), edits)
            try await scope.create([Company(id: 10, name: "0"), Company(id: 11, name: "0")], save: .pending)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<300 {
                            let names = try await scope.fetch(Company.self, ids: [10, 11]).map(\.name)
                            #expect(names.count == 2 && Set(names.map { $0.first }).count == 1)
                            #expect(try await scope.find(Company.self, id: 10) != nil)
                        }
                    }
                }
                group.addTask {
                    for round in 1...100 {
                        try await scope.perform(save: .pending) { work in
                            // Names are unique, and their first letter identifies the round.
                            let letter = ["a", "b", "c", "d", "e"][round % 5]
                            try work.update(Company.self, id: 10) { $0.name = letter + "10" }
                            try work.update(Company.self, id: 11) { $0.name = letter + "11" }
                        }
                        switch round % 3 {
                        case 0: try await scope.save(.store, resolving: .mine)
                        case 1: try await scope.save(.parent)
                        default: try await (round % 2 == 0 ? inner : edits).save(.parent)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("A read of a pending row fails after its scope or a scope above it is closed, and in a cancelled task")
        func endings() async throws {
            try await inner.create(Company(id: 9, name: "9"), save: .pending)
            let (inner, edits) = (inner, edits)
            let reason = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure(inner)
            }.value
            #expect(reason == .cancelled)
            await edits.close()
            #expect(await failure(inner) == .closed)
        }

        private func failure(_ scope: any PersistenceService) async -> PersistenceFailure.Reason? {
            do throws(PersistenceFailure) {
                _ = try await scope.find(Company.self, id: 9)
                return nil
            } catch {
                return error.reason
            }
        }
    }
#endif
