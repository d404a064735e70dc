#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Rows that `ON DELETE` deletes, or would delete, while a save moves them to another parent.
    @Suite(.timeLimit(.minutes(5)))
    struct TakenRowTests {
        struct User: PersistentModel, Hashable {
            var id: Int64

            static let table = "user"
            static let columns: MappedColumns<User> = ["id": \.id]
        }

        struct Profile: PersistentModel, Hashable {
            var id: Int64
            var user: Int64
            var place: Int64 = 1

            static let table = "profile"
            static let columns: MappedColumns<Profile> = ["id": \.id, "user": \.user, "place": \.place]
        }

        struct Photo: PersistentModel, Hashable {
            var id: Int64
            var profile: Int64?

            static let table = "photo"
            static let columns: MappedColumns<Photo> = ["id": \.id, "profile": \.profile]
        }

        private func open(
            unique: String, photos: String = "CASCADE", _ profiles: [Profile]
        ) async throws -> SQLitePersistenceService {
            let migration = Migration(
                "1",
                sql: """
                    CREATE TABLE user(id INTEGER PRIMARY KEY NOT NULL) STRICT;
                    CREATE TABLE profile(id INTEGER PRIMARY KEY NOT NULL,
                        user INTEGER NOT NULL REFERENCES user(id) ON DELETE CASCADE, place INTEGER NOT NULL,
                        UNIQUE(\(unique))) STRICT;
                    CREATE TABLE photo(id INTEGER PRIMARY KEY NOT NULL,
                        profile INTEGER REFERENCES profile(id) ON DELETE \(photos)) STRICT;
                    """)
            let store = SQLitePersistenceService(
                .temporary(models: [User.self, Profile.self, Photo.self]), migrations: [migration])
            try await store.create([User(id: 1), User(id: 2)], save: .store)
            try await store.create(profiles, save: .store)
            try await store.create(profiles.map { Photo(id: $0.id * 10, profile: $0.id) }, save: .store)
            return store
        }

        @Test(
            "A row that takes the place of a deleted one is moved before its old parent is deleted",
            arguments: ["CASCADE", "SET NULL"])
        func merged(photos: String) async throws {
            let store = try await open(
                unique: "user", photos: photos, [Profile(id: 10, user: 1), Profile(id: 20, user: 2)])
            let edits = try store.child("edit")
            try await edits.delete(Profile.self, ids: [20], save: .pending)
            try await edits.update(Profile.self, id: 10, save: .pending) { $0.user = 2 }
            try await edits.delete(User.self, ids: [1], save: .pending)
            let shown = try await edits.fetch(Photo.all)
            try await edits.save(.store)
            #expect(try await store.fetch(Profile.all) == [Profile(id: 10, user: 2)])
            #expect(try await store.fetch(Photo.all) == shown)
            #expect(shown.contains(Photo(id: 100, profile: 10)))
            await store.close()
        }

        @Test("A row that takes the place of a moving one is moved before its old list is deleted")
        func places() async throws {
            let store = try await open(
                unique: "user, place", [Profile(id: 10, user: 1), Profile(id: 20, user: 2)])
            let edits = try store.child("edit")
            try await edits.update(Profile.self, id: 20, save: .pending) { $0.place = 2 }
            try await edits.update(Profile.self, id: 10, save: .pending) { $0.user = 2 }
            try await edits.delete(User.self, ids: [1], save: .pending)
            let shown = try await edits.fetch(Photo.all)
            try await edits.save(.store)
            #expect(try await store.fetch(Profile.all).map(\.place) == [1, 2])
            #expect(try await store.fetch(Photo.all) == shown && shown.count == 2)
            await store.close()
        }

        @Test(
            "A row that cannot move before its parent is deleted fails the save, even if the deletion frees its place"
        )
        func stays() async throws {
            let store = try await open(unique: "place", [Profile(id: 10, user: 1)])
            let edits = try store.child("edit")
            try await edits.update(Profile.self, id: 10, save: .pending) { ($0.user, $0.place) = (2, 5) }
            try await edits.delete(User.self, ids: [1], save: .pending)
            // `ON DELETE` deletes this row too. The place is then free, but the photo of the first row is gone.
            try await store.create(Profile(id: 30, user: 1, place: 5), save: .store)
            let shown = try await edits.fetch(Photo.all)
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(
                failure?.violations == [
                    ConstraintViolation(
                        .foreignKey, table: "profile", columns: ["user"], parent: "user", ids: [10])
                ])
            #expect(try await store.fetch(Photo.all) == shown && shown == [Photo(id: 100, profile: 10)])
            await store.close()
        }

        @Test("If another row keeps the new value of a row, the save fails, and its old parent and children stay")
        func taken() async throws {
            let store = try await open(
                unique: "user", [Profile(id: 10, user: 1), Profile(id: 20, user: 2)])
            let edits = try store.child("edit")
            try await edits.update(Profile.self, id: 10, save: .pending) { $0.user = 2 }
            try await edits.delete(User.self, ids: [1], save: .pending)
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(failure?.reason == .constraint && failure?.ids.contains(10) == true)
            #expect(try await store.count(Photo.all) == 2)
            await store.close()
        }

        @Test("A row that refers by two columns is moved before its old parent is deleted")
        func twoColumns() async throws {
            let migration = Migration(
                "1",
                sql: """
                    CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT, UNIQUE(name, other)) STRICT;
                    CREATE TABLE tag(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT,
                        FOREIGN KEY (name, other) REFERENCES label(name, other) ON DELETE CASCADE) STRICT;
                    CREATE TABLE photo(id INTEGER PRIMARY KEY NOT NULL,
                        profile INTEGER REFERENCES tag(id) ON DELETE CASCADE) STRICT;
                    """)
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self, Tag.self, Photo.self]), migrations: [migration])
            try await store.create(
                [Label(id: 1, name: "a", other: "a"), Label(id: 2, name: "b", other: "b")], save: .store)
            try await store.create(Tag(id: 5, name: "a", other: "a"), save: .store)
            try await store.create(Photo(id: 50, profile: 5), save: .store)
            let edits = try store.child("edit")
            try await edits.update(Tag.self, id: 5, save: .pending) { ($0.name, $0.other) = ("b", "b") }
            try await edits.delete(Label.self, ids: [1], save: .pending)
            try await edits.save(.store)
            #expect(try await store.fetch(Tag.all) == [Tag(id: 5, name: "b", other: "b")])
            #expect(try await store.fetch(Photo.all) == [Photo(id: 50, profile: 5)])
            await store.close()
        }

        @Test(
            "A reference to a value that another row takes over stays, or the save fails if its row is gone",
            arguments: ["SET NULL", "CASCADE"])
        func takenOver(action: String) async throws {
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT UNIQUE, other TEXT) STRICT;
                CREATE TABLE tag(id INTEGER PRIMARY KEY NOT NULL, other TEXT,
                    name TEXT REFERENCES label(name) ON DELETE \(action)) STRICT;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self, Tag.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Label(id: 1, name: "a"), Label(id: 2, name: "b")], save: .store)
            try await store.create(Tag(id: 9, name: "a"), save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Label.self, ids: [1], save: .pending)
            try await edits.update(Label.self, id: 2, save: .pending) { $0.name = "a" }
            try await edits.put(Tag(id: 9, name: "a"), save: .pending)
            if action == "SET NULL" {
                try await edits.save(.store)
                #expect(try await store.fetch(Tag.all) == [Tag(id: 9, name: "a")])
            } else {
                let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
                #expect(failure?.violations.map(\.ids) == [[9]])
                #expect(try await store.fetch(Tag.all) == [Tag(id: 9, name: "a")])
            }
            await store.close()
        }

        @Test(
            "If a trigger prevents a reference from being written again, the save fails as for any other row",
            arguments: ["RAISE(ABORT, 'no such tag')", "RAISE(IGNORE)"])
        func refused(raise: String) async throws {
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT UNIQUE, other TEXT) STRICT;
                CREATE TABLE tag(id INTEGER PRIMARY KEY NOT NULL, other TEXT,
                    name TEXT REFERENCES label(name) ON DELETE SET NULL) STRICT;
                CREATE TRIGGER guard BEFORE UPDATE ON tag WHEN new.name = 'a' BEGIN SELECT \(raise); END;
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self, Tag.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Label(id: 1, name: "a"), Label(id: 2, name: "b")], save: .store)
            try await store.create(Tag(id: 9, name: "a"), save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Label.self, ids: [1], save: .pending)
            try await edits.update(Label.self, id: 2, save: .pending) { $0.name = "a" }
            try await edits.put(Tag(id: 9, name: "a"), save: .pending)
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(failure?.reason == .constraint && failure?.remedy != nil && failure?.model == "tag")
            let expected =
                raise == "RAISE(IGNORE)"
                ? ConstraintViolation(.foreignKey, table: "tag", columns: ["name"], parent: "label", ids: [9])
                : ConstraintViolation(.trigger, table: "tag", name: "no such tag", ids: [9])
            #expect(failure?.violations == [expected])
            #expect(try await store.fetch(Tag.all) == [Tag(id: 9, name: "a")])
            await store.close()
        }

        @Test("A row violates its foreign key if it refers to a row of others that the save also deletes")
        func others() async throws {
            let store = try await open(unique: "user, place", [Profile(id: 10, user: 2)])
            let edits = try store.child("edit")
            try await edits.delete(User.self, ids: [1], save: .pending)
            try await store.create(Profile(id: 30, user: 1), save: .store)
            try await edits.update(Photo.self, id: 100, save: .pending) { $0.profile = 30 }
            let failure = await #expect(throws: PersistenceFailure.self) { try await edits.save(.store) }
            #expect(
                failure?.violations == [
                    ConstraintViolation(
                        .foreignKey, table: "photo", columns: ["profile"], parent: "profile", ids: [100])
                ])
            #expect(try await store.find(Photo.self, id: 100)?.profile == 10)
            await store.close()
        }

        @Test("A row that was reset stays pending only while rows of its parent's table are deleted")
        func setBack() async throws {
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT UNIQUE,
                    other TEXT REFERENCES label(name) ON DELETE SET NULL) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self]), migrations: [Migration("1", sql: sql)])
            try await store.create([Label(id: 1, name: "a"), Label(id: 2, name: "b", other: "a")], save: .store)
            let edits = try store.child("edit")
            try await edits.update(Label.self, id: 2, save: .pending) { $0.name = "c" }
            try await edits.update(Label.self, id: 2, save: .pending) { $0.name = "b" }
            // It is no longer pending, so the scope sees the changes of others.
            try await store.update(Label.self, id: 2, save: .store) { $0.name = "d" }
            #expect(try await edits.find(Label.self, id: 2)?.name == "d")
            await store.close()
        }
    }
#endif
