#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    /// A company with a column that ``Company`` lacks.
    private struct CompanyWithNote: PersistentModel, Hashable {
        var id: Int64
        var name: String
        var note: String?

        static let table = "company"
        static let columns = Columns()

        struct Columns: ModelColumns {
            let id = Column<CompanyWithNote, Int64>("id")
            let name = Column<CompanyWithNote, String>("name")
            let note = Column<CompanyWithNote, String?>("note")
            var all: [ModelColumn<CompanyWithNote>] { [id.erased, name.erased, note.erased] }
        }
    }

    /// Imports and reserved ids over a real file.
    struct ImportTests {
        private let fixture: StoreFixture
        private let store: SQLitePersistenceService

        init() throws {
            fixture = try StoreFixture()
            store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first])
        }

        private func companies(_ ids: some Sequence<Int64>) -> [Company] {
            ids.map { Company(id: $0, name: "Company \($0)") }
        }

        private func failure(_ body: () async throws -> Void) async -> PersistenceFailure? {
            do {
                try await body()
                return nil
            } catch {
                return error as? PersistenceFailure
            }
        }

        @Test("An import writes into the store in batches, and observers are called once for each")
        func batches() async throws {
            let (changes, continuation) = AsyncStream<PersistenceChange>.makeStream()
            let observation = try store.observeChanges { continuation.yield($0) }
            let report = try await store.importRows(of: Company.self, from: companies(1...25), batch: 10)
            #expect(report.batches == 3 && report.inserted == 25 && report.rows == 25)
            let edits = try store.child("edit")
            let stream = AsyncStream { continuation in
                for company in companies(26...30) { continuation.yield(company) }
                continuation.finish()
            }
            #expect(try await edits.importRows(of: Company.self, from: stream).batches == 1)
            #expect(try await store.count(Company.all) == 30)
            // No row is pending.
            #expect(try await edits.validate() == SaveReport())
            var sizes: [Int] = []
            for await change in changes {
                guard case .ids(let ids)? = change.tables["company"] else { continue }
                sizes.append(ids.count)
                if sizes.count == 4 { break }
            }
            #expect(sizes == [10, 10, 5, 5])
            #expect(try await store.importRows(of: Company.self, from: []) == ImportReport())
            observation.cancel()
            await store.close()
        }

        @Test("Existing rows fail an import, stay, or are replaced, as the import says")
        func conflicts() async throws {
            try await store.create([Company(id: 1, name: "Ufa"), Company(id: 2, name: "Nero")], save: .store)
            let new = [Company(id: 1, name: "Tobis"), Company(id: 3, name: "Terra")]
            let failure = await failure { try await store.importRows(of: Company.self, from: new) }
            #expect(failure?.reason == .constraint)
            #expect(failure?.ids == [1])
            #expect(failure?.violations.map(\.kind) == [.unique])
            #expect(try await store.count(Company.all) == 2)
            let ignored = try await store.importRows(of: Company.self, from: new, onConflict: .ignore)
            #expect(ignored.inserted == 1 && ignored.ignored == 1)
            #expect(try await store.fetch(Company.all).map(\.name) == ["Ufa", "Nero", "Terra"])
            let replaced = try await store.importRows(of: Company.self, from: new, onConflict: .replace)
            #expect(replaced.replaced == 2 && replaced.inserted == 0)
            #expect(try await store.fetch(Company.all).map(\.name) == ["Tobis", "Nero", "Terra"])
            // If two models have the same id, the last one counts.
            let twice = [Company(id: 9, name: "A"), Company(id: 9, name: "B")]
            try await store.importRows(of: Company.self, from: twice, onConflict: .replace)
            #expect(try await store.find(Company.self, id: 9)?.name == "B")
            await store.close()
        }

        @Test("A replaced row keeps its columns outside the model, and the rows that refer to it")
        func outside() async throws {
            await store.close()
            let more = Migration("2 notes", sql: "ALTER TABLE company ADD COLUMN note TEXT")
            let store = SQLitePersistenceService(fixture.store, migrations: [StoreFixture.first, more])
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            try await store.create(Person(id: 1, name: "Fritz", employer: 1), save: .store)
            let database = try store.core.openStore().database
            try database.write { try $0.execute(sql: "UPDATE company SET note = 'kept'") }
            try await store.importRows(of: Company.self, from: [Company(id: 1, name: "Tobis")], onConflict: .replace)
            let sql = "SELECT note FROM company WHERE name = 'Tobis'"
            let note = try database.read { try String.fetchOne($0, sql: sql) }
            #expect(note == "kept")
            #expect(try await store.find(Person.self, id: 1)?.employer == 1)
            await store.close()
        }

        @Test(
            "If a table has two models, each imports and creates rows with its own columns", arguments: [false, true])
        func twoModels(isWideFirst: Bool) async throws {
            await store.close()
            let models: [any PersistentModel.Type] = [Company.self, CompanyWithNote.self]
            let description = SQLiteStore(path: fixture.path, models: isWideFirst ? models.reversed() : models)
            let more = Migration("2 notes", sql: "ALTER TABLE company ADD COLUMN note TEXT DEFAULT 'none'")
            let store = SQLitePersistenceService(description, migrations: [StoreFixture.first, more])
            let noted = [
                CompanyWithNote(id: 1, name: "Ufa", note: "large"), CompanyWithNote(id: 2, name: "Decla", note: nil),
            ]
            try await store.importRows(of: CompanyWithNote.self, from: noted)
            try await store.importRows(of: Company.self, from: [Company(id: 3, name: "Tobis")])
            try await store.importRows(of: Company.self, from: [Company(id: 1, name: "UFA")], onConflict: .replace)
            try await store.create(CompanyWithNote(id: 4, name: "Nero", note: nil), save: .store)
            try await store.update(Company.self, id: 4, save: .store) { $0.name = "Nero-Film" }
            #expect(try await store.fetch(CompanyWithNote.all).map(\.note) == ["large", nil, "none", nil])
            #expect(try await store.fetch(Company.all).map(\.name) == ["UFA", "Decla", "Tobis", "Nero-Film"])
            await store.close()
        }

        @Test("A unique value of another row, or a missing parent, always fails a batch and names the rows")
        func violations() async throws {
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            let failure = await failure {
                try await store.importRows(of: Company.self, from: [Company(id: 2, name: "Ufa")], onConflict: .replace)
            }
            #expect(failure?.violations.first?.columns == ["name"])
            #expect(failure?.ids == [2])
            let ignored = try await store.importRows(
                of: Company.self, from: [Company(id: 2, name: "Ufa")], onConflict: .ignore)
            #expect(ignored.ignored == 1)
            for conflict in ImportConflict.allCases {
                let persons = [Person(id: 1, name: "Fritz", employer: 1), Person(id: 2, name: "Thea", employer: 7)]
                let failure = await self.failure {
                    try await store.importRows(of: Person.self, from: persons, onConflict: conflict)
                }
                #expect(failure?.violations.map(\.kind) == [.foreignKey])
                #expect(failure?.violations.first?.parent == "company")
                #expect(failure?.ids == [2])
            }
            #expect(try await store.count(Person.all) == 0)
            await store.close()
        }

        @Test("A failed import reports the stored batches, and the next one can continue after them")
        func continuing() async throws {
            struct Torn: Error {}
            let models = companies(1...20) + [Company(id: 21, name: "Company 1")] + companies(22...30)
            let failure = await failure { try await store.importRows(of: Company.self, from: models, batch: 7) }
            #expect(failure?.reason == .constraint)
            #expect(failure?.imported?.batches == 2)
            #expect(failure?.imported?.rows == 14)
            #expect(try await store.count(Company.all) == 14)
            let rest = models.dropFirst(failure?.imported?.rows ?? 0).filter { $0.id != 21 }
            try await store.importRows(of: Company.self, from: rest, batch: 7)
            #expect(try await store.count(Company.all) == 29)
            let torn = AsyncThrowingStream<Company, any Error> { continuation in
                for company in companies(40...45) { continuation.yield(company) }
                continuation.finish(throwing: Torn())
            }
            let other = await self.failure { try await store.importRows(of: Company.self, from: torn, batch: 4) }
            #expect(other?.reason == .work)
            #expect(other?.underlying is Torn)
            #expect(other?.imported?.rows == 4)
            #expect(try await store.count(Company.all) == 33)
            for size in [0, 100_001] {
                let failure = await self.failure {
                    try await store.importRows(of: Company.self, from: companies(50...50), batch: size)
                }
                #expect(failure?.reason == .limit)
            }
            await store.close()
        }

        @Test("An import that is cancelled between two batches keeps the earlier batches", .timeLimit(.minutes(5)))
        func cancelled() async throws {
            let store = store
            let models = companies(1...20)
            let failure = await Task { () -> PersistenceFailure? in
                await self.failure {
                    let source = models.lazy.map { model in
                        if model.id == 12 { withUnsafeCurrentTask { $0?.cancel() } }
                        return model
                    }
                    try await store.importRows(of: Company.self, from: source, batch: 5)
                }
            }.value
            #expect(failure?.reason == .cancelled)
            #expect(failure?.imported?.batches == 2)
            #expect(try await store.count(Company.all) == 10)
            await store.close()
        }

        @Test("A row that is pending in a scope stays pending, and its save meets the imported row")
        func pending() async throws {
            try await store.create(Company(id: 1, name: "Ufa"), save: .store)
            let edits = try store.child("edit")
            try await edits.update(Company.self, id: 1, save: .pending) { $0.name = "Universum" }
            try await store.importRows(of: Company.self, from: [Company(id: 1, name: "Tobis")], onConflict: .replace)
            #expect(try await edits.find(Company.self, id: 1)?.name == "Universum")
            #expect(await failure { try await edits.save(.store) }?.reason == .conflict)
            await store.close()
        }

        @Test("An import is also a call with a handler, and its value is the report")
        func handlers() async throws {
            let (store, models) = (store, companies(1...3))
            try await store.ready()
            let result = await withCheckedContinuation { continuation in
                store.start(.importRows(models)) { continuation.resume(returning: $0) }
            }
            #expect(try result.get().inserted == 3)
            await store.close()
        }

        @Test("Models are deleted by their values, and missing ones fail the call or are ignored")
        func deletions() async throws {
            try await store.create(companies(1...4), save: .store)
            let models = companies([1, 2, 2, 7])
            let failure = await failure { try await store.delete(models, save: .store) }
            #expect(failure?.reason == .notFound)
            #expect(failure?.ids == [7])
            #expect(try await store.count(Company.all) == 4)
            #expect(try await store.delete(models, missing: .ignore, save: .store) == 2)
            #expect(try await store.fetch(Company.all).map(\.id) == [3, 4])
            #expect(try await store.delete([] as [Company], save: .store) == 0)
            await store.close()
        }

        // MARK: Reserved ids

        @Test("Reserved ids are greater than all in the table, and no two reservations share an id")
        func reserving() async throws {
            try await store.create(Company(id: 41, name: "Ufa"), save: .store)
            #expect(try await store.reserveIDs(for: Company.self, count: 3) == 42..<45)
            #expect(try await store.reserveIDs(for: Company.self, count: 0).isEmpty)
            #expect(try await store.reserveIDs(for: Person.self, count: 2) == 1..<3)
            // An id that was chosen meanwhile is skipped.
            try await store.create(Company(id: 50, name: "Nero"), save: .store)
            #expect(try await store.reserveIDs(for: Company.self, count: 1) == 51..<52)
            let edits = try store.child("edit")
            let ids = try await withThrowingTaskGroup(of: Range<Int64>.self) { group in
                for number in 0..<40 {
                    let scope: any PersistenceService = number % 2 == 0 ? edits : store
                    group.addTask { try await scope.reserveIDs(for: Person.self, count: number % 5 + 1) }
                }
                return try await group.reduce(into: []) { $0 += Array($1) }
            }
            #expect(ids.count == 120 && Set(ids).count == 120 && ids.min() == 3)
            let failure = await failure { _ = try await store.reserveIDs(for: Person.self, count: -1) }
            #expect(failure?.reason == .invalidQuery)
            await store.close()
        }

        @Test("A store that was never closed does not reserve ids twice, even after a failed unit of work")
        func crashing() async throws {
            #expect(try await store.reserveIDs(for: Company.self, count: 5) == 1..<6)
            // The files that a crash would leave.
            let crashed = try StoreFixture()
            for name in ["store.sqlite", "store.sqlite-wal"] { crashed.write(fixture.read(name), to: name) }
            await store.close()
            let again = SQLitePersistenceService(crashed.store, migrations: [StoreFixture.first])
            let edits = try again.child("edit")
            struct Refusal: Error {}
            let failure = await failure {
                try await edits.perform(save: .pending) { work in
                    #expect(try work.reserveIDs(for: Company.self, count: 2) == 6..<8)
                    throw Refusal()
                }
            }
            #expect(failure?.reason == .work)
            // Pending rows use ids before anything is saved, and the counter accounts for them.
            let count = try await edits.perform(save: .pending) { work in
                try work.create(from: work.reserveIDs(for: Company.self, count: 3)) { Company(id: $0, name: "\($0)") }
            }
            #expect(count == 3)
            #expect(try await edits.fetch(Company.all).map(\.id) == [8, 9, 10])
            #expect(try await again.reserveIDs(for: Company.self, count: 1) == 11..<12)
            try await edits.save(.store)
            await again.close()
        }

        @Test("A table without ids above its greatest one refuses to reserve more")
        func exhausted() async throws {
            try await store.create(Company(id: .max - 2, name: "Ufa"), save: .store)
            #expect(try await store.reserveIDs(for: Company.self, count: 1) == (.max - 1) ..< .max)
            for count in [1, 2, Int.max] {
                let failure = await failure { _ = try await store.reserveIDs(for: Company.self, count: count) }
                #expect(failure?.reason == .limit)
            }
            await store.close()
        }
    }
#endif
