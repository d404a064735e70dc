import TestTools

#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// Scopes over a real file, and the same scopes as dictionaries. Each step is made in both and compared.
    struct SavingWorld {
        private static let ids: Range<Int64> = 1..<4

        private let store: SQLitePersistenceService
        private let seed: UInt64
        private var numbers: SeededNumbers
        private var naive = NaiveScopes()
        private var services: [any PersistenceService]
        private var closed: Set<Int> = []
        private var stepNumber = 0
        /// The number of saves with each outcome.
        private(set) var seen: [String: Int] = [:]

        /// Begins a sequence over a store without rows.
        init(_ store: SQLitePersistenceService, seed: UInt64) {
            self.store = store
            self.seed = seed
            numbers = SeededNumbers(state: seed)
            services = [store]
        }

        private var comment: Comment { "seed \(seed), step \(stepNumber)" }
        private mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &numbers) }
        private mutating func id() -> Int64 { .random(in: Self.ids, using: &numbers) }

        private mutating func note(_ id: Int64) -> Note {
            let year = number(0..<10) == 0 ? 99 : number(0..<3)
            return Note(id: id, title: ["a", "b", nil].randomElement(using: &numbers) ?? nil, year: year)
        }

        private mutating func policy() -> ConflictPolicy? {
            number(0..<4) == 0 ? nil : ConflictPolicy.allCases.randomElement(using: &numbers)
        }

        // MARK: A sequence

        mutating func run() async throws {
            for id in Self.ids where Bool.random(using: &numbers) {
                try await changeFile(id, to: Note(id: id, year: 0))
            }
            for _ in 0..<number(5..<30) {
                stepNumber += 1
                try await step()
                let open = naive.scopes.indices.filter { !closed.contains($0) }
                try await compare(open.randomElement(using: &numbers) ?? 0)
            }
            for scope in naive.scopes.indices where !closed.contains(scope) { try await compare(scope) }
            try await finish()
        }

        private mutating func finish() async throws {
            for (index, service) in services.enumerated().dropFirst() where !closed.contains(index) {
                await service.close()
            }
            try await store.rollback()
            try await store.delete(Note.all, save: .store)
        }

        private func compare(_ scope: Int) async throws {
            let found = try await services[scope].fetch(Note.all)
            try #require(found == naive.rows(scope, Self.ids), comment)
            let stored = try store.core.openStore().database.read { db in
                try Row.fetchAll(db, sql: "SELECT id, title, year FROM note ORDER BY id")
                    .map { Note(id: $0[0], title: $0[1], year: $0[2]) }
            }
            try #require(stored == naive.rows(nil, Self.ids), comment)
        }

        private mutating func step() async throws {
            let open = naive.scopes.indices.filter { !closed.contains($0) }
            let scope = open.randomElement(using: &numbers) ?? 0
            switch number(0..<26) {
            case 0...8: try await change(scope, .pending)
            case 9: try await change(scope, SaveLevel.allCases.randomElement(using: &numbers) ?? .store)
            case 10...12: try openChild(of: scope)
            case 13: try await close(scope)
            case 14:
                try await services[scope].rollback()
                naive.scopes[scope].pending = [:]
            case 15:
                let id = id()
                try await services[scope].discard(Note.self, ids: [id])
                naive.scopes[scope].pending[id] = nil
            case 16: try await validate(scope)
            case 17...20:
                let id = id()
                let new = number(0..<3) == 0 ? nil : Note(id: id, title: "c", year: number(0..<3))
                try await changeFile(id, to: new)
            default:
                // Saves of scopes without pending rows test little.
                let pending = open.filter { !naive.scopes[$0].pending.isEmpty }
                try await save(pending.randomElement(using: &numbers) ?? scope)
            }
        }

        private mutating func openChild(of scope: Int) throws {
            var depth = 1
            var above = scope
            while let parent = naive.scopes[above].parent { (above, depth) = (parent, depth + 1) }
            guard depth < 4, naive.scopes.count - closed.count < 7 else { return }
            let policy = policy()
            naive.scopes.append(NaiveScopes.Scope(parent: scope, policy: policy))
            services.append(
                try services[scope].child("\(services.count)", resolving: policy.map { .policy($0) }))
        }

        /// Closes a scope, and in the model also those within it.
        private mutating func close(_ scope: Int) async throws {
            guard scope > 0 else { return }
            await services[scope].close()
            closed.insert(scope)
            for (index, other) in naive.scopes.enumerated() where other.parent.map({ closed.contains($0) }) == true {
                closed.insert(index)
            }
        }

        /// Changes the file from outside the scopes.
        private mutating func changeFile(_ id: Int64, to note: Note?) async throws {
            if let note {
                try await store.importRows(of: Note.self, from: [note], onConflict: .replace)
            } else {
                try store.core.openStore().database.write { db in
                    try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [id])
                }
            }
            naive.file[id] = note
        }

        // MARK: Changes and saves

        private func outcome(_ body: () async throws -> SaveReport) async throws -> NaiveScopes.Outcome {
            do {
                return .done(try await body())
            } catch let failure as PersistenceFailure where failure.reason == .conflict {
                let clashes = try failure.conflicts.map { conflict in
                    let models = try conflict.models(of: Note.self)
                    return NaiveScopes.Clash(base: models.base, mine: models.mine, theirs: models.theirs)
                }
                return .conflict(Set(clashes))
            } catch let failure as PersistenceFailure where failure.reason == .constraint {
                let ids = failure.violations.flatMap(\.ids).compactMap { Int64(storedValue: $0) }
                try #require(failure.violations.allSatisfy { $0.name == "early" }, comment)
                return .constraint(Set(ids))
            }
        }

        private mutating func count(_ outcome: NaiveScopes.Outcome) {
            switch outcome {
            case .done: seen["done", default: 0] += 1
            case .conflict: seen["conflict", default: 0] += 1
            case .constraint: seen["constraint", default: 0] += 1
            }
        }

        private mutating func save(_ scope: Int) async throws {
            let policy = policy()
            let level: SaveLevel = number(0..<10) == 0 ? .pending : Bool.random(using: &numbers) ? .parent : .store
            let expected = naive.save(scope, level, policy ?? naive.policy(scope))
            let service = services[scope]
            let found = try await outcome { try await service.save(level, resolving: policy.map { .policy($0) }) }
            try #require(found == expected, comment)
            count(found)
        }

        private mutating func validate(_ scope: Int) async throws {
            let policy = policy()
            var copy = naive
            let expected = copy.save(scope, .store, policy ?? naive.policy(scope))
            let service = services[scope]
            let found = try await outcome { try await service.validate(resolving: policy.map { .policy($0) }) }
            try #require(found == expected, comment)
        }

        /// Creates, updates, replaces or deletes a row, and saves at once if the level says so.
        private mutating func change(_ scope: Int, _ level: SaveLevel) async throws {
            let id = id()
            let note = note(id)
            let before = naive
            let isThere = naive.view(scope, id) != nil
            let service = services[scope]
            let kind = number(0..<8)
            var isRefused = false
            switch kind {
            case 0, 1: isRefused = isThere
            case 2...6: isRefused = !isThere
            default: break
            }
            var expected = NaiveScopes.Outcome.done(SaveReport())
            if !isRefused {
                naive.place(kind == 5 || kind == 6 ? nil : note, at: id, in: scope)
                expected = naive.save(scope, level, naive.policy(scope))
                if case .done = expected {} else { naive = before }
            }
            do {
                switch kind {
                case 0, 1: try await service.create(note, save: level)
                case 2...4: try await service.update(Note.self, id: id, save: level) { $0 = note }
                case 5, 6: try await service.delete(Note.self, ids: [id], save: level)
                default: try await service.put(note, save: level)
                }
                try #require(!isRefused, comment)
                let isDone = if case .done = expected { true } else { false }
                try #require(isDone, comment)
            } catch let failure as PersistenceFailure {
                if isRefused {
                    try #require(failure.reason == (kind < 2 ? .constraint : .notFound), comment)
                    return
                }
                let found = try await outcome { throw failure }
                try #require(found == expected, comment)
            }
        }
    }

    extension NaiveScopes {
        /// Saves a scope as its level says.
        fileprivate mutating func save(_ scope: Int, _ level: SaveLevel, _ policy: ConflictPolicy) -> Outcome {
            switch level {
            case .pending: .done(SaveReport())
            case .parent: save(scope, policy)
            case .store: saveThrough(scope, policy)
            }
        }
    }
#endif
