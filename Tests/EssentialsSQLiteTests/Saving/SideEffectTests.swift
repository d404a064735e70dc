#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Saves whose writes change other rows of the same save, through triggers and foreign keys.
    struct SideEffectTests {
        private static let tables = """
            CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
            CREATE TABLE note(id INTEGER PRIMARY KEY NOT NULL, title TEXT, year INTEGER NOT NULL) STRICT;
            CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT REFERENCES company(name) ON UPDATE CASCADE,
                other TEXT) STRICT;
            """

        private func open(_ triggers: String) async throws -> SQLitePersistenceService {
            let store = SQLitePersistenceService(
                .temporary(models: [Company.self, Note.self, Label.self]),
                migrations: [Migration("1", sql: Self.tables + triggers)])
            try await store.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .store)
            try await store.create(
                [Note(id: 11, title: "A", year: 1), Note(id: 12, title: "B", year: 1)], save: .store)
            try await store.create(Label(id: 21, name: "Ufa", other: "a"), save: .store)
            return store
        }

        @Test("A trigger's change of a row of the same save is not a change by others")
        func trigger() async throws {
            let store = try await open(
                """
                CREATE TRIGGER t AFTER UPDATE ON company BEGIN
                    UPDATE note SET year = year + 10 WHERE year = new.id; END;
                """)
            let edits = try store.child("edit")
            try await edits.update(Company.self, id: 1, save: .pending) { $0.name = "UFA" }
            try await edits.update(Note.self, id: 11, save: .pending) { $0.title = "C" }
            try await edits.delete(Note.self, ids: [12], save: .pending)
            let report = try await edits.save(.store, resolving: .fail)
            #expect(report.updated == 2 && report.deleted == 1 && report.kept == 0)
            #expect(try await store.fetch(Note.all) == [Note(id: 11, title: "C", year: 11)])
            await store.close()
        }

        @Test("A trigger's deletion or insertion of a row of the same save is not a change by others")
        func inserted() async throws {
            let store = try await open(
                """
                CREATE TRIGGER t AFTER UPDATE ON company BEGIN
                    INSERT INTO note VALUES (13, 'trigger', 7);
                    DELETE FROM note WHERE id = 11; END;
                """)
            let edits = try store.child("edit")
            try await edits.update(Company.self, id: 1, save: .pending) { $0.name = "UFA" }
            try await edits.update(Note.self, id: 11, save: .pending) { $0.title = "C" }
            try await edits.create(Note(id: 13, title: "D", year: 0), save: .pending)
            let report = try await edits.save(.store, resolving: .fail)
            #expect(report.inserted == 1 && report.updated == 2)
            #expect(
                try await store.fetch(Note.all) == [
                    Note(id: 11, title: "C", year: 1), Note(id: 12, title: "B", year: 1),
                    Note(id: 13, title: "D", year: 0),
                ])
            await store.close()
        }

        @Test("ON UPDATE of a row of the same save is not a change by others")
        func onUpdate() async throws {
            let store = try await open("")
            let edits = try store.child("edit")
            try await edits.update(Company.self, id: 1, save: .pending) { $0.name = "UFA" }
            try await edits.update(Label.self, id: 21, save: .pending) { $0.other = "b" }
            let report = try await edits.save(.store, resolving: .fail)
            #expect(report.updated == 2)
            #expect(try await store.fetch(Label.all) == [Label(id: 21, name: "UFA", other: "b")])
            await store.close()
        }

        @Test("A change by others is a conflict, even if a trigger of the save changes the row too")
        func others() async throws {
            let store = try await open(
                """
                CREATE TRIGGER t AFTER UPDATE ON company BEGIN
                    UPDATE note SET title = 'trigger' WHERE id = 11; END;
                """)
            let edits = try store.child("edit")
            try await edits.update(Company.self, id: 1, save: .pending) { $0.name = "UFA" }
            try await edits.update(Note.self, id: 11, save: .pending) { $0.year = 2 }
            try await store.update(Note.self, id: 11, save: .store) { $0.title = "theirs" }
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(failure?.reason == .conflict)
            #expect(try failure?.conflicts.map { try $0.models(of: Note.self).theirs?.title } == ["theirs"])
            let report = try await edits.save(.store, resolving: .mergeColumns)
            #expect(report.updated == 2)
            await store.close()
        }

        @Test("A row that a trigger ignores only counts as kept")
        func ignored() async throws {
            let store = try await open(
                """
                CREATE TRIGGER i BEFORE INSERT ON note WHEN new.title = 'no' BEGIN SELECT RAISE(IGNORE); END;
                CREATE TRIGGER u BEFORE UPDATE ON note WHEN new.title = 'no' BEGIN SELECT RAISE(IGNORE); END;
                CREATE TRIGGER d BEFORE DELETE ON note WHEN old.id = 12 BEGIN SELECT RAISE(IGNORE); END;
                """)
            let edits = try store.child("edit")
            try await edits.create(
                [Note(id: 13, title: "no", year: 0), Note(id: 14, title: "E", year: 0)], save: .pending)
            #expect(try await edits.save(.store) == SaveReport(inserted: 1, kept: 1))
            try await edits.update(Note.self, id: 11, save: .pending) { $0.title = "no" }
            try await edits.delete(Note.self, ids: [12], save: .pending)
            #expect(try await edits.save(.store) == SaveReport(kept: 2))
            #expect(try await store.fetch(Note.all).map(\.title) == ["A", "B", "E"])
            let notes = [Note(id: 15, title: "no", year: 0), Note(id: 16, title: "F", year: 0)]
            let report = try await store.importRows(of: Note.self, from: notes)
            #expect(report.inserted == 1 && report.ignored == 1)
            await store.close()
        }
    }
#endif
