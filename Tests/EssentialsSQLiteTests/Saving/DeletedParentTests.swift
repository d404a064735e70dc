#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Rows of a save that refer to a row that the same save deletes.
    struct DeletedParentTests {
        private static let actions = ["SET NULL", "CASCADE"]

        private func open(_ action: String) async throws -> SQLitePersistenceService {
            let migration = Migration(
                "1",
                sql: """
                    CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
                    CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                        employer INTEGER REFERENCES company(id) ON DELETE \(action)) STRICT;
                    """)
            let store = SQLitePersistenceService(
                .temporary(models: [Company.self, Person.self]), migrations: [migration])
            try await store.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .store)
            try await store.create(
                [Person(id: 11, name: "A", employer: 1), Person(id: 12, name: "B", employer: 2)], save: .store)
            return store
        }

        /// Saves, and expects that persons are refused because their company is deleted.
        private func expectRefusal(
            of ids: [StoredValue], in edits: any PersistenceService, _ comment: Comment? = nil,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The save has no error. \(comment?.rawValue ?? "")", sourceLocation: sourceLocation)
            } catch {
                #expect(error.reason == .constraint, comment, sourceLocation: sourceLocation)
                let expected = ConstraintViolation(
                    .foreignKey, table: "person", columns: ["employer"], parent: "company", ids: ids)
                #expect(error.violations == [expected], comment, sourceLocation: sourceLocation)
            }
        }

        /// Makes a person refer to company 1 again after the company was deleted.
        private func putBack(_ edits: any PersistenceService, _ action: String, name: String = "A") async throws {
            try await edits.put(Person(id: 11, name: name, employer: 1), save: .pending)
        }

        @Test("A row that is reset to its deleted parent violates the foreign key", arguments: actions)
        func setBack(_ action: String) async throws {
            let store = try await open(action)
            let edits = try store.child("edit")
            try await edits.delete(Company.self, ids: [1], save: .pending)
            try await putBack(edits, action)
            #expect(try await edits.find(Person.self, id: 11) == Person(id: 11, name: "A", employer: 1))
            await expectRefusal(of: [11], in: edits)
            #expect(try await store.find(Person.self, id: 11)?.employer == 1)
            // The scope is unchanged, and can be corrected.
            try await edits.put(Person(id: 11, name: "A", employer: 2), save: .pending)
            #expect(try await edits.save(.store) == SaveReport(updated: 1, deleted: 1))
            #expect(try await store.find(Person.self, id: 11)?.employer == 2)
            await store.close()
        }

        @Test(
            "A row that is reset with another change, or moved to a deleted parent, violates the foreign key",
            arguments: actions)
        func moved(_ action: String) async throws {
            let store = try await open(action)
            let edits = try store.child("edit")
            try await edits.delete(Company.self, ids: [1], save: .pending)
            try await putBack(edits, action, name: "C")
            try await edits.update(Person.self, id: 12, save: .pending) { $0.employer = 1 }
            await expectRefusal(of: [11, 12], in: edits)
            try await edits.create(Person(id: 13, name: "D", employer: 1), save: .pending)
            await expectRefusal(of: [11, 12, 13], in: edits)
            #expect(try await store.fetch(Person.all).map(\.employer) == [1, 2])
            await store.close()
        }

        @Test("The rows may belong to several scopes, and may have been saved to the scope above", arguments: actions)
        func severalScopes(_ action: String) async throws {
            let store = try await open(action)
            let upper = try store.child("upper")
            let lower = try upper.child("lower")
            try await upper.delete(Company.self, ids: [1], save: .pending)
            try await putBack(lower, action)
            await expectRefusal(of: [11], in: lower, "from below")
            try await lower.save(.parent)
            #expect(try await upper.find(Person.self, id: 11)?.employer == 1)
            await expectRefusal(of: [11], in: upper, "after a save to the scope above")
            try await lower.update(Person.self, id: 12, save: .parent) { $0.employer = 1 }
            await expectRefusal(of: [11, 12], in: upper, "with a row that has moved")
            try await upper.save(.parent)
            await expectRefusal(of: [11, 12], in: store, "at the root")
            #expect(try await store.fetch(Person.all).map(\.employer) == [1, 1])
            await store.close()
        }

        @Test("The deletion and the row may belong to one unit of work that is saved at once", arguments: actions)
        func unit(_ action: String) async throws {
            let store = try await open(action)
            do throws(PersistenceFailure) {
                try await store.perform(save: .store) { work in
                    try work.delete(Company.self, ids: [1])
                    try work.put(Person(id: 11, name: "A", employer: 1))
                }
                Issue.record("The save has no error.")
            } catch {
                #expect(error.reason == .constraint && error.violations.map(\.ids) == [[11]])
            }
            #expect(try await store.find(Person.self, id: 11)?.employer == 1)
            await store.close()
        }

        @Test(
            "A parent that is created again, or whose deletion is dropped, keeps its children",
            arguments: actions)
        func parentIsBack(_ action: String) async throws {
            let store = try await open(action)
            let edits = try store.child("edit")
            try await edits.delete(Company.self, ids: [1], save: .pending)
            try await putBack(edits, action)
            try await edits.create(Company(id: 1, name: "Ufa"), save: .pending)
            #expect(try await edits.save(.store) == SaveReport())
            try await edits.delete(Company.self, ids: [1], save: .pending)
            try await putBack(edits, action, name: "C")
            try await store.update(Company.self, id: 1, save: .store) { $0.name = "UFA" }
            #expect(try await edits.save(.store, resolving: .theirs) == SaveReport(updated: 1, kept: 1))
            #expect(try await store.find(Person.self, id: 11) == Person(id: 11, name: "C", employer: 1))
            await store.close()
        }

        @Test("Rows that others write meanwhile follow ON DELETE", arguments: actions)
        func others(_ action: String) async throws {
            let store = try await open(action)
            let edits = try store.child("edit")
            try await edits.delete(Company.self, ids: [1], save: .pending)
            try await edits.update(Person.self, id: 12, save: .pending) { $0.name = "mine" }
            try await store.create(Person(id: 13, name: "late", employer: 1), save: .store)
            try await store.update(Person.self, id: 12, save: .store) { $0.employer = 1 }
            if action == "SET NULL" {
                #expect(
                    try await edits.save(.store, resolving: .mergeColumns)
                        == SaveReport(updated: 2, deleted: 1, cascaded: 2))
                #expect(try await store.fetch(Person.all).map(\.employer) == [nil, nil, nil])
                #expect(try await store.find(Person.self, id: 12)?.name == "mine")
            } else {
                // The deletion would also delete a row with a pending change.
                let failure = await #expect(throws: PersistenceFailure.self) {
                    try await edits.save(.store, resolving: .mergeColumns)
                }
                #expect(failure?.reason == .constraint && failure?.ids == [12])
                try await edits.discard(Person.self, ids: [12])
                #expect(try await edits.save(.store) == SaveReport(deleted: 2, cascaded: 2))
                #expect(try await store.count(Person.all) == 0)
            }
            await store.close()
        }

        @Test("A table that refers to itself has the same rule", arguments: actions)
        func selfReference(_ action: String) async throws {
            let sql = """
                CREATE TABLE part(id INTEGER PRIMARY KEY NOT NULL,
                    whole INTEGER REFERENCES part(id) ON DELETE \(action)) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Part.self]), migrations: [Migration("1", sql: sql)])
            try await store.create(
                [Part(id: 1, whole: nil), Part(id: 2, whole: 1), Part(id: 3, whole: 2)], save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Part.self, ids: [2], save: .pending)
            try await edits.put(Part(id: 3, whole: 2), save: .pending)
            try await edits.update(Part.self, id: 1, save: .pending) { $0.whole = 2 }
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The save has no error.")
            } catch {
                #expect(error.reason == .constraint)
                #expect(
                    error.violations == [
                        ConstraintViolation(
                            .foreignKey, table: "part", columns: ["whole"], parent: "part", ids: [1, 3])
                    ])
            }
            #expect(try await store.fetch(Part.all).map(\.whole) == [nil, 1, 2])
            await store.close()
        }

        @Test("A foreign key of two columns has the same rule, although a scope does not apply it", arguments: actions)
        func twoColumns(_ action: String) async throws {
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT, UNIQUE(name, other)) STRICT;
                CREATE TABLE tag(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT,
                    FOREIGN KEY (name, other) REFERENCES label(name, other) ON DELETE \(action)) STRICT;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self, Tag.self]), migrations: [Migration("1", sql: sql)])
            try await store.create(
                [Label(id: 1, name: "a", other: "b"), Label(id: 2, name: "c", other: "d")], save: .store)
            try await store.create(
                [Tag(id: 5, name: "c", other: "d"), Tag(id: 6, name: "a", other: nil)], save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Label.self, ids: [1], save: .pending)
            try await edits.update(Tag.self, id: 5, save: .pending) { ($0.name, $0.other) = ("a", "b") }
            // An incomplete reference refers to no row.
            try await edits.update(Tag.self, id: 6, save: .pending) { ($0.name, $0.other) = (nil, "b") }
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(
                failure?.violations == [
                    ConstraintViolation(
                        .foreignKey, table: "tag", columns: ["name", "other"], parent: "label", ids: [5])
                ])
            #expect(try await store.find(Tag.self, id: 5)?.name == "c")
            try await edits.create(Label(id: 3, name: "a", other: "b"), save: .pending)
            #expect(try await edits.save(.store) == SaveReport(inserted: 1, updated: 2, deleted: 1))
            #expect(try await store.find(Tag.self, id: 5) == Tag(id: 5, name: "a", other: "b"))
            await store.close()
        }

        @Test("A foreign key to another column with a case-insensitive collation has the same rule")
        func otherColumn() async throws {
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT UNIQUE COLLATE NOCASE,
                    other TEXT REFERENCES label(name) ON DELETE SET NULL) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Label(id: 1, name: "Ufa"), Label(id: 2, name: "b", other: "ufa")], save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Label.self, ids: [1], save: .pending)
            try await edits.put(Label(id: 2, name: "b", other: "ufa"), save: .pending)
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(failure?.violations.map(\.ids) == [[2]])
            // Another row takes over the name.
            try await edits.create(Label(id: 3, name: "UFA"), save: .pending)
            try await edits.save(.store)
            #expect(try await store.fetch(Label.all).map(\.name) == ["b", "UFA"])
            await store.close()
        }
    }
#endif
