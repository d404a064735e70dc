#if Persistence
    import EssentialsPersistence
    import GRDB
    import GRDBSQLite

    /// Queries over one state: the file, or the file with the pending rows of a scope.
    protocol StateReads {
        var db: Database { get }
        var schema: FileSchema { get }
        /// Whether a table has pending rows.
        func isPending(_ table: String) -> Bool
        /// The number of rows of the file that the entries of a table hide. The closure counts them unless the number
        /// is known.
        func hiddenRows(of table: String, count: () throws -> Int) throws -> Int
    }

    extension StateReads {
        /// The rows that a query finds, with all columns of the table.
        func rows(_ node: RowQuery) throws -> [StoredRow] {
            let table = try schema.table(node.table)
            var node = node
            (node.column, node.isDistinct) = (nil, false)
            return try SelectStatement(node, columns: table.layout.names, source: source(node.table))
                .rows(db, layout: table.layout)
        }

        /// The row of the file with exactly these bytes as its id; `nil` if there is no such row. Pending rows are
        /// ignored.
        func storedRow(of table: String, id: StoredValue) throws -> StoredRow? {
            try RowLookup(table: schema.table(table), db: db).row(id)
        }

        /// The rows of the file with exactly these ids, in no order. Ids are compared by their bytes. Ids without a row
        /// are left out, and pending rows are ignored.
        func storedRows(of table: String, ids: [StoredValue]) throws -> [StoredRow] {
            let table = try schema.table(table)
            let rows = try stride(from: 0, to: ids.count, by: RowQuery.maximumValues).flatMap { start in
                let part = ids[start..<min(start + RowQuery.maximumValues, ids.count)]
                return try SelectStatement.rows(
                    of: table.name, key: table.key, columns: table.layout.names, ids: part,
                    source: PendingSQL.file(table.name)
                ).rows(db, layout: table.layout)
            }
            guard table.foldsKey else { return rows }
            // The statement used the index of the key, whose collation may treat more ids as equal.
            let wanted = Set(ids)
            return rows.filter { row in row[table.key].map { wanted.contains($0) } ?? false }
        }

        /// The values of the column of a query.
        func values(_ node: RowQuery) throws -> [StoredValue] {
            _ = try schema.table(node.table)
            return try SelectStatement(node, columns: [node.key], source: source(node.table)).values(db)
        }

        /// The number of rows, or of values, that a query finds.
        func count(_ node: RowQuery) throws -> Int {
            let table = try schema.table(node.table)
            guard isPending(node.table), node.isPlainCount else {
                return try integer(SelectStatement.counting(node, source: source(node.table)))
            }
            // Counting through the view would read all rows.
            let pending = PendingSQL(table: table)
            var plain = node
            plain.column = nil
            let statement = try SelectStatement.counting(plain, source: PendingSQL.file(table.name))
            let stored = try integer(statement)
            let hidden = try hiddenCount(plain, pending, stored: stored, statement)
            return try stored - hidden + integer(SelectStatement.counting(plain, source: pending.pending))
        }

        /// The number of rows in the file that match a query and are hidden by entries.
        ///
        /// - Parameters:
        ///   - stored: The number of rows that it finds in the file.
        ///   - statement: The statement that counted these.
        private func hiddenCount(
            _ node: RowQuery, _ pending: PendingSQL, stored: Int, _ statement: SelectStatement
        ) throws -> Int {
            guard node.filter != nil else {
                return try hiddenRows(of: node.table) {
                    try integer(SelectStatement.counting(node, source: pending.hidden))
                }
            }
            let counted = try db.cachedStatement(sql: statement.sql)
            // Looking up an id in a small table in memory is several times as fast as looking up a row in the file.
            let isIndexed = sqlite3_stmt_status(counted.sqliteStatement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1) == 0
            let idCount = try Int.fetchOne(db.cachedStatement(sql: pending.hidingIDs)) ?? 0
            let source = isIndexed && stored <= 4 * idCount ? pending.hiddenFromRows : pending.hidden
            return try integer(SelectStatement.counting(node, source: source))
        }

        /// One value that is computed from the column of a query.
        ///
        /// - Throws: A failure with the reason `decoding` if the values have no sum: it does not fit in 64 bits, or
        ///   infinite values of both signs are added. In the latter case SQLite returns NULL, as it does if there are
        ///   no values.
        func aggregate(_ node: RowQuery, _ function: SelectStatement.Aggregate) throws -> StoredValue {
            _ = try schema.table(node.table)
            let source = source(node.table)
            let value: StoredValue
            do {
                value = try SelectStatement.aggregating(node, function, source: source).values(db).first ?? .null
            } catch let error as DatabaseError where function == .sum && error.isOverflow {
                throw Self.noSum(node, "is beyond 64 bits", error)
            }
            guard value.isNull, [.sum, .average].contains(function),
                try integer(SelectStatement.countingNumbers(node, source: source)) > 0
            else { return value }
            throw Self.noSum(node, "adds infinite values of both signs", nil)
        }

        private static func noSum(_ node: RowQuery, _ cause: String, _ error: (any Error)?) -> PersistenceFailure {
            PersistenceFailure(
                .decoding, "The sum of \(node.table).\(node.column ?? node.key) \(cause).",
                remedy: "Sum fewer rows, or fetch the values.", model: node.table, underlying: error)
        }

        /// The sum of the column of a query for each value of another one.
        ///
        /// - Throws: As ``aggregate(_:_:)`` does.
        func sums(_ node: RowQuery, by column: String) throws -> [(key: StoredValue, sum: StoredValue)] {
            _ = try schema.table(node.table)
            var sums: [(key: StoredValue, sum: StoredValue)] = []
            let statement = try SelectStatement.summingValues(node, by: column, source: source(node.table))
            do {
                let cursor = try statement.request.fetchCursor(db)
                while let row = try cursor.next() {
                    let (key, sum, summands): (DatabaseValue, DatabaseValue, Int) = (row[0], row[1], row[2])
                    guard !sum.isNull || summands == 0 else {
                        throw Self.noSum(node, "adds infinite values of both signs", nil)
                    }
                    sums.append((StoredValue(key), StoredValue(sum)))
                }
            } catch let error as DatabaseError where error.isOverflow {
                throw Self.noSum(node, "is beyond 64 bits", error)
            }
            return sums
        }

        /// Each value of the column of a query and its number of occurrences, smallest value first.
        func counts(_ node: RowQuery) throws -> [(value: StoredValue, count: Int)] {
            _ = try schema.table(node.table)
            let cursor = try SelectStatement.countingValues(node, source: source(node.table)).request.fetchCursor(db)
            var counts: [(value: StoredValue, count: Int)] = []
            while let row = try cursor.next() {
                let value: DatabaseValue = row[0]
                counts.append((StoredValue(value), row[1]))
            }
            return counts
        }

        /// The table of the file if nothing is pending, because its view may still exist; otherwise `nil`.
        private func source(_ table: String) -> String? { isPending(table) ? nil : PendingSQL.file(table) }

        private func integer(_ statement: SelectStatement) throws -> Int {
            guard case .integer(let value)? = try statement.values(db).first else { return 0 }
            return Int(value)
        }
    }

    extension DatabaseError {
        /// Whether a sum of integers does not fit in 64 bits.
        fileprivate var isOverflow: Bool { resultCode == .SQLITE_ERROR && message == "integer overflow" }
    }

    extension RowQuery {
        /// Whether the number of rows is the sum of the numbers in parts of the table.
        fileprivate var isPlainCount: Bool {
            limit == nil && offset == 0 && !isDistinct && filter?.hasText != true
        }
    }

    extension RowFilter {
        /// Whether the condition has SQL text at any depth. Such text may use names that exist only in the whole table.
        fileprivate var hasText: Bool {
            switch self {
            case .all(let nodes), .any(let nodes): nodes.contains { $0.hasText }
            case .not(let node): node.hasText
            case .subquery(_, let node): node.filter?.hasText == true
            case .sql: true
            case .comparison, .columns, .between, .contained, .text: false
            }
        }
    }

    /// Queries over the file alone, on any connection without temporary views.
    struct FileReads: StateReads {
        let db: Database
        let schema: FileSchema

        func isPending(_ table: String) -> Bool { false }
        func hiddenRows(of table: String, count: () throws -> Int) throws -> Int { 0 }
    }
#endif
