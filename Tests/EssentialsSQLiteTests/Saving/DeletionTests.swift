#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Deletions of rows that others refer to, and rows that refer to each other.
    struct DeletionTests {
        /// A store of companies, persons who refer to them, and cards that refer to persons.
        private func open(persons: String, cards: String) async throws -> SQLitePersistenceService {
            let migration = Migration(
                "1",
                sql: """
                    CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
                    CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                        employer INTEGER REFERENCES company(id) \(persons)) STRICT;
                    CREATE TABLE card(id INTEGER PRIMARY KEY NOT NULL,
                        owner INTEGER NOT NULL REFERENCES person(id) \(cards)) STRICT;
                    """)
            let store = SQLitePersistenceService(
                .temporary(models: [Company.self, Person.self, Card.self]), migrations: [migration])
            try await store.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .store)
            try await store.create([11, 12].map { Person(id: $0, name: "P", employer: 1) }, save: .store)
            try await store.create([Card(id: 21, owner: 11), Card(id: 22, owner: 12)], save: .store)
            return store
        }

        private func failure(_ body: () async throws -> Void) async -> PersistenceFailure? {
            do {
                try await body()
                return nil
            } catch {
                return error as? PersistenceFailure
            }
        }

        @Test("A restricted deletion fails in the scope, names the children, and changes nothing")
        func restriction() async throws {
            let store = try await open(persons: "ON DELETE RESTRICT", cards: "ON DELETE CASCADE")
            let edits = try store.child("edit")
            let found = await failure { try await edits.delete(Company.self, ids: [1, 2], save: .pending) }
            #expect(found?.reason == .constraint)
            #expect(
                found?.violations == [
                    ConstraintViolation(
                        .foreignKey, table: "person", columns: ["employer"], parent: "company", ids: [11, 12])
                ])
            #expect(try await edits.count(Company.all) == 2)
            #expect(try await edits.validate() == SaveReport())
            // A pending child also restricts, and a child that is deleted or has moved in the scope does not.
            try await edits.create(Person(id: 13, name: "P", employer: 2), save: .pending)
            #expect(await failure { try await edits.delete(Company.self, ids: [2], save: .pending) }?.ids == [13])
            try await edits.delete(Person.self, ids: [11, 13], save: .pending)
            try await edits.update(Person.self, id: 12, save: .pending) { $0.employer = 2 }
            try await edits.delete(Company.self, ids: [1], save: .pending)
            let report = try await edits.save(.store)
            #expect(report == SaveReport(updated: 1, deleted: 3))
            #expect(try await store.fetch(Person.all) == [Person(id: 12, name: "P", employer: 2)])
            #expect(try await store.ids(Card.all) == [22])
            await store.close()
        }

        @Test("If a later child restricts the deletion, the save fails and names the child")
        func lateChild() async throws {
            let store = try await open(persons: "ON DELETE RESTRICT", cards: "ON DELETE CASCADE")
            let edits = try store.child("edit")
            try await edits.delete(Company.self, ids: [2], save: .pending)
            try await store.create(Person(id: 13, name: "late", employer: 2), save: .store)
            let found = await failure { try await edits.save(.store) }
            #expect(found?.reason == .constraint)
            #expect(found?.violations.map(\.table) == ["person"])
            #expect(found?.ids == [13])
            #expect(try await store.count(Company.all) == 2)
            #expect(try await edits.ids(Company.all) == [1])
            await store.close()
        }

        @Test(
            "A save whose deletion is restricted through columns other than the key names the child",
            arguments: [["name"], ["name", "other"]])
        func otherColumns(_ columns: [String]) async throws {
            let names = columns.joined(separator: ", ")
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT, UNIQUE(\(names))) STRICT;
                CREATE TABLE tag(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT,
                    FOREIGN KEY (\(names)) REFERENCES label(\(names)) ON DELETE RESTRICT) STRICT;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self, Tag.self]), migrations: [Migration("1", sql: sql)])
            try await store.create(
                [Label(id: 1, name: "a", other: "b"), Label(id: 2, name: "c", other: "d")], save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Label.self, ids: [1], save: .pending)
            try await store.create(
                [Tag(id: 5, name: "a", other: "b"), Tag(id: 6, name: "c", other: "d")], save: .store)
            let found = await failure { try await edits.save(.store) }
            #expect(
                found?.violations == [
                    ConstraintViolation(.foreignKey, table: "tag", columns: columns, parent: "label", ids: [5])
                ])
            await store.close()
        }

        @Test("A cascade deletes two generations in the scope, and rows added meanwhile at the save")
        func cascade() async throws {
            let store = try await open(persons: "ON DELETE CASCADE", cards: "ON DELETE CASCADE")
            let edits = try store.child("edit")
            try await edits.create(Person(id: 13, name: "P", employer: 1), save: .pending)
            try await edits.create(Card(id: 23, owner: 13), save: .pending)
            #expect(try await edits.delete(Company.self, ids: [1], save: .pending) == 1)
            #expect(try await edits.count(Person.all) == 0)
            #expect(try await edits.count(Card.all) == 0)
            #expect(try await edits.find(Card.self, id: 22) == nil)
            #expect(try await store.ids(Card.all) == [21, 22])
            try await store.create(Person(id: 14, name: "late", employer: 1), save: .store)
            try await store.create([Card(id: 24, owner: 14), Card(id: 25, owner: 11)], save: .store)
            #expect(try await edits.save(.store) == SaveReport(deleted: 5, cascaded: 3))
            #expect(try await store.ids(Company.all) == [2])
            #expect(try await store.count(Person.all) == 0)
            #expect(try await store.count(Card.all) == 0)
            await store.close()
        }

        @Test("A cascade does not delete a child that was moved, in the scope and in the file")
        func movedAway() async throws {
            let store = try await open(persons: "ON DELETE CASCADE", cards: "ON DELETE CASCADE")
            let edits = try store.child("edit")
            try await edits.update(Person.self, id: 12, save: .pending) { $0.employer = 2 }
            try await edits.delete(Company.self, ids: [1], save: .pending)
            #expect(try await edits.ids(Person.all) == [12])
            #expect(try await edits.ids(Card.all) == [22])
            #expect(try await edits.save(.store) == SaveReport(updated: 1, deleted: 3))
            #expect(try await store.fetch(Person.all) == [Person(id: 12, name: "P", employer: 2)])
            #expect(try await store.ids(Card.all) == [22])
            await store.close()
        }

        @Test("SET DEFAULT applies in the scope, and at the save to rows added meanwhile")
        func setDefault() async throws {
            let sql = """
                CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
                CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                    employer INTEGER DEFAULT (1 + 1) REFERENCES company(id) ON DELETE SET DEFAULT) STRICT;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Company.self, Person.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .store)
            try await store.create(Person(id: 11, name: "P", employer: 1), save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Company.self, ids: [1], save: .pending)
            #expect(try await edits.find(Person.self, id: 11)?.employer == 2)
            try await store.create(Person(id: 12, name: "late", employer: 1), save: .store)
            #expect(try await edits.save(.store) == SaveReport(updated: 1, deleted: 1, cascaded: 1))
            #expect(try await store.fetch(Person.all).map(\.employer) == [2, 2])
            await store.close()
        }

        @Test("A child that others have moved conflicts with the cascade of a scope, and can be kept")
        func movedByOthers() async throws {
            let store = try await open(persons: "ON DELETE CASCADE", cards: "ON DELETE CASCADE")
            let edits = try store.child("edit")
            try await edits.delete(Company.self, ids: [1], save: .pending)
            try await store.update(Person.self, id: 12, save: .store) { $0.employer = 2 }
            let found = await failure { try await edits.save(.store) }
            #expect(found?.reason == .conflict)
            #expect(found?.conflicts.map(\.table) == ["person"])
            #expect(found?.ids == [12])
            // The card was not changed by others, so its deletion is no conflict.
            let report = try await edits.save(.store, resolving: .theirs)
            #expect(report == SaveReport(deleted: 4, kept: 1))
            #expect(try await store.fetch(Person.all) == [Person(id: 12, name: "P", employer: 2)])
            #expect(try await store.count(Card.all) == 0)
            await store.close()
        }

        @Test("A child that moves to a row of the same save keeps its children when its old parent is deleted")
        func movedToNewParent() async throws {
            let store = try await open(persons: "ON DELETE CASCADE", cards: "ON DELETE CASCADE")
            let edits = try store.child("edit")
            try await edits.create(Company(id: 3, name: "Terra"), save: .pending)
            try await edits.update(Person.all, save: .pending) { $0.employer = 3 }
            try await edits.delete(Company.self, ids: [1], save: .pending)
            #expect(try await edits.save(.store) == SaveReport(inserted: 1, updated: 2, deleted: 1))
            #expect(try await store.fetch(Person.all).map(\.employer) == [3, 3])
            #expect(try await store.count(Card.all) == 2)
            await store.close()
        }

        @Test("Rows of a table that refers to itself are saved in any order, and deleted as a tree")
        func selfReferences() async throws {
            let sql = """
                CREATE TABLE part(id INTEGER PRIMARY KEY NOT NULL,
                    whole INTEGER REFERENCES part(id) ON DELETE CASCADE) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Part.self]), migrations: [Migration("1", sql: sql)])
            // Children have smaller ids than their parents, and the last row refers to itself.
            let parts = [
                Part(id: 1, whole: 2), Part(id: 2, whole: 3), Part(id: 3, whole: nil), Part(id: 4, whole: 4),
            ]
            try await store.create(parts, save: .store)
            #expect(try await store.fetch(Part.all) == parts)
            let edits = try store.child("edit")
            try await edits.delete(Part.self, ids: [3, 4], save: .pending)
            #expect(try await edits.count(Part.all) == 0)
            #expect(try await edits.save(.store).deleted == 4)
            #expect(try await store.count(Part.all) == 0)
            await store.close()
        }

        @Test("Rows of two tables that refer to each other are saved, changed and deleted together")
        func circles() async throws {
            let sql = """
                CREATE TABLE team(id INTEGER PRIMARY KEY NOT NULL,
                    leader INTEGER NOT NULL REFERENCES member(id) DEFERRABLE INITIALLY DEFERRED) STRICT;
                CREATE TABLE member(id INTEGER PRIMARY KEY NOT NULL,
                    team INTEGER NOT NULL REFERENCES team(id) DEFERRABLE INITIALLY DEFERRED) STRICT;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Team.self, Member.self]), migrations: [Migration("1", sql: sql)])
            let edits = try store.child("edit")
            try await edits.create(Team(id: 1, leader: 10), save: .pending)
            #expect(await failure { try await edits.save(.store) }?.violations.map(\.table) == ["team"])
            try await edits.create(Member(id: 10, team: 1), save: .pending)
            #expect(try await edits.save(.store) == SaveReport(inserted: 2))
            try await edits.create(Member(id: 11, team: 1), save: .pending)
            try await edits.update(Team.self, id: 1, save: .pending) { $0.leader = 11 }
            try await edits.delete(Member.self, ids: [10], save: .pending)
            #expect(try await edits.save(.store) == SaveReport(inserted: 1, updated: 1, deleted: 1))
            try await edits.delete(Team.self, ids: [1], save: .pending)
            let found = await failure { try await edits.save(.store) }
            #expect(found?.violations.map(\.table) == ["member"])
            #expect(found?.ids == [11])
            try await edits.delete(Member.self, ids: [11], save: .pending)
            #expect(try await edits.save(.store) == SaveReport(deleted: 2))
            #expect(try await store.count(Team.all) == 0)
            await store.close()
        }
    }
#endif
