#if Persistence
    import EssentialsPersistence
    import FoundationEssentials
    import GRDB

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

    extension SelectStatement {
        /// The statement as a request of GRDB, whose prepared statement the connection keeps.
        var request: SQLRequest<Row> {
            SQLRequest(sql: sql, arguments: StatementArguments(arguments.map(\.databaseValue)), cached: true)
        }

        /// All rows.
        func rows(_ db: Database, layout: RowLayout) throws -> [StoredRow] {
            let cursor = try request.fetchCursor(db)
            var rows: [StoredRow] = []
            while let row = try cursor.next() {
                if let row = StoredRow(layout, row.databaseValues.map { StoredValue($0) }) { rows.append(row) }
            }
            return rows
        }

        /// The first column of all rows.
        func values(_ db: Database) throws -> [StoredValue] {
            let cursor = try request.fetchCursor(db)
            var values: [StoredValue] = []
            while let row = try cursor.next() { values += row.databaseValues.prefix(1).map { StoredValue($0) } }
            return values
        }
    }
#endif
