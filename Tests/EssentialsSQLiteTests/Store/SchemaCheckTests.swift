#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    @Suite struct SchemaCheckTests {
        private func message(_ sql: String) throws -> String? {
            let queue = try DatabaseQueue()
            return try queue.write { db in
                try db.execute(sql: sql)
                do {
                    try SchemaCheck(models: [ModelSchema(Person.self)]).run(db)
                    return nil
                } catch let failure as PersistenceFailure {
                    #expect(failure.reason == .schemaMismatch)
                    #expect(failure.model == "person")
                    return failure.message
                }
            }
        }

        @Test("Tables that fit the models pass, even with further columns that need no value")
        func fitting() throws {
            let further = ", note TEXT, count INTEGER NOT NULL DEFAULT 0, twice INTEGER AS (id * 2)"
            for columns in ["", further] {
                let sql = """
                    CREATE TABLE person(id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
                        employer INTEGER REFERENCES company\(columns));
                    """
                #expect(try message(sql) == nil)
            }
        }

        @Test(
            "Each difference between a table and its model is named",
            arguments: [
                ("CREATE TABLE other(a)", "there is no table person for Person"),
                (
                    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
                    "there is no column person.employer"
                ),
                (
                    "CREATE TABLE person(id INTEGER PRIMARY KEY, name INTEGER NOT NULL, employer INTEGER)",
                    "person.name is INTEGER, and Person stores TEXT"
                ),
                (
                    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, employer INTEGER)",
                    "person.name may be NULL, and is not optional in Person"
                ),
                (
                    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, employer INTEGER NOT NULL)",
                    "person.employer is NOT NULL, and optional in Person"
                ),
                (
                    "CREATE TABLE person(id INTEGER NOT NULL, name TEXT PRIMARY KEY NOT NULL, employer INTEGER)",
                    "the primary key of person is not id"
                ),
                (
                    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, employer INTEGER)",
                    "person.employer has no foreign key to company.id"
                ),
                (
                    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, employer INTEGER, a TEXT NOT NULL)",
                    "person.a needs a value, but Person has no such column"
                ),
                (
                    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL AS ('a'), employer INTEGER)",
                    "person.name is generated and cannot be written"
                ),
            ])
        func differences(sql: String, text: String) throws {
            let message = try #require(try message(sql))
            #expect(message.contains(text))
        }

        @Test("A store whose tables do not fit is refused with all differences, and a fitting program can open it")
        func opening() throws {
            let fixture = try StoreFixture()
            let bad = Migration("1 persons", sql: "CREATE TABLE company(id TEXT PRIMARY KEY, title TEXT)")
            let failure = #expect(throws: PersistenceFailure.self) { try fixture.open([bad]) }
            #expect(failure?.reason == .schemaMismatch)
            #expect(failure?.message.contains("no table person") == true)
            #expect(failure?.message.contains("no column company.name") == true)
            #expect(failure?.message.contains("company.id is TEXT") == true)
            let fix = Migration("2", sql: "DROP TABLE company;" + StoreFixture.schema)
            try fixture.open([bad, fix]).close()
        }

        @Test(
            "Declared types fit the storages whose values they do not change",
            arguments: [
                ("INTEGER", [.integer]), ("bigint", [.integer]), ("VARCHAR(3)", [.text]), ("BLOB", [.blob]),
                ("DOUBLE", [.real]), ("", [.integer, .real, .text, .blob]), ("ANY", [.integer, .real, .text, .blob]),
                ("NUMERIC", [.integer, .real]), ("BOOLEAN", [.integer, .real]),
            ] as [(String, [ColumnStorage])])
        func types(type: String, storages: [ColumnStorage]) {
            #expect(ColumnStorage.allCases.filter { SchemaCheck.fits($0, type: type) } == storages)
        }
    }
#endif
