#if Persistence
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    @Suite struct SelectStatementTests {
        private func statement(_ query: Query<Sample>) throws -> SelectStatement {
            try SelectStatement(query.node, columns: ["id", "text"])
        }

        @Test("Queries of one structure have the same text, whatever their values are")
        func sameText() throws {
            let one = try statement(Sample.where { $0.text == "a" && $0.number > 1 }.limit(1).offset(2))
            let other = try statement(Sample.where { $0.text == "'; --" && $0.number > 7 }.limit(9).offset(3))
            #expect(one.sql == other.sql)
            #expect(other.arguments == ["'; --", 7, 9, 3])
            #expect(one != other)
        }

        @Test("The text names every column with its table, and sorts by the id last")
        func text() throws {
            let table = "\"odd \"\"table\"\"\""
            let sql = try statement(Sample.where { $0.note == nil }.sorted { [$0.text.descending] }).sql
            #expect(
                sql
                    == "SELECT \(table).\"id\", \(table).\"text\" FROM \(table) WHERE \(table).\"note\" IS NULL "
                    + "ORDER BY \(table).\"text\" DESC, \(table).\"id\"")
        }

        @Test("No column is sorted after the id")
        func keyOrder() throws {
            let one = try statement(Sample.all.sorted { [$0.id.descending, $0.text.ascending] })
            #expect(one.sql.hasSuffix("\"id\" DESC"))
        }

        @Test("A count without a limit counts the rows of the table, or of another source")
        func counting() throws {
            let node = Sample.where { $0.number == 1 }.node
            let sql = try SelectStatement.counting(node, source: "main.other AS \"odd \"\"table\"\"\"").sql
            #expect(sql.hasPrefix("SELECT count(*) FROM main.other AS"))
            #expect(!sql.contains("ORDER BY"))
        }

        @Test(
            "A negative limit or offset is an invalid query", arguments: [Sample.all.limit(-1), Sample.all.offset(-1)])
        func negative(query: Query<Sample>) {
            let failure = #expect(throws: PersistenceFailure.self) { try statement(query) }
            #expect(failure?.reason == .invalidQuery)
        }

        @Test(
            "A value that cannot be stored is an invalid query",
            arguments: [
                Sample.where { $0.text == "a\u{0}b" }, Sample.where { $0.real < .nan },
                Sample.where { $0.text.contains("\u{0}") }, Sample.where { $0.note.isIn([nil, "\u{0}"]) },
                Sample.where { _ in .sql("text = ?", ["\u{0}"]) },
            ])
        func unstorable(query: Query<Sample>) {
            let failure = #expect(throws: PersistenceFailure.self) { try statement(query) }
            #expect(failure?.reason == .invalidQuery)
            #expect(failure?.model == Sample.table)
        }

        @Test("A query with too many arguments reaches a limit")
        func manyArguments() throws {
            _ = try statement(Sample.where { $0.id.isIn(0..<32_000) })
            let failure = #expect(throws: PersistenceFailure.self) {
                try statement(Sample.where { $0.id.isIn(0..<32_001) })
            }
            #expect(failure?.reason == .limit)
        }

        @Test("A filter that is too deeply nested is an invalid query")
        func depth() {
            let columns = Sample.columns
            let deep = (0..<200).reduce(columns.id == 0) { filter, step in
                step % 2 == 0 ? filter && columns.id == 1 : filter || columns.id == 2
            }
            let failure = #expect(throws: PersistenceFailure.self) { try statement(Query(filter: deep)) }
            #expect(failure?.reason == .invalidQuery)
        }

        @Test("Rows are looked up by their ids in one statement")
        func lookup() {
            let statement = SelectStatement.rows(of: "film", key: "id", columns: ["id", "year"], ids: [1, "x"])
            #expect(statement.sql == "SELECT \"id\", \"year\" FROM \"film\" WHERE \"id\" IN (?, ?)")
            #expect(statement.arguments == [1, "x"])
        }
    }
#endif
