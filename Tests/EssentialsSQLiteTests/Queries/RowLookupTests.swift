#if Persistence
    import GRDB
    import GRDBSQLite
    import Testing

    @testable import EssentialsPersistence
    @testable import EssentialsSQLite

    /// Looks up rows by their ids.
    struct RowLookupTests {
        /// A model whose id can have any value.
        private struct Note: PersistentModel {
            var id: String
            var value: String?

            static let table = "note"
            static let columns: MappedColumns<Note> = ["id": \.id, "value": \.value]
        }

        private static let ids: [StoredValue] = [
            .integer(0), .integer(.min), .integer(.max), .real(-1.5), .real(.infinity), .text(""), .text("1"),
            .text("é👍🏽"), .text("a text of more than fifteen bytes"), .blob([]), .blob([0]), .blob([0x61, 0xFF, 0]),
        ]

        /// A connection to a file with a row for each id, and the schema of its table.
        private func note(_ type: String = "ANY") throws -> (DatabaseQueue, TableSchema) {
            let queue = try DatabaseQueue()
            let schema = try queue.write { db in
                try db.execute(
                    sql: "CREATE TABLE note(id \(type) PRIMARY KEY NOT NULL, value TEXT) STRICT, WITHOUT ROWID")
                return try FileSchema.read(db, models: [ModelSchema(Note.self)])
            }
            return (queue, try schema.table("note"))
        }

        private func insert(_ ids: [StoredValue], _ db: Database) throws {
            for (index, id) in ids.enumerated() {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?)", arguments: [id.databaseValue, "\(index)".databaseValue])
            }
        }

        @Test("A row is found repeatedly by an id of any kind, and never by another id")
        func kinds() throws {
            let (queue, table) = try note()
            try queue.write { db in
                try insert(Self.ids, db)
                let lookup = RowLookup(table: table, db: db)
                for _ in 0..<2 {
                    for (index, id) in Self.ids.enumerated() {
                        let row = try lookup.row(id)
                        #expect(row?.values == [id, .text("\(index)")])
                        #expect(row?.layout === table.layout)
                    }
                    for id in [StoredValue.null, 1, 0.0, "2", .blob([0x31])] {
                        let row = try lookup.row(id)
                        #expect(row == nil)
                    }
                }
                // No unfinished statement locks the table.
                try db.execute(sql: "DROP TABLE note")
            }
        }

        @Test("An id that is equal only under the collation or the type of the key finds nothing")
        func folded() throws {
            let (queue, table) = try note("TEXT COLLATE NOCASE")
            try queue.write { db in
                try insert(["Abc", "5"], db)
                let lookup = RowLookup(table: table, db: db)
                #expect(try lookup.row("Abc")?["value"] == "0")
                #expect(try lookup.row("ABC") == nil)
                #expect(try lookup.row(5) == nil)
            }
        }

        @Test("A look-up that SQLite interrupts throws SQLite's error, and the next one works")
        func interrupted() throws {
            let (queue, table) = try note()
            try queue.write { db in
                try insert(Self.ids, db)
                let lookup = RowLookup(table: table, db: db)
                #expect(try lookup.row("1") != nil)
                sqlite3_progress_handler(db.sqliteConnection, 1, { _ in 1 }, nil)
                let failure = #expect(throws: DatabaseError.self) { try lookup.row("1") }
                #expect(failure?.resultCode == .SQLITE_INTERRUPT)
                sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil)
                #expect(try lookup.row("1")?["id"] == "1")
            }
        }
    }
#endif
