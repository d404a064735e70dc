#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// A key whose collation ignores case. Ids are still compared by their bytes.
    struct FoldedKeyTests {
        private let store = SQLitePersistenceService(
            .temporary(models: Library.models), migrations: [Library.migration])

        private func names(_ service: any PersistenceService) async throws -> [String] {
            try await service.fetch(Sticker.all).map { "\($0.id) \($0.name)" }.sorted()
        }

        private func failure(_ body: () async throws -> Void) async -> PersistenceFailure? {
            do {
                try await body()
                return nil
            } catch {
                return error as? PersistenceFailure
            }
        }

        @Test(
            "Another spelling of an id neither finds, changes, discards nor deletes the row",
            arguments: [SaveLevel.pending, .store])
        func otherSpellings(level: SaveLevel) async throws {
            try await store.create(Sticker(id: "Abc", name: "a"), save: level)
            for save in [SaveLevel.pending, .store] {
                #expect(try await store.delete(Sticker.self, ids: ["ABC", "abc"], missing: .ignore, save: save) == 0)
                #expect(try await store.delete([Sticker(id: "ABC", name: "")], missing: .ignore, save: save) == 0)
                #expect(
                    await failure { try await store.update(Sticker.self, id: "ABC", save: save) { $0.name = "b" } }?
                        .reason == .notFound)
            }
            #expect(try await store.find(Sticker.self, id: "ABC") == nil)
            #expect(try await store.fetch(Sticker.self, ids: ["abc", "Abc"], missing: .ignore).map(\.id) == ["Abc"])
            try await store.update(Sticker.self, id: "Abc", save: .pending) { $0.name = "b" }
            try await store.discard(Sticker.self, ids: ["ABC"])
            #expect(try await names(store) == ["Abc b"])
            await store.close()
        }

        @Test("Rows whose ids differ only in case can both be pending, but saving them violates the key")
        func bothSpellings() async throws {
            let edits = try store.child("edit")
            try await edits.create([Sticker(id: "Abc", name: "a"), Sticker(id: "ABC", name: "b")], save: .pending)
            #expect(try await names(edits) == ["ABC b", "Abc a"])
            #expect(try await edits.count(Sticker.all) == 2)
            #expect(try await edits.find(Sticker.self, id: "ABC")?.name == "b")
            // A filter follows the collation of its column.
            #expect(try await edits.count(Sticker.where { $0.id == "abc" }) == 2)
            let violations = await failure { try await edits.save(.store) }?.violations
            #expect(violations?.map(\.kind) == [.unique])
            try await edits.delete(Sticker.self, ids: ["Abc"], save: .pending)
            #expect(try await names(edits) == ["ABC b"])
            try await edits.save(.store)
            #expect(try await names(store) == ["ABC b"])
            await store.close()
        }

        @Test("A pending row hides only the stored row with the same bytes")
        func hiding() async throws {
            try await store.create([Sticker(id: "Abc", name: "a"), Sticker(id: "x", name: "x")], save: .store)
            let edits = try store.child("edit")
            try await edits.put(Sticker(id: "ABC", name: "b"), save: .pending)
            #expect(try await names(edits) == ["ABC b", "Abc a", "x x"])
            #expect(try await edits.count(Sticker.all) == 3)
            #expect(try await edits.count(Sticker.where { $0.name < "x" }) == 2)
            #expect(try await edits.count(Sticker.where { $0.id == "abc" }) == 2)
            #expect(await failure { try await edits.save(.store) }?.violations.map(\.kind) == [.unique])
            // The spelling of an id is changed by a deletion and a new row.
            try await edits.delete(Sticker.self, ids: ["Abc"], save: .pending)
            #expect(try await names(edits) == ["ABC b", "x x"])
            #expect(try await edits.count(Sticker.all) == 2)
            try await edits.save(.store)
            #expect(try await names(store) == ["ABC b", "x x"])
            await store.close()
        }

        @Test("An observer by ids is notified of the row with its bytes")
        func observing() async throws {
            try await store.create(Sticker(id: "Abc", name: "a"), save: .store)
            var states = store.observe(Sticker.self, ids: ["ABC", "Abc"]).makeAsyncIterator()
            #expect(try await states.next()?.map(\.id) == ["Abc"])
            try await store.create(Sticker(id: "ABC", name: "b"), save: .pending)
            #expect(try await states.next()?.map(\.id) == ["ABC", "Abc"])
            try await store.delete(Sticker.self, ids: ["Abc"], save: .store)
            #expect(try await states.next()?.map(\.id) == ["ABC"])
            await store.close()
        }
    }
#endif
