#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import Testing

    @testable import EssentialsSQLite

    /// Unchanged dates and nested values: they cause no conflict, and keep the bytes that SQL has written.
    struct UnchangedValueTests {
        private let store: SQLitePersistenceService
        private let edits: any PersistenceService
        private let bytes: [StoredValue]

        init() async throws {
            store = Showing.service()
            try await store.ready()
            edits = try store.child("edit", resolving: .fail)
            bytes = try #require(try store.values(of: Showing.written))
        }

        /// The stored bytes with some columns changed.
        private func bytes(_ changes: [String: StoredValue]) -> [StoredValue] {
            zip(Showing.names, bytes).map { changes[$0] ?? $1 }
        }

        @Test("A row written by SQL is read with its date to the millisecond and its nested values")
        func reading() async throws {
            let showing = try #require(try await store.find(Showing.self, id: Showing.written))
            #expect(showing.begin == Date(timeIntervalSince1970: 1_795_539_900.123))
            #expect(showing.end == Date(timeIntervalSince1970: 1_795_478_400))
            #expect(showing.hall == Showing.Hall(name: "A/B", seats: ["a": 2, "b": 1]))
            #expect(showing.tags == ["x"])
            await store.close()
        }

        @Test("A change of one column leaves all others unchanged byte for byte, in the scope and in the file")
        func update() async throws {
            try await edits.update(Showing.self, id: Showing.written, save: .pending) { $0.title = "M 2" }
            let id = try #require(Showing.written.storedValue)
            let pending = try #require(edits.rowsAtHand(of: "showing", ids: [id]))
            #expect(try pending.rows(of: "showing", ids: [id])[id]?.values == bytes(["title": "M 2"]))
            #expect(try await edits.save(.store) == SaveReport(updated: 1))
            #expect(try store.values(of: Showing.written) == bytes(["title": "M 2"]))
            await store.close()
        }

        @Test("Setting values to equal ones is no change")
        func sameMeaning() async throws {
            try await edits.update(Showing.all, save: .pending) { showing in
                // Finer fractions than milliseconds are not stored.
                showing.begin = Date(timeIntervalSince1970: 1_795_539_900.1233)
                showing.end = Date(timeIntervalSince1970: 1_795_478_400.0004)
                showing.hall = Showing.Hall(name: "A/B", seats: ["b": 1, "a": 2])
                showing.tags = ["x"]
            }
            #expect(try await edits.validate() == SaveReport())
            let id = try #require(Showing.written.storedValue)
            #expect(edits.rowsAtHand(of: "showing", ids: [id]) == nil)
            await store.close()
        }

        @Test("A changed date or nested value is stored in the usual form, and the other one keeps its bytes")
        func changes() async throws {
            try await edits.update(Showing.self, id: Showing.written, save: .store) { $0.begin += 60 }
            #expect(try store.values(of: Showing.written) == bytes(["begin": "2026-11-24 17:06:00.123"]))
            try await edits.update(Showing.self, id: Showing.written, save: .store) { $0.hall.seats["a"] = 3 }
            #expect(
                try store.values(of: Showing.written)
                    == bytes([
                        "begin": "2026-11-24 17:06:00.123", "hall": #"{"name":"A/B","seats":{"a":3,"b":1}}"#,
                    ]))
            await store.close()
        }

        @Test("An edit of a shown value conflicts with a changed meaning, but not with other bytes of the same meaning")
        func edit() async throws {
            let shown = try #require(try await edits.find(Showing.self, id: Showing.written))
            var edited = shown
            edited.title = "M 2"
            // Others have written the same meaning in other bytes meanwhile.
            try store.execute(
                """
                UPDATE showing SET begin = '2026-11-24 17:05:00.1230001', tags = '["x"]',
                    hall = '{"name": "A\\/B", "seats": {"a":2,"b":1}}'
                """)
            let now = try #require(try store.values(of: Showing.written))
            #expect(now != bytes)
            try await edits.update(edited, from: shown, save: .store)
            let expected = zip(Showing.names, now).map { $0 == "title" ? "M 2" : $1 }
            #expect(try store.values(of: Showing.written) == expected)
            // Another millisecond is another value.
            let (again, edit) = (
                edited,
                {
                    var edit = edited; edit.title = "M 3"; return edit
                }()
            )
            try store.execute("UPDATE showing SET begin = '2026-11-24 17:05:00.124'")
            do throws(PersistenceFailure) {
                try await edits.update(edit, from: again, save: .store)
                Issue.record("The edit has no conflict.")
            } catch {
                #expect(error.reason == .conflict)
                #expect(error.conflicts.first?.columns == [])
            }
            await store.close()
        }

        @Test(
            "Putting a value as it was fetched changes nothing, and does not conflict with later changes of others")
        func put() async throws {
            let fetched = try await edits.fetch(Showing.all)
            try await edits.put(fetched, save: .pending)
            #expect(try await edits.validate() == SaveReport())
            try store.execute("UPDATE showing SET begin = '2026-11-25'")
            #expect(try await edits.save(.store) == SaveReport())
            // One changed column is the only one that is written.
            var changed = try #require(try await edits.find(Showing.self, id: Showing.written))
            changed.tags = nil
            try await edits.put(changed, save: .store)
            #expect(try store.values(of: Showing.written) == bytes(["begin": "2026-11-25", "tags": nil]))
            // A row that no longer decodes as a model is replaced as a whole.
            try store.execute("UPDATE showing SET begin = 'soon', hall = '{'")
            try await edits.put(changed, save: .store)
            #expect(try await edits.fetch(Showing.all) == [changed])
            await store.close()
        }

        @Test("Two scopes that change different columns are merged, whatever the bytes of the other columns are")
        func merging() async throws {
            let other = try store.child("other")
            try await edits.update(Showing.self, id: Showing.written, save: .pending) { $0.title = "M 2" }
            try await other.update(Showing.self, id: Showing.written, save: .pending) { $0.hall.name = "C" }
            try await other.save(.store)
            try await edits.save(.store, resolving: .mergeColumns)
            let hall: StoredValue = #"{"name":"C","seats":{"a":2,"b":1}}"#
            #expect(try store.values(of: Showing.written) == bytes(["title": "M 2", "hall": hall]))
            await store.close()
        }

        @Test("With the policy mine, a row that others have deleted is inserted again with all its columns and bytes")
        func mineOverDeleted() async throws {
            try await edits.update(Showing.self, id: Showing.written, save: .pending) { $0.title = "M 2" }
            #expect(try await store.delete(Showing.all, save: .store) == 1)
            #expect(try store.values(of: Showing.written) == nil)
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The save has no conflict.")
            } catch {
                #expect(error.reason == .conflict && error.conflicts.map(\.change) == [.update])
                let models = try? error.conflicts.first?.models(of: Showing.self)
                #expect(models?.base?.title == "M" && models?.mine?.title == "M 2" && models?.theirs == nil)
            }
            #expect(try await edits.save(.store, resolving: .mine) == SaveReport(inserted: 1))
            #expect(try store.values(of: Showing.written) == bytes(["title": "M 2"]))
            await store.close()
        }

        @Test("With the policy mine, a row that others have changed gets all columns of the scope")
        func mineOverChanged() async throws {
            try await edits.update(Showing.self, id: Showing.written, save: .pending) { $0.title = "M 2" }
            try store.execute(
                "UPDATE showing SET title = 'N', begin = '2027-01-01', hall = '{}', remark = 'theirs', tags = NULL")
            #expect(try await edits.save(.store, resolving: .mine) == SaveReport(updated: 1))
            #expect(try store.values(of: Showing.written) == bytes(["title": "M 2"]))
            await store.close()
        }

        @Test("With the policy mine, a row that others have inserted too is replaced as a whole")
        func mineOverInserted() async throws {
            let (id, begin) = (UUID(), Date(timeIntervalSince1970: 0))
            let mine = Showing(id: id, title: "mine", begin: begin, hall: Showing.Hall(name: "1", seats: [:]))
            let theirs = Showing(
                id: id, title: "theirs", begin: begin + 1, end: begin, hall: Showing.Hall(name: "2", seats: ["a": 1]),
                tags: ["t"])
            try await edits.create(mine, save: .pending)
            try await store.create(theirs, save: .store)
            #expect(try await edits.save(.store, resolving: .mine) == SaveReport(updated: 1))
            #expect(try await store.find(Showing.self, id: id) == mine)
            // The column outside the model is unchanged.
            #expect(try store.values(of: id)?[5] == "none")
            await store.close()
        }

        @Test("A row that a scope deletes and creates again is saved, and keeps its column outside the model")
        func recreation() async throws {
            let shown = try #require(try await edits.find(Showing.self, id: Showing.written))
            let inner = try edits.child("inner")
            for (number, (first, second)) in [(edits, edits), (edits, inner)].enumerated() {
                var new = shown
                new.title = "new \(number)"
                try await first.delete(Showing.all, save: .pending)
                try await second.create(new, save: .pending)
                #expect(try await second.save(.store) == SaveReport(updated: 1))
                #expect(try await store.fetch(Showing.all) == [new])
                #expect(try store.values(of: Showing.written)?[5] == "by hand")
            }
            // Creating the same row again is no change, but still a conflict if others have deleted it.
            let now = try await edits.fetch(Showing.all)
            try await edits.delete(Showing.all, save: .pending)
            try await edits.create(now, save: .pending)
            try await edits.validate()
            #expect(try await store.delete(Showing.all, save: .store) == 1)
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The save has no conflict.")
            } catch {
                #expect(error.reason == .conflict)
            }
            try await edits.save(.store, resolving: .mine)
            #expect(try await store.fetch(Showing.all) == now)
            #expect(try store.values(of: Showing.written)?[5] == "none")
            await store.close()
        }
    }
#endif
