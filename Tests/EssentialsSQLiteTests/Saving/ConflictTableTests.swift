#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// The result of each policy for each pair of changes, in the file.
    struct ConflictTableTests {
        enum Change: String, CaseIterable { case none, name, same, employer, delete, insert }

        /// A row of the table: the change in the scope, the change by others, and the final row for each policy. The
        /// result `nil` means a conflict.
        struct Case: CustomTestStringConvertible {
            let mine: Change
            let others: Change
            let results: [ConflictPolicy: String?]

            init(_ mine: Change, _ others: Change, fail: String?, mine own: String?, theirs: String?, merge: String?) {
                self.mine = mine
                self.others = others
                results = [.fail: fail, .mine: own, .theirs: theirs, .mergeColumns: merge]
            }

            var testDescription: String { "\(mine.rawValue) over \(others.rawValue)" }
        }

        static let cases = [
            Case(.name, .none, fail: "mine 0", mine: "mine 0", theirs: "mine 0", merge: "mine 0"),
            Case(.name, .employer, fail: nil, mine: "mine 0", theirs: "base 1", merge: "mine 1"),
            Case(.name, .name, fail: nil, mine: "mine 0", theirs: "others 0", merge: nil),
            Case(.name, .delete, fail: nil, mine: "mine 0", theirs: "gone", merge: nil),
            Case(.delete, .none, fail: "gone", mine: "gone", theirs: "gone", merge: "gone"),
            Case(.delete, .name, fail: nil, mine: "gone", theirs: "others 0", merge: nil),
            Case(.delete, .delete, fail: "gone", mine: "gone", theirs: "gone", merge: "gone"),
            Case(.insert, .insert, fail: nil, mine: "mine 0", theirs: "others 0", merge: nil),
            Case(.same, .same, fail: "same 0", mine: "same 0", theirs: "same 0", merge: "same 0"),
        ]

        private func make(_ change: Change, _ name: String, in service: any PersistenceService) async throws {
            let level = service.name.hasSuffix("edit") ? SaveLevel.pending : .store
            switch change {
            case .none: break
            case .name: try await service.update(Person.self, id: 1, save: level) { $0.name = name }
            case .same: try await service.update(Person.self, id: 1, save: level) { $0.name = "same" }
            case .employer: try await service.update(Person.self, id: 1, save: level) { $0.employer = 1 }
            case .delete: try await service.delete(Person.self, ids: [1], save: level)
            case .insert: try await service.create(Person(id: 1, name: name, employer: nil), save: level)
            }
        }

        @Test("A save decides each pair of changes by its policy", arguments: cases, ConflictPolicy.allCases)
        func decisions(_ pair: Case, _ policy: ConflictPolicy) async throws {
            let fixture = try StoreFixture()
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            if pair.mine != .insert {
                try await store.create(Person(id: 1, name: "base", employer: nil), save: .store)
            }
            let edits = try store.child("edit")
            try await make(pair.mine, "mine", in: edits)
            try await make(pair.others, "others", in: store)
            var isConflict = false
            do throws(PersistenceFailure) {
                try await edits.save(.store, resolving: .policy(policy))
            } catch {
                #expect(error.reason == .conflict)
                #expect(error.conflicts.map(\.id) == [1])
                isConflict = true
            }
            let row = try await store.find(Person.self, id: 1)
            let found = row.map { "\($0.name) \($0.employer ?? 0)" } ?? "gone"
            switch pair.results[policy] {
            case .some(.some(let expected)):
                #expect(!isConflict)
                #expect(found == expected)
                // No row is pending any more.
                #expect(try await edits.validate() == SaveReport())
            default:
                #expect(isConflict)
                #expect(try await edits.validate(resolving: .mine).written == 1)
            }
            await store.close()
        }

        @Test("A closure decides each conflict, with the three rows as models")
        func closures() async throws {
            let fixture = try StoreFixture()
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.create([1, 2, 3].map { Person(id: $0, name: "base", employer: nil) }, save: .store)
            let edits = try store.child("edit")
            try await edits.update(Person.all, save: .pending) { $0.name = "mine" }
            try await store.update(Person.all, save: .store) { $0.name = "theirs" }
            let resolution = ConflictResolution { conflict in
                guard case .integer(let id) = conflict.id else { return .fail }
                if id == 1 { return .mine }
                if id == 2 { return .theirs }
                let models = try conflict.models(of: Person.self)
                guard var both = models.theirs, let mine = models.mine else { return .fail }
                both.name += " and \(mine.name)"
                return try .model(both, for: conflict)
            }
            let report = try await edits.save(.store, resolving: resolution)
            #expect(report.updated == 2 && report.kept == 1)
            #expect(try await store.fetch(Person.all).map(\.name) == ["mine", "theirs", "theirs and mine"])
            await store.close()
        }

        @Test("All violations of a save are named, and the scope keeps its rows")
        func violations() async throws {
            let fixture = try StoreFixture()
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            let edits = try store.child("edit")
            try await edits.create([Company(id: 2, name: "Ufa"), Company(id: 3, name: "Nero")], save: .pending)
            try await edits.create(Person(id: 1, name: "Lil", employer: 9), save: .pending)
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The save has no error.")
            } catch {
                #expect(error.reason == .constraint)
                #expect(error.violations.contains { $0.kind == .unique && $0.table == "company" && $0.ids == [2] })
            }
            try await edits.discard(Company.self, ids: [2])
            do throws(PersistenceFailure) {
                try await edits.save(.store)
                Issue.record("The save has no error.")
            } catch {
                #expect(error.violations.map(\.kind) == [.foreignKey])
                #expect(error.violations.map(\.ids) == [[1]])
            }
            try await edits.update(Person.self, id: 1, save: .pending) { $0.employer = 3 }
            #expect(try await edits.save(.store) == SaveReport(inserted: 2))
            await store.close()
        }

        @Test("Deletions in a scope follow ON DELETE of the foreign keys, there and in the file")
        func deletions() async throws {
            let folder = try TemporaryFolder()
            let migration = Migration(
                "1",
                sql: """
                    CREATE TABLE company(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
                    CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                        employer INTEGER REFERENCES company(id) ON DELETE SET NULL) STRICT;
                    """)
            let store = SQLitePersistenceService(
                SQLiteStore(path: folder.file("s.sqlite"), models: [Person.self, Company.self]), migrations: [migration]
            )
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            try await store.create([1, 2].map { Person(id: $0, name: "P", employer: 1) }, save: .store)
            let edits = try store.child("edit")
            try await edits.delete(Company.all, save: .pending)
            #expect(try await edits.fetch(Person.all).allSatisfy { $0.employer == nil })
            #expect(try await store.fetch(Person.all).allSatisfy { $0.employer == 1 })
            try await store.create(Person(id: 3, name: "late", employer: 1), save: .store)
            let report = try await edits.save(.store)
            #expect(report.deleted == 1 && report.updated == 2 && report.cascaded == 1)
            #expect(try await store.fetch(Person.all).map(\.employer) == [nil, nil, nil])
            await store.close()
        }
    }
#endif
