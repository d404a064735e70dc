import TestTools

#if Persistence
    import EssentialsTools

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Scopes over a real file with observers in each of them, which are compared with a read after each step.
    struct ObserverWorld {
        private struct Scope {
            let service: any PersistenceService
            let watch: ScopeWatch
            let depth: Int
            let parent: Int?
        }

        private let store: SQLitePersistenceService
        private var numbers: SeededNumbers
        private var scopes: [Int: Scope] = [:]
        private var nextScope = 0
        /// The steps so far, for the message of a failure.
        private(set) var steps: [String] = []
        private(set) var seen: [String: Int] = [:]
        private var observations: [RunningObservation] = []

        /// Begins a sequence over a store without rows.
        init(_ store: SQLitePersistenceService, seed: UInt64) throws {
            self.store = store
            numbers = SeededNumbers(state: seed)
            try add(store, parent: nil)
        }

        private mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &numbers) }

        private mutating func add(_ service: any PersistenceService, parent: Int?) throws {
            let depth = parent.flatMap { scopes[$0]?.depth }.map { $0 + 1 } ?? 1
            scopes[nextScope] = Scope(
                service: service, watch: try ScopeWatch(service, &numbers), depth: depth, parent: parent)
            nextScope += 1
        }

        private mutating func scope() -> Int { scopes.keys.sorted().randomElement(using: &numbers) ?? 0 }

        // MARK: A sequence

        /// Runs the sequence, and returns the changes that observers have missed.
        mutating func run() async throws -> [String] {
            for _ in 0..<number(10..<40) {
                let isUnchanged = try await step()
                store.waitForObservers()
                for scope in scopes.keys.sorted() {
                    guard let watch = scopes[scope]?.watch else { continue }
                    let findings = try watch.findings(isUnchanged: isUnchanged)
                    if !findings.isEmpty { return findings }
                }
            }
            var findings: [String] = []
            for observation in observations where observation.service.state == .ready {
                if await !observation.arrives() { findings.append("\(observation.service.name): a list is stale") }
            }
            observations = []
            try await finish()
            return findings
        }

        private mutating func finish() async throws {
            for scope in scopes.values where scope.parent != nil { await scope.service.close() }
            try await store.rollback()
            try await store.perform(save: .store) { work in
                try work.delete(Loan.all)
                try work.delete(Chapter.all)
                try work.delete(Book.all)
                try work.delete(Shelf.all)
                try work.delete(Sticker.all)
                try work.delete(Tally.where { $0.id > 1 })
            }
            try await store.delete(Tally.all, save: .store)
        }

        // MARK: Steps

        /// Makes a step, and returns whether it must not have changed anything.
        private mutating func step() async throws -> Bool {
            let scope = scope()
            guard let (service, depth) = scopes[scope].map({ ($0.service, $0.depth) }) else { return false }
            switch number(0..<22) {
            case 0...8: return try change(service)
            case 9...11: return try save(service)
            case 12, 13:
                guard depth < 4, scopes.count < 6 else { return true }
                let policy = Bool.random(using: &numbers) ? nil : ConflictPolicy.allCases.randomElement(using: &numbers)
                let child = try service.child("\(nextScope)", resolving: policy.map { .policy($0) })
                try add(child, parent: scope)
                steps.append("\(service.name): child, \(policy.map { "\($0)" } ?? "nil")")
                return true
            case 14:
                guard depth > 1 else { return true }
                await close(scope)
                steps.append("\(service.name): close")
                return true
            case 15:
                return try make("rollback", service) { (service) throws(PersistenceFailure) in
                    try service.wait(for: .rollback())
                }
            case 16:
                let id = Int64(number(1..<4))
                return try make("discard book \(id)", service) { (service) throws(PersistenceFailure) in
                    try service.wait(for: .discard(Book.self, ids: [id]))
                }
            case 17...19: return try importRows(service)
            case 20:
                let resolution = resolution()
                _ = try make("validate", service) { (service) throws(PersistenceFailure) in
                    _ = try service.wait(for: .validate(resolving: resolution))
                }
                return true
            default:
                if observations.count < 3 { observations.append(RunningObservation(service)) }
                return true
            }
        }

        /// Closes a scope and the scopes within it.
        private mutating func close(_ scope: Int) async {
            await scopes.removeValue(forKey: scope)?.service.close()
            for (child, other) in scopes where other.parent == scope { await close(child) }
        }

        private mutating func resolution() -> ConflictResolution? {
            number(0..<4) == 0 ? nil : ConflictPolicy.allCases.randomElement(using: &numbers).map { .policy($0) }
        }

        /// Makes a call, and returns whether it has failed.
        private mutating func make(
            _ name: String, _ service: any PersistenceService,
            _ body: (any PersistenceService) throws(PersistenceFailure) -> Void
        ) throws -> Bool {
            var reason = "done"
            do throws(PersistenceFailure) {
                try body(service)
            } catch {
                reason = "\(error.reason)"
                let expected: [PersistenceFailure.Reason] = [.constraint, .conflict, .work]
                guard expected.contains(error.reason) else { throw error }
            }
            seen[reason, default: 0] += 1
            steps.append("\(service.name): \(name): \(reason)")
            return reason != "done"
        }

        private mutating func change(_ service: any PersistenceService) throws -> Bool {
            let levels: [SaveLevel] = [.pending, .pending, .pending, .pending, .pending, .pending, .parent, .store]
            let level = levels.randomElement(using: &numbers) ?? .pending
            let resolution = resolution()
            let changes = (0..<number(1..<4)).map { _ in LibraryChange.random(&numbers) }
            return try make("\(changes), \(level)", service) { (service) throws(PersistenceFailure) in
                try service.wait(
                    for: .perform(save: level, resolving: resolution) { work in
                        for change in changes { try change.run(work) }
                    })
            }
        }

        private mutating func save(_ service: any PersistenceService) throws -> Bool {
            let level: SaveLevel = Bool.random(using: &numbers) ? .parent : .store
            let policy = number(0..<4) == 0 ? nil : ConflictPolicy.allCases.randomElement(using: &numbers)
            return try make("save \(level) \(policy.map { "\($0)" } ?? "nil")", service) {
                (service) throws(PersistenceFailure) in
                _ = try service.wait(for: .save(level, resolving: policy.map { .policy($0) }))
            }
        }

        private mutating func importRows(_ service: any PersistenceService) throws -> Bool {
            let titles = (0..<number(1..<4)).map { _ in ["a", "b", "c", "d"][number(0..<4)] }
            let books = titles.enumerated().map { Book(id: Int64($0 + 1), title: $1, shelf: nil) }
            let shelves = titles.enumerated().map { Shelf(id: Int64($0 + 1), name: $1) }
            let conflict = ImportConflict.allCases.randomElement(using: &numbers) ?? .replace
            let isBooks = Bool.random(using: &numbers)
            return try make("import \(isBooks ? "books" : "shelves") \(titles) \(conflict)", service) {
                (service) throws(PersistenceFailure) in
                let call: PersistenceCall =
                    isBooks ? .importRows(books, onConflict: conflict) : .importRows(shelves, onConflict: conflict)
                _ = try service.wait(for: call)
            }
        }
    }

    /// An observation that runs beside the steps.
    private final class RunningObservation {
        let service: any PersistenceService
        private let last: LastList
        private let observation: PersistenceObservation

        private final class LastList: Sendable {
            let books = Mutex<[Book]?>(nil)
        }

        init(_ service: any PersistenceService) {
            self.service = service
            let last = LastList()
            self.last = last
            observation = service.observe(Book.all) { result in
                if let books = try? result.get() { last.books.withLock { $0 = books } }
            }
        }

        /// Waits until the observer has the same result as a read, and returns `false` if that takes too long.
        func arrives() async -> Bool {
            let expected = try? await service.fetch(Book.all)
            let end = ContinuousClock.now + .seconds(60)
            while last.books.withLock({ $0 }) != expected {
                guard .now < end else { return false }
                await Task.yield()
            }
            return true
        }
    }
#endif
