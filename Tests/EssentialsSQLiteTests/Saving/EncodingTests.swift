#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// The conversion of a model's values to column values.
    @Suite(.timeLimit(.minutes(5)))
    struct EncodingTests {
        /// Words whose order has no meaning.
        struct Words: Codable, Sendable, Equatable {
            var list: [String]

            static func == (one: Words, other: Words) -> Bool { one.list.sorted() == other.list.sorted() }
        }

        /// A model that writes nothing for `nil`, as encodings of other formats do.
        struct Entry: PersistentModel {
            var id: Int64
            var title: String
            var note: String?
            var words: Words?

            static let table = "entry"
            static let columns: MappedColumns<Entry> =
                ["id": \.id, "title": \.title, "note": \.note, "words": \.words]

            enum CodingKeys: CodingKey { case id, title, note, words }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(id, forKey: .id)
                try container.encode(title, forKey: .title)
                if let note { try container.encode(note, forKey: .note) }
                if let words { try container.encode(words, forKey: .words) }
            }
        }

        private let store: SQLitePersistenceService

        init() {
            let settings = SQLiteStore.temporary(models: [Entry.self])
            let more = "ALTER TABLE entry ADD COLUMN outside TEXT DEFAULT 'kept';"
            store = SQLitePersistenceService(
                settings, migrations: [Migration("1", sql: settings.tableSQL + more)])
        }

        private func outside() async throws -> Int {
            try await store.count(Entry.where { _ in .sql("outside = 'kept'", []) })
        }

        @Test("A column that the model does not encode becomes NULL, and columns outside the model stay unchanged")
        func cleared() async throws {
            let entry = Entry(id: 1, title: "a", note: "b", words: Words(list: ["c"]))
            try await store.create(entry, save: .store)
            try await store.update(Entry.self, id: 1, save: .store) { $0.note = nil }
            #expect(try await store.find(Entry.self, id: 1)?.note == nil)
            #expect(try await store.find(Entry.self, id: 1)?.words != nil)
            var edited = entry
            edited.note = nil
            edited.words = nil
            try await store.put(edited, save: .store)
            #expect(try await store.find(Entry.self, id: 1)?.words == nil)
            try await store.update(edited, from: entry, save: .store, resolving: .mine)
            #expect(try await store.count(Entry.where { $0.note == nil }) == 1)
            #expect(try await outside() == 1)
            await store.close()
        }

        @Test("A nested value that equals the previous one is no change, whatever its text is")
        func equalValues() async throws {
            let entry = Entry(id: 1, title: "a", words: Words(list: ["a", "b"]))
            try await store.create(entry, save: .store)
            let edits = try store.child("edit")
            try await edits.update(Entry.self, id: 1, save: .pending) { $0.words = Words(list: ["b", "a"]) }
            var edited = entry
            edited.words = Words(list: ["b", "a"])
            try await edits.put(edited, save: .pending)
            try await edits.update(edited, from: entry, save: .pending)
            #expect(try await edits.validate() == SaveReport())
            try await edits.update(Entry.self, id: 1, save: .pending) { $0.words = Words(list: ["b"]) }
            #expect(try await edits.validate() == SaveReport(updated: 1))
            await store.close()
        }

        @Test("A value that cannot be stored is reported with its column and the id of its row")
        func unstorable() async throws {
            let entries = [Entry(id: 1, title: "a"), Entry(id: 2, title: "a\u{0}b")]
            do {
                try await store.create(entries, save: .store)
                Issue.record("The row was stored.")
            } catch {
                #expect(error.reason == .invalidModel && error.model == "entry" && error.ids == [2])
                #expect(error.message.contains("title"))
            }
            await store.close()
        }
    }
#endif
