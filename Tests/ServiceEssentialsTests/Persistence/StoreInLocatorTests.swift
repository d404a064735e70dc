#if Persistence
    import FoundationEssentials
    import ServiceEssentials
    import Testing

    private struct Note: PersistentModel {
        var id = ModelID<Note>()
        var text: String

        static let table = "note"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<Note, ModelID<Note>>("id")
            let text = Column<Note, String>("text")

            var all: [ModelColumn<Note>] { [id.erased, text.erased] }
        }
    }

    @Suite("A store in a locator", .timeLimit(.minutes(5)))
    struct StoreInLocatorTests {
        private static let migrations = [
            Migration("1 notes", sql: "CREATE TABLE note(id BLOB PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT")
        ]
        private let folder = TestFolder()

        private func application() throws -> ServiceLocator {
            let app = ServiceLocator(name: "app")
            let store = SQLiteStore(path: folder.path + "/notes.sqlite", models: [Note.self])
            try app.registerLazy((any PersistenceService).self) { _ in
                SQLitePersistenceService(store, migrations: Self.migrations)
            }
            return app
        }

        @Test("What a workflow saved is in the store; what it did not save is gone with its scope")
        func workflow() async throws {
            let app = try application()
            let store = try app.resolve((any PersistenceService).self)
            try await app.withScope("first") { workflow in
                let edits = try workflow.openPersistence()
                try await edits.create(Note(text: "kept"), save: .store)
                try await edits.create(Note(text: "lost"), save: .pending)
                #expect(try await edits.count(Note.all) == 2)
                #expect(try await store.count(Note.all) == 1)
            }
            #expect(try await store.fetch(Note.all).map(\.text) == ["kept"])
            await app.close()
            #expect(store.state == .closed)
        }

        @Test("Closing the locator closes the file, so that the next one opens it")
        func reopening() async throws {
            for round in 0..<3 {
                let app = try application()
                let store = try app.resolve((any PersistenceService).self)
                #expect(try await store.count(Note.all) == round)
                try await store.create(Note(text: "round \(round)"), save: .store)
                await app.close()
            }
        }

        @Test("A workflow whose task is cancelled leaves nothing in the store")
        func cancelled() async throws {
            let app = try application()
            let store = try app.resolve((any PersistenceService).self)
            let task = Task {
                try await app.withScope("cancelled") { workflow in
                    let edits = try workflow.openPersistence()
                    try await edits.create(Note(text: "lost"), save: .pending)
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await edits.save(.store)
                }
            }
            let error = await #expect(throws: PersistenceFailure.self) { try await task.value }
            #expect(error?.reason == .cancelled)
            #expect(try await store.count(Note.all) == 0)
            await app.close()
        }

        @Test("A test replaces the store by a double in a child locator")
        func override() async throws {
            let app = try application()
            let test = ServiceLocator(name: "test", parent: app)
            let double = SQLitePersistenceService(
                SQLiteStore(path: folder.path + "/double.sqlite", models: [Note.self]), migrations: Self.migrations)
            try test.register(double, as: (any PersistenceService).self)
            #expect(try test.resolve((any PersistenceService).self) === double)
            await test.close()
            #expect(double.state == .closed)
            await app.close()
        }
    }
#endif
