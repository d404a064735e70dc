#if Persistence
    import EssentialsPersistence
    import GRDB

    /// Finds rows by the values of unique indexes, and finds unused values.
    struct UniqueValues {
        private struct Index {
            /// The collation of each column.
            let collations: [String]
            /// The condition of a partial index, in SQL.
            let condition: String?
        }

        private let db: Database
        /// The unique indexes by table and columns.
        private var indexes: [[String]: [Index]] = [:]
        /// Numbers that no row had when they were searched for, by table and column.
        private var freeNumbers: [[String]: [StoredValue]] = [:]
        /// Whether other rows refer to a column, by table and column.
        private var referred: [[String]: Bool] = [:]

        init(_ db: Database) { self.db = db }

        /// The row that holds the value for which a write has failed, and the columns of the value; `nil` if it is
        /// unknown.
        mutating func holder(
            of row: StoredRow, at key: RowKey, primaryKey: String, _ error: DatabaseError
        ) throws -> (key: RowKey, columns: [String])? {
            guard let columns = ConstraintReading.uniqueColumns(error, of: key.table) else { return nil }
            let values = columns.compactMap { row[$0] }
            guard values.count == columns.count, !values.contains(where: \.isNull) else { return nil }
            let id = SQLBuilder.quoted(primaryKey)
            let matches = try indexes(over: columns, of: key.table).map { index in
                let parts = zip(columns, index.collations).enumerated().map { number, part in
                    "\(SQLBuilder.quoted(part.0)) = ?\(number + 1) COLLATE \(SQLBuilder.quoted(part.1))"
                }
                // The line break ends a comment.
                return (parts + (index.condition.map { ["(\($0)\n)"] } ?? [])).joined(separator: " AND ")
            }
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(id) FROM "main".\(SQLBuilder.quoted(key.table)) WHERE \
                    (\(matches.joined(separator: " OR "))) AND \(id) COLLATE BINARY IS NOT ?\(columns.count + 1) LIMIT 1
                    """)
            let found = try DatabaseValue.fetchOne(
                statement, arguments: StatementArguments((values + [key.id]).map(\.databaseValue)))
            return found.map { (RowKey(table: key.table, id: StoredValue($0)), columns) }
        }

        /// The unique indexes over some columns. At least one of them is violated. The key may have no index.
        private mutating func indexes(over columns: [String], of table: String) throws -> [Index] {
            if let known = indexes[[table] + columns] { return known }
            let rows = try Row.fetchAll(
                db, sql: "SELECT name, partial FROM pragma_index_list(?, 'main') WHERE \"unique\"", arguments: [table])
            var found: [Index] = []
            for row in rows {
                let name: String = row[0]
                let parts = try Row.fetchAll(
                    db, sql: "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno",
                    arguments: [name])
                guard parts.map({ $0[0] as String? }) == columns else { continue }
                let condition = row[1] ? try condition(of: name) : nil
                found.append(Index(collations: parts.map { $0[1] ?? "BINARY" }, condition: condition))
            }
            if found.isEmpty {
                found = [Index(collations: Array(repeating: "BINARY", count: columns.count), condition: nil)]
            }
            indexes[[table] + columns] = found
            return found
        }

        /// The condition of a partial index. No pragma returns it.
        private func condition(of index: String) throws -> String? {
            let sql = try String?.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_schema WHERE type = 'index' AND name = ?", arguments: [index])
            var scanner = SQLScanner((sql ?? "") ?? "")
            while let token = scanner.next(), token != .symbol("(") {}
            guard scanner.skipParentheses(), case .word = scanner.next() else { return nil }
            return scanner.text(scanner.position..<Int.max)
        }

        /// Values that a column may have temporarily, the most likely first. Only writing them shows whether they are
        /// free and allowed.
        ///
        /// - Parameters:
        ///   - value: A value of the column, of the required kind.
        ///   - isAnew: Whether to search for numbers again.
        mutating func candidates(
            like value: StoredValue, column: String, of table: String, anew isAnew: Bool
        ) throws -> [StoredValue] {
            var found: [StoredValue] = []
            let number = UInt64.random(in: .min ... .max)
            switch value {
            case .integer, .real:
                found =
                    try !isAnew
                    ? freeNumbers[[table, column]] ?? numbers(column, of: table) : numbers(column, of: table)
                freeNumbers[[table, column]] = found
            case .text(let text):
                let digits = String(number, radix: 36)
                found = [.text(digits), .text("\(text) \(digits)"), .text(String(digits.prefix(4)))]
            case .blob(let bytes):
                let random = withUnsafeBytes(of: number) { Array($0) }
                found = [.blob(random), .blob(Array((bytes + random).suffix(bytes.count)))]
            case .null: break
            }
            // Rows that refer to the value would lose their reference.
            return try isReferred(column, of: table) ? found : found + [.null]
        }

        /// Two numbers outside the range of those in a column. Each is found by one access to an index of the column.
        private func numbers(_ column: String, of table: String) throws -> [StoredValue] {
            let (name, source) = (SQLBuilder.quoted(column), "\"main\".\(SQLBuilder.quoted(table))")
            let row = try Row.fetchOne(
                db,
                sql: "SELECT (SELECT max(\(name)) FROM \(source)) + 1, (SELECT min(\(name)) FROM \(source)) - 1")
            return row?.databaseValues.map { StoredValue($0) } ?? []
        }

        private mutating func isReferred(_ column: String, of table: String) throws -> Bool {
            if let known = referred[[table, column]] { return known }
            let isReferred =
                try Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM "main".sqlite_master AS t, pragma_foreign_key_list(t.name, 'main') AS k
                        WHERE t.type = 'table' AND lower(k."table") = lower(?) AND lower(ifnull(k."to", ?)) = lower(?))
                        """, arguments: [table, column, column]) ?? true
            referred[[table, column]] = isReferred
            return isReferred
        }
    }
#endif
