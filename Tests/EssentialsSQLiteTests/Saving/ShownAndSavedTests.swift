import TestTools

#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Random changes of rows that refer to each other: a save writes the rows that its scope shows, or fails.
    struct ShownAndSavedTests {
        /// The rows that a scope or the store shows.
        private struct Shown: Equatable {
            var companies: [Company]
            var persons: [Person]
            var parts: [Part]

            init(_ service: any PersistenceService) async throws {
                companies = try await service.fetch(Company.all)
                persons = try await service.fetch(Person.all)
                parts = try await service.fetch(Part.all)
            }

            /// Whether a row refers to a missing row, or two rows have the same name.
            var isViolated: Bool {
                let (ids, partIDs) = (Set(companies.map(\.id)), Set(parts.map(\.id)))
                return Set(companies.map(\.name)).count < companies.count
                    || persons.contains { $0.employer.map { !ids.contains($0) } ?? false }
                    || parts.contains { $0.whole.map { !partIDs.contains($0) } ?? false }
            }
        }

        private static let sequenceCount: UInt64 = 60

        private static func open(_ action: String) async throws -> SQLitePersistenceService {
            let sql = """
                CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
                CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                    employer INTEGER DEFAULT 3 REFERENCES company(id) ON DELETE \(action)) STRICT;
                CREATE TABLE part(id INTEGER PRIMARY KEY NOT NULL,
                    whole INTEGER REFERENCES part(id) ON DELETE \(action)) STRICT;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Company.self, Person.self, Part.self]), migrations: [Migration("1", sql: sql)])
            try await store.ready()
            return store
        }

        private static func change(_ scope: any PersistenceService, _ numbers: inout SeededNumbers) async throws {
            let (id, other) = (Int64.random(in: 1...4, using: &numbers), Int64.random(in: 0...4, using: &numbers))
            let reference = other == 0 ? nil : other
            switch Int.random(in: 0..<12, using: &numbers) {
            case 0, 1: try await scope.put(Company(id: id, name: "\(other)"), save: .pending)
            case 2, 3: try await scope.delete(Company.self, ids: [id], missing: .ignore, save: .pending)
            case 4...6: try await scope.put(Person(id: id, name: "p", employer: reference), save: .pending)
            case 7: try await scope.delete(Person.self, ids: [id], missing: .ignore, save: .pending)
            case 8, 9: try await scope.put(Part(id: id, whole: reference), save: .pending)
            case 10: try await scope.delete(Part.self, ids: [id], missing: .ignore, save: .pending)
            default:
                // Two companies exchange their names.
                let found = try await scope.fetch(Company.all.limit(2))
                guard found.count == 2 else { return }
                try await scope.put(
                    [Company(id: found[0].id, name: found[1].name), Company(id: found[1].id, name: found[0].name)],
                    save: .pending)
            }
        }

        /// Saves a scope, compares the store with what the scope has shown, and returns whether it was saved.
        private static func save(
            _ scope: any PersistenceService, _ store: any PersistenceService, mayConflict: Bool, _ comment: Comment
        ) async throws -> Bool {
            let shown = try await Shown(scope)
            var failure: PersistenceFailure?
            do throws(PersistenceFailure) { try await scope.save(.store) } catch { failure = error }
            guard let failure else {
                try #require(!shown.isViolated, comment)
                let stored = try await Shown(store)
                try #require(stored == shown, comment)
                return true
            }
            try await scope.rollback()
            if failure.reason == .conflict, mayConflict { return false }
            try #require(failure.reason == .constraint, "\(comment) \(failure)")
            try #require(shown.isViolated || comment.rawValue.hasPrefix("RESTRICT"), "\(comment) \(failure)")
            return false
        }

        private static func saveUp(_ scope: any PersistenceService, _ comment: Comment) async throws {
            var failure: PersistenceFailure?
            do throws(PersistenceFailure) { try await scope.save(.parent) } catch { failure = error }
            guard let failure else { return }
            try #require(failure.reason == .conflict, comment)
            try await scope.rollback()
        }

        @Test(
            "A save stores the rows that its scope has shown, or fails for a violation that it has shown",
            arguments: ["CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"])
        func sequences(_ action: String) async throws {
            let store = try await Self.open(action)
            var outcomes: [Bool: Int] = [:]
            for seed in UInt64(1)...Self.sequenceCount {
                var numbers = SeededNumbers(state: seed)
                let upper = try store.child("upper")
                let lower = try upper.child("lower")
                // A row that was pending over a row that the parent has dropped meanwhile may conflict with the file.
                var mayConflict = false
                for step in 0..<25 {
                    let comment: Comment = "\(action), seed \(seed), step \(step)"
                    let scope = Bool.random(using: &numbers) ? lower : upper
                    var refused: PersistenceFailure?
                    do { try await Self.change(scope, &numbers) } catch { refused = error as? PersistenceFailure }
                    try #require(refused == nil || refused?.reason == .constraint && action == "RESTRICT", comment)
                    let kind = Int.random(in: 0..<8, using: &numbers)
                    if kind == 0 {
                        try await Self.saveUp(lower, comment)
                        mayConflict = true
                    } else if kind == 1 {
                        // Pending rows of a scope may conflict with changes of its parent.
                        try await lower.rollback()
                        let isSaved = try await Self.save(upper, store, mayConflict: mayConflict, comment)
                        outcomes[isSaved, default: 0] += 1
                        mayConflict = false
                    }
                }
                await lower.close()
                await upper.close()
                try await store.perform(save: .store) { work in
                    try work.update(Part.all) { $0.whole = nil }
                    try work.delete(Person.all)
                    try work.delete(Company.all)
                    try work.delete(Part.all)
                }
            }
            #expect(outcomes[true, default: 0] > 50 && outcomes[false, default: 0] > 10)
            await store.close()
        }
    }
#endif
