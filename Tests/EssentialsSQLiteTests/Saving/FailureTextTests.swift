#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// The facts about rows in the texts of failures.
    struct FailureTextTests {
        private static let secret = "s3cretvalue"

        /// A cause for which a save fails because of a row with a secret name.
        enum Cause: CaseIterable {
            case unique, check, foreignKey, restrict, trigger, conflict, deletedConflict, exists
        }

        private static let schema = """
            CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL,
                name TEXT NOT NULL UNIQUE CHECK (length(name) < 40)) STRICT;
            CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                employer INTEGER REFERENCES company(id) ON DELETE RESTRICT) STRICT;
            CREATE TRIGGER guard BEFORE INSERT ON person WHEN NEW.id = 99
                BEGIN SELECT RAISE(ABORT, 'the person is refused'); END;
            """

        private func provoke(_ cause: Cause, _ store: SQLitePersistenceService) async throws {
            let secret = Self.secret
            let edits = try store.child("edit")
            switch cause {
            case .unique: try await edits.create(Company(id: 7, name: secret), save: .pending)
            case .check:
                let name = String(repeating: secret, count: 4)
                try await edits.create(Company(id: 7, name: name), save: .pending)
            case .foreignKey: try await edits.create(Person(id: 7, name: secret, employer: 77), save: .pending)
            case .restrict:
                try await edits.delete(Company.self, ids: [2], save: .pending)
                try await store.create(Person(id: 8, name: secret, employer: 2), save: .store)
            case .trigger: try await edits.create(Person(id: 99, name: secret, employer: nil), save: .pending)
            case .conflict:
                try await edits.update(Person.self, id: 1, save: .pending) { $0.name = "mine \(secret)" }
                try await store.update(Person.self, id: 1, save: .store) { $0.name = "theirs \(secret)" }
            case .deletedConflict:
                try await edits.delete(Person.self, ids: [1], save: .pending)
                try await store.update(Person.self, id: 1, save: .store) { $0.name = "theirs \(secret)" }
            case .exists:
                try await edits.create(Person(id: 8, name: "mine \(secret)", employer: nil), save: .pending)
                try await store.create(Person(id: 8, name: "theirs \(secret)", employer: nil), save: .store)
            }
            try await edits.save(.store)
        }

        private func open() async throws -> SQLitePersistenceService {
            let store = SQLitePersistenceService(
                .temporary(models: [Company.self, Person.self]), migrations: [Migration("1", sql: Self.schema)])
            try await store.create(
                [Company(id: 1, name: Self.secret), Company(id: 2, name: "2 \(Self.secret)")], save: .store)
            try await store.create(Person(id: 1, name: "base \(Self.secret)", employer: 1), save: .store)
            return store
        }

        private func texts(_ failure: PersistenceFailure) -> [String] {
            var texts = [
                failure.message, failure.description, String(reflecting: failure), failure.remedy ?? "",
                failure.violations.map(\.description).joined(), failure.violations.compactMap(\.name).joined(),
            ]
            if let underlying = failure.underlying {
                texts += [String(describing: underlying), String(reflecting: underlying)]
            }
            return texts
        }

        @Test("The texts of constraint and conflict failures have no values of rows", arguments: Cause.allCases)
        func texts(_ cause: Cause) async throws {
            let store = try await open()
            do {
                try await provoke(cause, store)
                Issue.record("The save has not failed.")
            } catch let failure as PersistenceFailure {
                let isConflict = [Cause.conflict, .deletedConflict, .exists].contains(cause)
                #expect(failure.reason == (isConflict ? .conflict : .constraint))
                #expect(failure.ids.count == 1)
                #expect(texts(failure).filter { $0.contains(Self.secret) } == [])
            }
            await store.close()
        }

        @Test("The texts of other failures that rows cause have no values of rows either")
        func others() async throws {
            let store = try await open()
            let secret = Self.secret
            let rows = [Company(id: 7, name: "new"), Company(id: 8, name: secret)]
            let bodies: [() async throws -> Void] = [
                { try await store.importRows(of: Company.self, from: rows) },
                { try await store.create(Person(id: 1, name: secret, employer: nil), save: .pending) },
                { try await store.delete(Company.self, ids: [1], save: .pending) },
                { try await store.update(Person.self, id: 1, save: .pending) { $0.id = 9 } },
            ]
            for body in bodies {
                do {
                    try await body()
                    Issue.record("The call has not failed.")
                } catch let failure as PersistenceFailure {
                    #expect(texts(failure).filter { $0.contains(secret) } == [])
                }
            }
            await store.close()
        }
    }
#endif
