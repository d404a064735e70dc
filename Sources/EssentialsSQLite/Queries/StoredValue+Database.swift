#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import GRDB
    import GRDBSQLite

    extension StoredValue {
        /// The value as an argument of a statement.
        var databaseValue: DatabaseValue {
            switch self {
            case .null: .null
            case .integer(let value): value.databaseValue
            case .real(let value): value.databaseValue
            case .text(let value): value.databaseValue
            case .blob(let value): Data(value).databaseValue
            }
        }

        /// Creates the value from a column of a row.
        init(_ value: DatabaseValue) {
            switch value.storage {
            case .null: self = .null
            case .int64(let value): self = .integer(value)
            case .double(let value): self = .real(value)
            case .string(let value): self = .text(value)
            case .blob(let value): self = .blob(Array(value))
            }
        }
    }

    extension StoredValue {
        /// Creates the value from a column of the current row of a statement.
        ///
        /// This avoids GRDB's rows, which carry the name of each column and values of another type.
        ///
        /// - Throws: An error of the database if there is no memory for the value.
        init(_ statement: SQLiteStatement, column: CInt) throws {
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
            case SQLITE_FLOAT: self = .real(sqlite3_column_double(statement, column))
            case SQLITE_TEXT:
                guard let text = sqlite3_column_text(statement, column) else {
                    throw DatabaseError(resultCode: .SQLITE_NOMEM)
                }
                self = .text(String(cString: text))
            case SQLITE_BLOB:
                let bytes = sqlite3_column_blob(statement, column)
                let count = Int(sqlite3_column_bytes(statement, column))
                self = .blob(Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)))
            default: self = .null
            }
        }
    }

    extension SelectStatement {
        /// The statement as a request of GRDB. The connection caches its prepared statement.
        var request: SQLRequest<Row> {
            SQLRequest(sql: sql, arguments: StatementArguments(arguments.map(\.databaseValue)), cached: true)
        }

        /// All rows.
        func rows(_ db: Database, layout: RowLayout) throws -> [StoredRow] {
            var rows: [StoredRow] = []
            try forEach(db) { statement in
                if let row = try StoredRow(statement, layout) { rows.append(row) }
            }
            return rows
        }

        /// The first column of all rows.
        func values(_ db: Database) throws -> [StoredValue] {
            var values: [StoredValue] = []
            try forEach(db) { values.append(try StoredValue($0, column: 0)) }
            return values
        }

        /// Calls a closure with the statement for each of its rows.
        private func forEach(_ db: Database, _ body: (SQLiteStatement) throws -> Void) throws {
            let statement = try db.cachedStatement(sql: sql)
            let arguments = StatementArguments(arguments.map(\.databaseValue))
            try Row.fetchCursor(statement, arguments: arguments).forEach { _ in try body(statement.sqliteStatement) }
        }
    }
#endif
