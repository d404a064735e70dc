#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    @Suite struct FileSchemaTests {
        /// A model of a table with columns, indexes and foreign keys of all kinds.
        private struct Mixed: PersistentModel {
            var id: String

            static let table = "mixed 'up\""
            static let columns = Columns()

            struct Columns: ModelColumns {
                let id = Column<Mixed, String>("id")
                var all: [ModelColumn<Mixed>] { [id.erased] }
            }
        }

        private static let models = [ModelSchema(Mixed.self), ModelSchema(Company.self)]

        private func read(_ sql: String) throws -> FileSchema {
            let queue = try DatabaseQueue()
            return try queue.write { db in
                try db.execute(sql: sql)
                return try FileSchema.read(db, models: Self.models)
            }
        }

        private static let schema = """
            CREATE TABLE company(id INTEGER PRIMARY KEY, name TEXT UNIQUE COLLATE RTRIM, owner TEXT);
            CREATE TABLE other(a INTEGER, b INTEGER, PRIMARY KEY(a, b));
            CREATE TABLE "mixed 'up""\"(title VARCHAR(20) COLLATE NOCASE, id TEXT PRIMARY KEY NOT NULL, amount DECIMAL(5, 2),
                twice INTEGER AS (amount * 2), free, size DOUBLE PRECISION,
                one INTEGER REFERENCES Company ON DELETE CASCADE,
                two TEXT REFERENCES company(NAME) ON DELETE SET NULL,
                three INTEGER REFERENCES company(id) ON DELETE RESTRICT,
                four INTEGER DEFAULT 1 REFERENCES company(id) ON DELETE SET DEFAULT,
                five TEXT REFERENCES "mixed 'up""\", FOREIGN KEY(one, two) REFERENCES other(a, b)) WITHOUT ROWID;
            CREATE INDEX "an 'odd"" name" ON "mixed 'up""\"(title DESC, id, one COLLATE RTRIM);
            CREATE INDEX partial ON "mixed 'up""\"(title) WHERE one IS NOT NULL;
            CREATE INDEX expression ON "mixed 'up""\"(lower(title));
            CREATE INDEX generated ON "mixed 'up""\"(twice);
            CREATE TEMPORARY TABLE "mixed 'up""\"(wrong TEXT);
            """

        @Test("The columns of a table are read in the order of the file, with types and collations")
        func columns() throws {
            let table = try read(Self.schema).table(Mixed.table)
            #expect(table.key == "id")
            #expect(
                table.layout.names == ["title", "id", "amount", "free", "size", "one", "two", "three", "four", "five"])
            let first = table.columns.prefix(5)
            #expect(first.map(\.type) == ["VARCHAR(20)", "TEXT", "DECIMAL(5, 2)", "", "DOUBLE PRECISION"])
            #expect(first.map(\.affinity) == ["TEXT", "TEXT", "NUMERIC", "BLOB", "REAL"])
            #expect(first.map(\.collation) == ["NOCASE", "BINARY", "BINARY", "BINARY", "BINARY"])
        }

        @Test("Indexes over whole columns and all rows are read, with their order and collations")
        func indexes() throws {
            typealias Part = TableSchema.Index.Part
            let schema = try read(Self.schema)
            let parts = [
                Part(column: "title", collation: "NOCASE", isDescending: true),
                Part(column: "id", collation: "BINARY", isDescending: false),
                Part(column: "one", collation: "RTRIM", isDescending: false),
            ]
            #expect(
                try schema.table(Mixed.table).indexes == [TableSchema.Index(name: "an 'odd\" name", parts: parts)])
            let unique = try schema.table("company").indexes
            #expect(unique.map(\.parts) == [[Part(column: "name", collation: "RTRIM", isDescending: false)]])
        }

        @Test("Foreign keys are read with their action, in the spelling of the models")
        func foreignKeys() throws {
            // GRDB has a type of this name too.
            typealias Key = EssentialsPersistence.ForeignKey
            let keys = try read(Self.schema).foreignKeys
            func key(_ column: String, _ parent: String, _ key: String, _ action: Key.Action) -> Key {
                Key(table: Mixed.table, column: column, parent: parent, key: key, action: action)
            }
            #expect(
                Set(keys) == [
                    key("one", "company", "id", .cascade), key("two", "company", "name", .setNull),
                    key("three", "company", "id", .restrict), key("five", Mixed.table, "id", .noAction),
                    Key(
                        table: Mixed.table, column: "four", parent: "company", key: "id", action: .setDefault,
                        defaultValue: 1),
                    Key(table: Mixed.table, columns: ["one", "two"], parent: "other", keys: ["a", "b"]),
                ])
            #expect(keys.count == 6)
        }

        @Test("ANY keeps its values in strict tables, and is numeric in other tables")
        func anyType() throws {
            for (suffix, affinity) in [("STRICT", "BLOB"), ("", "NUMERIC")] {
                let schema = try read("CREATE TABLE company(id INTEGER PRIMARY KEY, name ANY) \(suffix)")
                #expect(try schema.table("company").columns[1].affinity == affinity)
            }
        }

        @Test("A query of a table without a model is invalid")
        func unknown() throws {
            let schema = try read(Self.schema)
            let failure = #expect(throws: PersistenceFailure.self) { try schema.table("other") }
            #expect(failure?.reason == .invalidQuery)
            #expect(failure?.model == "other")
        }
    }
#endif
