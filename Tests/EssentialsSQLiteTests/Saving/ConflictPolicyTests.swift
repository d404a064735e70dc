#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Tests which policy decides a conflict, and which differences are changes.
    struct ConflictPolicyTests {
        /// A note whose model merges columns.
        struct Memo: PersistentModel, Hashable {
            var id: Int64
            var title: String
            var year: Int

            static let table = "memo"
            static let columns = Columns()
            static let conflictPolicy = ConflictPolicy.mergeColumns

            struct Columns: ModelColumns {
                let id = Column<Memo, Int64>("id")
                let title = Column<Memo, String>("title")
                let year = Column<Memo, Int>("year")
                var all: [ModelColumn<Memo>] { [id.erased, title.erased, year.erased] }
            }
        }

        private static let memos = Migration(
            "2 memos",
            sql: """
                CREATE TABLE memo(id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL COLLATE NOCASE,
                    year INTEGER NOT NULL) STRICT
                """)

        private func open(resolving: ConflictResolution? = nil) async throws -> SQLitePersistenceService {
            let store = SQLitePersistenceService(
                .temporary(models: [Memo.self, Note.self]), migrations: [Note.migration, Self.memos],
                resolving: resolving)
            try await store.create(Memo(id: 1, title: "a", year: 1), save: .store)
            try await store.create(Note(id: 1, title: "a", year: 1), save: .store)
            return store
        }

        private func conflicts(_ body: () async throws(PersistenceFailure) -> Void) async -> [Conflict] {
            do throws(PersistenceFailure) {
                try await body()
                return []
            } catch {
                #expect(error.reason == .conflict)
                return error.conflicts
            }
        }

        @Test("A save through several scopes names the conflicts of all levels, and a row in each of its conflicts")
        func allLevels() async throws {
            let store = try await open()
            try await store.create((2...4).map { Note(id: $0, title: "a", year: 1) }, save: .store)
            let edits = try store.child("edit")
            let inner = try edits.child("inner")
            for id in [1, 2] as [Int64] {
                try await inner.update(Note.self, id: id, save: .pending) { $0.title = "inner" }
                try await edits.update(Note.self, id: id, save: .pending) { $0.title = "edit" }
            }
            try await edits.update(Note.self, id: 3, save: .pending) { $0.title = "edit" }
            try await store.update(Note.self, id: 3, save: .pending) { $0.title = "root" }
            try await store.importRows(
                of: Note.self, from: ([2, 3, 4] as [Int64]).map { Note(id: $0, title: "file", year: 1) },
                onConflict: .replace)
            try await inner.update(Note.self, id: 4, save: .pending) { $0.title = "inner" }
            let found = await conflicts { () throws(PersistenceFailure) in _ = try await inner.save(.store) }
            let texts = Set(found.map { "\($0.id) \($0.mine?["title"] ?? .null) \($0.theirs?["title"] ?? .null)" })
            #expect(
                texts == [
                    "1 'inner' 'edit'", "2 'inner' 'edit'", "2 'edit' 'file'", "3 'edit' 'root'", "3 'root' 'file'",
                ])
            do throws(PersistenceFailure) {
                try await inner.save(.store)
            } catch {
                #expect(Set(error.ids) == [1, 2, 3] && error.ids.count == 3)
            }
            try await inner.save(.store, resolving: .mine)
            #expect(try await store.fetch(Note.all).map(\.title) == ["inner", "inner", "edit", "inner"])
            await store.close()
        }

        @Test("The policy of a model decides its conflicts if neither the save nor a scope has one, and only its own")
        func modelPolicy() async throws {
            let store = try await open()
            let edits = try store.child("edit")
            try await edits.update(Memo.self, id: 1, save: .pending) { $0.year = 2 }
            try await edits.update(Note.self, id: 1, save: .pending) { $0.year = 2 }
            try await store.update(Memo.self, id: 1, save: .store) { $0.title = "b" }
            try await store.update(Note.self, id: 1, save: .store) { $0.title = "b" }
            #expect(
                await conflicts { () throws(PersistenceFailure) in try await edits.save(.store) }.map(\.table) == [
                    "note"
                ])
            try await edits.discard(Note.self, ids: [1])
            #expect(try await edits.save(.store).updated == 1)
            #expect(try await store.fetch(Memo.all) == [Memo(id: 1, title: "b", year: 2)])
            await store.close()
        }

        @Test("The resolution of a save overrides that of a scope, which overrides the policy of the model")
        func order() async throws {
            let store = try await open(resolving: .fail)
            let edits = try store.child("edit")
            let theirs = try edits.child("theirs", resolving: .theirs)
            for scope in [edits, theirs] {
                try await scope.update(Memo.self, id: 1, save: .pending) { $0.year += 1 }
            }
            try await store.update(Memo.self, id: 1, save: .store) { $0.title = "b" }
            // The child inherits the resolution of the root scope.
            #expect(await conflicts { () throws(PersistenceFailure) in try await edits.save(.store) }.count == 1)
            #expect(try await theirs.validate().kept > 0)
            #expect(try await edits.save(.store, resolving: .mine).updated == 1)
            #expect(try await store.fetch(Memo.all) == [Memo(id: 1, title: "a", year: 2)])
            await store.close()
        }

        @Test("Under NOCASE, a change from a to A by others is a conflict, and one in the scope is written")
        func collation() async throws {
            let store = try await open()
            let edits = try store.child("edit", resolving: .fail)
            let deletes = try store.child("delete", resolving: .fail)
            try await edits.update(Memo.self, id: 1, save: .pending) { $0.year = 2 }
            try await deletes.delete(Memo.self, ids: [1], save: .pending)
            #expect(try await store.update(Memo.where { $0.title == "A" }, save: .store) { $0.title = "A" } == 1)
            #expect(try await store.fetch(Memo.all).map(\.title) == ["A"])
            for scope in [edits, deletes] {
                let found = await conflicts { () throws(PersistenceFailure) in try await scope.save(.store) }
                #expect(found.map(\.id) == [1])
                #expect(try found.first?.models(of: Memo.self).theirs?.title == "A")
            }
            // Both have changed the same column, to texts that are equal under the collation.
            try await edits.rollback()
            try await edits.update(Memo.self, id: 1, save: .pending) { $0.title = "B" }
            try await store.update(Memo.self, id: 1, save: .store) { $0.title = "b" }
            let found = await conflicts { () throws(PersistenceFailure) in
                try await edits.save(.store, resolving: .mergeColumns)
            }
            #expect(found.map(\.columns) == [["title"]])
            try await edits.save(.store, resolving: .mine)
            #expect(try await store.fetch(Memo.all).map(\.title) == ["B"])
            await store.close()
        }
    }
#endif
