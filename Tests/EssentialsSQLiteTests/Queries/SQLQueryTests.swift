#if Persistence
    import EssentialsPersistence
    import Testing

    @testable import EssentialsSQLite

    /// Rows that a query in SQL finds.
    @Suite(.timeLimit(.minutes(5)))
    struct SQLQueryTests {
        private let scopes: NestedScopes

        init() async throws {
            scopes = try await NestedScopes()
            try await scopes.store.create(
                [Person(id: 1, name: "a", employer: 1), Person(id: 2, name: "b", employer: 2)], save: .store)
            try await scopes.edits.create(Person(id: 3, name: "c", employer: 1), save: .pending)
            try await scopes.inner.update(Company.self, id: 1, save: .pending) { $0.name = "new" }
        }

        private struct Staff: Decodable, Sendable, Equatable {
            var company: String
            var people: Int
            var sum: Int64
        }

        private static let staff = """
            SELECT c.name AS company, count(*) AS people, sum(p.id) AS sum FROM person AS p JOIN company AS c
                ON c.id = p.employer WHERE c.id < ? GROUP BY c.id ORDER BY c.id
            """

        @Test("A query in SQL sees the rows of its scope, in joins and groups, as values of any type")
        func groups() async throws {
            func staff(_ scope: any PersistenceService) async throws -> [Staff] {
                try await scope.fetch(Staff.self, sql: Self.staff, arguments: [3])
            }
            let second = Staff(company: "C2", people: 1, sum: 2)
            #expect(try await staff(scopes.store) == [Staff(company: "C1", people: 1, sum: 1), second])
            #expect(try await staff(scopes.edits) == [Staff(company: "C1", people: 2, sum: 4), second])
            #expect(try await staff(scopes.inner) == [Staff(company: "new", people: 2, sum: 4), second])
            await scopes.store.close()
        }

        @Test("A query in SQL fetches models, even within a unit of work")
        func models() async throws {
            let sql = "/* all */ SELECT * FROM person -- who work\n WHERE employer = ?1 ORDER BY id DESC"
            let people = try await scopes.edits.fetch(Person.self, sql: sql, arguments: [1])
            #expect(people == [Person(id: 3, name: "c", employer: 1), Person(id: 1, name: "a", employer: 1)])
            let names = try await scopes.edits.perform(save: .pending) { work in
                try work.create(Person(id: 4, name: "d", employer: 1))
                return try work.fetch(Person.self, sql: sql, arguments: [1]).map(\.name)
            }
            #expect(names == ["d", "c", "a"])
            #expect(try await scopes.store.fetch(Person.self, sql: "SELECT * FROM person WHERE id > 5").isEmpty)
            await scopes.store.close()
        }

        @Test(
            "Anything except one reading statement with its arguments fails as invalidQuery",
            arguments: [
                "DELETE FROM person", "PRAGMA query_only = 1", "ATTACH 'x' AS y", "", "SELECT", "SELECT ?",
                "WITH x AS (SELECT 1) DELETE FROM person", "SELECT 1; DELETE FROM person", "EXPLAIN SELECT 1",
                "WITH x AS (SELECT 1) INSERT INTO temp.essentials_rows_person SELECT 9, 'x', 1",
                "SELECT * FROM nothing",
            ])
        func refused(sql: String) async throws {
            for scope in [scopes.store, scopes.edits] as [any PersistenceService] {
                do {
                    _ = try await scope.fetch(Person.self, sql: sql)
                    Issue.record("The statement has run.")
                } catch {
                    #expect(error.reason == .invalidQuery)
                }
            }
            #expect(try await scopes.edits.count(Person.all) == 3)
            await scopes.store.close()
        }

        @Test("A row that does not fit the type fails as decoding")
        func decoding() async throws {
            do {
                _ = try await scopes.store.fetch(Staff.self, sql: "VALUES (1)")
                Issue.record("The row was decoded.")
            } catch {
                #expect(error.reason == .decoding)
            }
            await scopes.store.close()
        }

        @Test(
            "The first word of a statement is found after spaces and comments",
            arguments: [
                (" \n/* x */--y\nselect 1", "SELECT"), ("(SELECT 1)", nil), ("/*", nil), ("--", nil), ("With(", "WITH"),
                ("\"SELECT\"", nil), (";SELECT 1", nil), ("SELECT*", "SELECT"), ("SELECT1", "SELECT1"),
            ] as [(String, String?)])
        func words(sql: String, word: String?) { #expect(SQLQuery.firstWord(sql) == word) }

        @Test("Names that exist only in tables of the file are refused, with and without pending rows")
        func hiddenNames() async throws {
            #expect(HiddenNames.found(in: "a.RowID = 'x oid' -- oid\n/* oid */ AND b IN (`b`, é_oid)") == ["rowid"])
            #expect(HiddenNames.found(in: "\"ROWID\" + [oid] + `_rowid_` + x'00'") == ["rowid", "oid", "_rowid_"])
            let sql = """
                CREATE TABLE label(id INTEGER PRIMARY KEY NOT NULL, name TEXT, other TEXT) STRICT
                """
            let store = SQLitePersistenceService(
                .temporary(models: [Label.self]), migrations: [Migration("1", sql: sql)])
            try await store.create(Label(id: 1, name: "a"), save: .store)
            func reason(_ call: PersistenceCall<some Any>) -> PersistenceFailure.Reason? {
                do throws(PersistenceFailure) {
                    _ = try store.wait(for: call)
                    return nil
                } catch {
                    return error.reason
                }
            }
            for _ in 0..<2 {
                #expect(reason(.read { try $0.count(Label.where { _ in .sql("rowid = 1", []) }) }) == .invalidQuery)
                #expect(
                    reason(.read { try $0.fetch(Label.where { _ in !.sql("label._rowid_ = 1", []) }) }) == .invalidQuery
                )
                #expect(
                    reason(.read { try $0.fetch(Label.self, sql: "SELECT * FROM label WHERE OID = 1") })
                        == .invalidQuery)
                #expect(
                    reason(.read { try $0.count(Label.where { _ in .sql("label.\"rowid\" = 1", []) }) })
                        == .invalidQuery)
                #expect(
                    reason(.read { try $0.fetch(Label.self, sql: "SELECT * FROM label WHERE name <> 'rowid'") }) == nil)
                try await store.create(Label(id: 2, name: "b"), save: .pending)
                try await store.discard(Label.self, ids: [2])
                try await store.update(Label.self, id: 1, save: .pending) { $0.name = "c" }
            }
            #expect(reason(.delete(Label.where { _ in .sql("rowid = 1", []) }, save: .store)) == .invalidQuery)
            await store.close()
        }
    }
#endif
