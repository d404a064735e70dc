#if Persistence
    import GRDB
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Values read from a statement, compared with GRDB's own reading.
    struct ColumnReadingTests {
        /// Values in SQL, including some that no model writes.
        private static let values = [
            "NULL", "0", "-9223372036854775808", "9223372036854775807", "0.0", "-1.5", "9e999", "1e300", "''", "'é👍🏽'",
            "'a text of more than fifteen bytes'", "'before' || char(0) || 'after'", "CAST(x'61ff62' AS TEXT)",
            "CAST(x'c3' AS TEXT)", "x''", "x'00'", "x'00ff0102030405060708090a0b0c0d0e0f10'", "zeroblob(5000)",
        ]

        private var statement: SelectStatement {
            get throws {
                try SelectStatement(
                    RowQuery(table: "mixed", key: "id", filter: nil, order: [], limit: nil, offset: 0),
                    columns: ["id", "value"])
            }
        }

        private func file() throws -> DatabaseQueue {
            let queue = try DatabaseQueue()
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE mixed(id INTEGER PRIMARY KEY NOT NULL, value)")
                for value in Self.values { try db.execute(sql: "INSERT INTO mixed(value) VALUES (\(value))") }
            }
            return queue
        }

        @Test("Values of all kinds are read as GRDB reads them, in rows and alone")
        func kinds() throws {
            let layout = RowLayout(["id", "value"])
            try file().read { db throws in
                let rows = try statement.rows(db, layout: layout)
                let expected = try DatabaseValue.fetchAll(db, sql: "SELECT value FROM mixed ORDER BY id")
                #expect(rows.map { $0["value"] } == expected.map { StoredValue($0) })
                #expect(rows.map { $0["id"] } == (1...Int64(Self.values.count)).map { .integer($0) })
                #expect(rows.allSatisfy { $0.layout === layout })
                var node = RowQuery(table: "mixed", key: "id", filter: nil, order: [], limit: nil, offset: 0)
                node.column = "value"
                let alone = try SelectStatement(node, columns: []).values(db)
                #expect(alone == expected.map { StoredValue($0) })
            }
        }

        @Test("A read that ends before its last row leaves its statement ready for the next one")
        func interruption() throws {
            struct Stop: Error {}
            let queue = try file()
            queue.inDatabase { db in
                db.add(
                    function: DatabaseFunction("stop", argumentCount: 1) { values in
                        if values[0] == 9.databaseValue { throw Stop() }
                        return true
                    })
            }
            let query = Sample.where { _ in .sql("stop(id)") }.node
            let node = RowQuery(table: "mixed", key: "id", filter: query.filter, order: [], limit: nil, offset: 0)
            let failing = try SelectStatement(node, columns: ["id"])
            try queue.read { db throws in
                for _ in 0..<3 {
                    #expect(throws: DatabaseError.self) { try failing.rows(db, layout: RowLayout(["id"])) }
                    #expect(try statement.rows(db, layout: RowLayout(["id", "value"])).count == Self.values.count)
                }
            }
        }
    }
#endif
