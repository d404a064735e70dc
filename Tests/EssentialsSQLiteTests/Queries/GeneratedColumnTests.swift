#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Conditions in SQL over columns that SQLite computes.
    @Suite(.timeLimit(.minutes(5)))
    struct GeneratedColumnTests {
        private struct Order: PersistentModel, Hashable {
            var id: Int64
            var count: Int
            var name: String

            static let table = "orders"
            static let columns: MappedColumns<Order> = ["id": \.id, "count": \.count, "name": \.name]
        }

        private func open(_ more: String) -> SQLitePersistenceService {
            SQLitePersistenceService(
                .temporary(models: [Order.self]),
                migrations: [
                    Migration(
                        "1",
                        sql: """
                            CREATE TABLE orders(id INTEGER PRIMARY KEY NOT NULL, count INTEGER NOT NULL,
                                name TEXT NOT NULL, \(more)) STRICT;
                            """)
                ])
        }

        @Test("A condition on a generated column finds stored and pending rows")
        func conditions() async throws {
            let store = open(
                """
                twice INTEGER AS (count * 2), -- a comment, with ( a parenthesis
                "odd ) name" TEXT COLLATE NOCASE GENERATED ALWAYS AS (name || ')' || 'as (') STORED,
                third INTEGER AS (CAST(twice AS INTEGER) + 1) VIRTUAL NOT NULL, CHECK (count > -1)
                """)
            try await store.create(
                [Order(id: 1, count: 1, name: "a"), Order(id: 2, count: 2, name: "b")], save: .store)
            let edits = try store.child("edit")
            let twice = Order.where { _ in .sql("twice > ?", [2]) }
            #expect(try await edits.fetch(twice).map(\.id) == [2])
            try await edits.create(Order(id: 3, count: 3, name: "c"), save: .pending)
            try await edits.update(Order.self, id: 1, save: .pending) { $0.count = 5 }
            try await edits.delete(Order.self, ids: [2], save: .pending)
            #expect(try await edits.fetch(twice).map(\.id) == [1, 3])
            #expect(try await edits.count(twice) == 2)
            let named = Order.where { _ in .sql(#""odd ) name" = 'C)AS (' AND third = 7"#, []) }
            #expect(try await edits.fetch(named).map(\.id) == [3])
            try await edits.save(.store)
            #expect(try await store.fetch(twice).map(\.id) == [1, 3])
            await store.close()
        }

        @Test(
            "The expression of a generated column is found in the text of its table",
            arguments: [
                ("CREATE TABLE t(a, b AS (a))", ["b": "a"]),
                ("CREATE TABLE t(a INT,b INT generated always as(a+(1)))", ["b": "a+(1)"]),
                ("CREATE TABLE \"t(\"(\"a\"\"b\" AS (1), [c] AS (2), `d` AS (3))", ["a\"b": "1", "c": "2", "d": "3"]),
                ("CREATE TABLE t(a DEFAULT (CAST(1 AS INT)), b CHECK (CAST(b AS INT) > 0))", [:]),
                ("CREATE TABLE t(a /* AS (1), */ AS (2) -- AS (3)\n, PRIMARY KEY(a))", ["a": "2"]),
                ("CREATE TABLE t(a AS (", [:]), ("", [:]),
            ] as [(String, [String: String])])
        func texts(sql: String, expressions: [String: String]) {
            #expect(GeneratedColumns.expressions(in: sql) == expressions)
        }
    }
#endif
