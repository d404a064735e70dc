#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite

    /// Looks up a row of the file by its id.
    ///
    /// It binds the id and steps the statement itself, because GRDB's arguments and cursors take several times as long
    /// as the look-up. A failed step is repeated by GRDB, which creates the error.
    struct RowLookup {
        let table: TableSchema
        let db: Database

        /// The row with exactly these bytes as its id; `nil` if there is no such row. Pending rows are ignored.
        func row(_ id: StoredValue) throws -> StoredRow? {
            let statement = try db.cachedStatement(sql: table.lookup).sqliteStatement
            let outcome = try Self.withBinding(of: id, to: statement) { try step(statement) }
            let row: StoredRow?
            switch outcome {
            case .row(let found): row = found
            case .none: row = nil
            case .failed: row = try SelectStatement.row(of: table, id: id).rows(db, layout: table.layout).first
            }
            // Under the collation and the type of the key, another id may be equal.
            guard let row, row[table.key] == id else { return nil }
            return row
        }

        private enum Outcome {
            case row(StoredRow)
            case none
            case failed
        }

        private func step(_ statement: SQLiteStatement) throws -> Outcome {
            // After a failed step, this returns the code of the step.
            defer { sqlite3_reset(statement) }
            switch sqlite3_step(statement) {
            case SQLITE_DONE: return .none
            case SQLITE_ROW:
                return try StoredRow(statement, table.layout).map { .row($0) } ?? .failed
            default: return .failed
            }
        }

        /// Calls a closure while the first parameter of a statement is bound.
        private static func withBinding(
            of id: StoredValue, to statement: SQLiteStatement, _ body: () throws -> Outcome
        ) throws -> Outcome {
            // A binding without a destructor refers to the bytes of the id. They live only until the closure returns,
            // so the binding is removed there.
            defer { sqlite3_clear_bindings(statement) }
            switch id {
            case .null: return .none
            case .integer(let value):
                return sqlite3_bind_int64(statement, 1, value) == SQLITE_OK ? try body() : .failed
            case .real(let value):
                return sqlite3_bind_double(statement, 1, value) == SQLITE_OK ? try body() : .failed
            case .text(var text):
                return try text.withUTF8 { bytes in
                    defer { sqlite3_clear_bindings(statement) }
                    guard let count = CInt(exactly: bytes.count), let start = bytes.baseAddress else { return .failed }
                    let code = start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                        sqlite3_bind_text(statement, 1, $0, count, nil)
                    }
                    return code == SQLITE_OK ? try body() : .failed
                }
            case .blob(let blob):
                return try blob.withUnsafeBytes { bytes in
                    defer { sqlite3_clear_bindings(statement) }
                    guard let count = CInt(exactly: bytes.count), let start = bytes.baseAddress,
                        sqlite3_bind_blob(statement, 1, start, count, nil) == SQLITE_OK
                    else { return .failed }
                    return try body()
                }
            }
        }
    }

    extension StoredRow {
        /// Creates a row from the current row of a statement; `nil` if the numbers of columns differ.
        ///
        /// - Throws: An error of the database if there is no memory for a value.
        init?(_ statement: SQLiteStatement, _ layout: RowLayout) throws {
            let count = layout.names.count
            guard sqlite3_column_count(statement) == count else { return nil }
            let values = try [StoredValue](unsafeUninitializedCapacity: count) { values, index in
                while index < count {
                    values.initializeElement(at: index, to: try StoredValue(statement, column: CInt(index)))
                    index += 1
                }
            }
            self.init(layout, values)
        }
    }
#endif
