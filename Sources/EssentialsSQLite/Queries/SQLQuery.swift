#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite

    /// A query in SQL that a caller has written.
    struct SQLQuery {
        /// The first words of statements that only read. Other statements, such as PRAGMA, may change the connection.
        private static let beginnings: Set = ["SELECT", "WITH", "VALUES"]

        let sql: String
        let arguments: [StoredValue]

        /// All rows, with the columns that the statement names.
        ///
        /// - Throws: A failure with the reason `invalidQuery`, or an error of the database.
        func rows(_ db: Database) throws -> [StoredRow] {
            guard let word = Self.firstWord(sql), Self.beginnings.contains(word) else { throw Self.refusal }
            for argument in arguments {
                if case .text(let text) = argument, text.storedValue == nil {
                    throw PersistenceFailure(.invalidQuery, "An argument has a NUL character.")
                }
            }
            let statement = try db.makeStatement(sql: sql)
            // WITH may also begin a statement that writes, even into temporary tables.
            guard statement.isReadonly else { throw Self.refusal }
            let count = Int(sqlite3_bind_parameter_count(statement.sqliteStatement))
            guard count == arguments.count else {
                throw PersistenceFailure(
                    .invalidQuery, "The query has \(count) arguments, and \(arguments.count) values are given.")
            }
            let layout = RowLayout(statement.columnNames)
            var rows: [StoredRow] = []
            let cursor = try Row.fetchCursor(
                statement, arguments: StatementArguments(arguments.map(\.databaseValue)))
            while let row = try cursor.next() {
                if let row = StoredRow(layout, row.databaseValues.map { StoredValue($0) }) { rows.append(row) }
            }
            return rows
        }

        private static var refusal: PersistenceFailure {
            PersistenceFailure(
                .invalidQuery, "Only one statement that reads can be fetched: SELECT, WITH or VALUES.")
        }

        /// The first word in capital letters, after spaces and comments; `nil` if the text begins with another token.
        static func firstWord(_ sql: String) -> String? {
            var scanner = SQLScanner(sql)
            guard case .word(let word) = scanner.next() else { return nil }
            return word.uppercased()
        }
    }
#endif
