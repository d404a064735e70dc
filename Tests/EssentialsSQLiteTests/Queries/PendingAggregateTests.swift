#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Aggregates and relations over rows that are pending in two nested scopes.
    struct PendingAggregateTests {
        private let scopes: NestedScopes
        private var store: SQLitePersistenceService { scopes.store }
        private var edits: any PersistenceService { scopes.edits }
        private var inner: any PersistenceService { scopes.inner }

        init() async throws {
            scopes = try await NestedScopes()
            let (store, edits, inner) = (scopes.store, scopes.edits, scopes.inner)
            try await store.create(
                [
                    Person(id: 1, name: "a", employer: 1), Person(id: 2, name: "b", employer: 1),
                    Person(id: 3, name: "c", employer: 2), Person(id: 4, name: "d", employer: nil),
                ], save: .store)
            try await edits.create(Company(id: 9, name: "new"), save: .pending)
            try await edits.create(Person(id: 10, name: "j", employer: 9), save: .pending)
            try await edits.delete(Person.self, ids: [1], save: .pending)
            try await inner.update(Person.self, id: 2, save: .pending) { $0.employer = 9 }
            try await inner.update(Company.self, id: 2, save: .pending) { $0.name = "renamed" }
        }

        @Test("Minimum, maximum, average, sum and counts are computed from the rows that the scope sees")
        func aggregates() async throws {
            let employers = Person.all.values { $0.employer }
            let ids = Person.all.values { $0.id }
            #expect(try await store.min(ids) == 1)
            #expect(try await edits.min(ids) == 2)
            #expect(try await inner.max(employers) == 9)
            #expect(try await store.average(ids) == 2.5)
            #expect(try await edits.average(ids) == 19.0 / 4)
            #expect(try await inner.average(Person.where { $0.employer == 9 }.values { $0.id }) == 6)
            #expect(try await inner.average(Person.where { $0.id > 90 }.values { $0.id }) == nil)
            #expect(try await inner.min(Person.where { $0.id > 90 }.values { $0.id }) == nil)
            #expect(try await edits.sum(ids) == 19)
            #expect(try await store.counts(by: employers) == [nil: 1, 1: 2, 2: 1])
            #expect(try await edits.counts(by: employers) == [nil: 1, 1: 1, 2: 1, 9: 1])
            #expect(try await inner.counts(by: employers) == [nil: 1, 2: 1, 9: 2])
            #expect(try await inner.values(employers.distinct()).count == 3)
            await store.close()
        }

        @Test("The sum of an optional column skips nil, and is 0 if there is no value")
        func optionalSums() async throws {
            let employers = Person.all.values { $0.employer }
            #expect(try await store.sum(employers) == 4)
            #expect(try await inner.sum(employers) == 20)
            #expect(try await inner.sum(Person.where { $0.employer == nil }.values { $0.employer }) == 0)
            #expect(try blockingSum() == 4)
            await store.close()
        }

        private func blockingSum() throws -> Int64 { try store.wait { try $0.sum(Person.all.values { $0.employer }) } }

        private struct Measurement: PersistentModel {
            var id: Int64
            var count: Int64
            var value: Double?

            static let table = "measurement"
            static let columns: MappedColumns<Measurement> = ["id": \.id, "count": \.count, "value": \.value]
        }

        @Test(
            "A sum beyond 64 bits, or of infinite values of both signs, fails as decoding, stored and pending",
            arguments: [SaveLevel.store, .pending])
        func noSums(level: SaveLevel) async throws {
            await store.close()
            let settings = SQLiteStore.temporary(models: [Measurement.self])
            let store = SQLitePersistenceService(settings, migrations: [Migration("1", sql: settings.tableSQL)])
            let edits = try store.child("edit")
            let values = [Double.infinity, -.infinity, nil]
            try await edits.create(
                values.enumerated().map { Measurement(id: Int64($0), count: .max, value: $1) }, save: level)
            func reason<Value: Sendable>(
                _ read: @escaping @Sendable (PersistenceWork) throws -> Value
            ) -> PersistenceFailure.Reason? {
                do throws(PersistenceFailure) {
                    _ = try edits.wait(read)
                    return nil
                } catch {
                    return error.reason
                }
            }
            #expect(reason { try $0.sum(Measurement.all.values { $0.count }) as Int64 } == .decoding)
            #expect(reason { try $0.sum(Measurement.all.values { $0.value }) as Double } == .decoding)
            #expect(reason { try $0.average(Measurement.all.values { $0.value }) } == .decoding)
            let numbers = Measurement.all.values { $0.count }
            #expect(reason { try $0.sums(of: numbers, by: { $0.count }) } == .decoding)
            #expect(reason { try $0.sums(of: Measurement.all.values { $0.value }, by: { $0.count }) } == .decoding)
            #expect(reason { try $0.sums(of: numbers.distinct(), by: { $0.count }) } == .invalidQuery)
            #expect(try await edits.sums(of: numbers, by: { $0.id }) == [0: .max, 1: .max, 2: .max])
            #expect(
                try await edits.sums(of: Measurement.all.values { $0.value }, by: { $0.id })
                    == [0: .infinity, 1: -.infinity, 2: 0])
            let nothing = Measurement.where { $0.id > 1 }.values { $0.value }
            #expect(try await edits.sum(nothing) == 0)
            #expect(try await edits.average(nothing) == nil)
            #expect(try await edits.sum(Measurement.where { $0.id == 0 }.values { $0.value }) == .infinity)
            await store.close()
        }

        @Test("Children and their parents are fetched as the scope sees them, whichever of them is pending")
        func relations() async throws {
            let relation = ToOne<Person, Company>(Person.columns.employer)
            func pairs(_ scope: any PersistenceService) async throws -> [String] {
                try await scope.fetch(Person.all, with: relation).map { "\($0.name) \($1?.name ?? "-")" }
            }
            #expect(try await pairs(store) == ["a C1", "b C1", "c C2", "d -"])
            #expect(try await pairs(edits) == ["b C1", "c C2", "d -", "j new"])
            #expect(try await pairs(inner) == ["b new", "c renamed", "d -", "j new"])
            #expect(try await inner.fetch(relation.children(of: 9)).map(\.id) == [2, 10])
            #expect(try await edits.count(relation.inverse.children(of: 1)) == 1)
            let limited = Person.where { $0.employer == 9 }.sorted { [$0.id.descending] }.limit(1)
            #expect(try await inner.fetch(limited, with: relation).map { $0.0.id } == [10])
            await store.close()
        }
    }
#endif
