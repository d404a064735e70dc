#if Persistence
    package import EssentialsPersistence
    import GRDB

    /// Some rows of a table, with long values truncated.
    package struct StoreRows: Sendable {
        /// A value for display.
        package enum Value: Sendable, Equatable {
            case null
            case integer(Int64)
            case real(Double)
            /// A text, or its beginning, and its size in bytes.
            case text(String, bytes: Int64)
            /// Bytes, or the first ones, and their number.
            case blob([UInt8], bytes: Int64)
        }

        /// The maximum number of columns.
        package static let columnLimit = 500
        /// The maximum number of rows of one call.
        package static let rowLimit = 10_000
        /// The maximum number of bytes of a value.
        package static let byteLimit = 4_096
        /// The maximum number of bytes of all values. Rows beyond it are left out.
        static let totalLimit = 64 << 20

        package let columns: [String]
        package let rows: [[Value]]
        /// Whether there are rows after these.
        package let hasMore: Bool
        /// Whether the table has more columns than these.
        package let isCut: Bool
    }

    extension StoreInspection {
        /// Reads rows of a table or a view, in the order of the primary key.
        ///
        /// - Parameters:
        ///   - name: The name of the table, in upper or lower case.
        ///   - limit: The maximum number of rows, at most ``StoreRows/rowLimit``.
        ///   - offset: The number of rows to skip.
        /// - Returns: `nil` if the table does not exist.
        package func rows(of name: String, limit: Int, offset: Int) throws(PersistenceFailure) -> StoreRows? {
            try read { db in
                guard let name = try relation(name, db) else { return nil }
                let all = try columns(of: name, db)
                let shown = all.prefix(StoreRows.columnLimit)
                guard !shown.isEmpty else { return StoreRows(columns: [], rows: [], hasMore: false, isCut: false) }
                let limit = min(max(limit, 0), StoreRows.rowLimit)
                let cursor = try Row.fetchCursor(
                    db, sql: try statement(name, Array(shown), db), arguments: [limit + 1, max(offset, 0)])
                var (rows, bytes): ([[StoreRows.Value]], Int) = ([], 0)
                var hasMore = false
                while let row = try cursor.next() {
                    let values = shown.indices.map { Self.value(row, $0) }
                    bytes += values.reduce(0) { $0 + $1.size }
                    hasMore = rows.count == limit || bytes > StoreRows.totalLimit
                    if hasMore { break }
                    rows.append(values)
                }
                return StoreRows(
                    columns: shown.map(\.name), rows: rows, hasMore: hasMore, isCut: all.count > shown.count)
            }
        }

        private func relation(_ name: String, _ db: Database) throws -> String? {
            try Row.fetchOne(
                db,
                sql: """
                    SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE
                    """, arguments: [name]
            )?.text(0)
        }

        /// Selects two result columns for each column: the size of a text or a blob, and the value or its beginning.
        private func statement(_ name: String, _ columns: [StoreOutline.Column], _ db: Database) throws -> String {
            let isUTF8 = try Row.fetchOne(db, sql: "PRAGMA main.encoding")?.text(0) == "UTF-8"
            let limit = StoreRows.byteLimit
            let results = columns.map { column in
                let value = SQLBuilder.quoted(column.name)
                // As bytes, a text can be read beyond a NUL character.
                let text = isUTF8 ? "substr(CAST(\(value) AS BLOB), 1, \(limit))" : "substr(\(value), 1, \(limit))"
                return """
                    CASE typeof(\(value)) WHEN 'text' THEN -1 - length(CAST(\(value) AS BLOB)) \
                    WHEN 'blob' THEN length(\(value)) END, CASE typeof(\(value)) WHEN 'text' THEN \(text) \
                    WHEN 'blob' THEN substr(\(value), 1, \(limit)) ELSE \(value) END
                    """
            }
            let keys = columns.filter(\.isKey).map { SQLBuilder.quoted($0.name) }.joined(separator: ", ")
            let order = keys.isEmpty ? "" : " ORDER BY \(keys)"
            return
                "SELECT \(results.joined(separator: ", ")) FROM main.\(SQLBuilder.quoted(name))\(order) LIMIT ? OFFSET ?"
        }

        private static func value(_ row: Row, _ column: Int) -> StoreRows.Value {
            let value: DatabaseValue = row[2 * column + 1]
            let size = row.integer(2 * column)
            switch value.storage {
            // SQLite's functions return NULL instead of empty bytes.
            case .null: return size.map { $0 < 0 ? .text("", bytes: 0) : .blob([], bytes: 0) } ?? .null
            case .int64(let value): return .integer(value)
            case .double(let value): return .real(value)
            case .string(let value): return .text(value, bytes: size.map { -1 - $0 } ?? 0)
            case .blob(let value):
                guard let size, size < 0 else { return .blob(Array(value), bytes: size ?? 0) }
                let bytes = -1 - size
                return .text(text(Array(value), isWhole: Int64(value.count) == bytes), bytes: bytes)
            }
        }

        /// A text without its last character, if that was cut in two.
        private static func text(_ bytes: [UInt8], isWhole: Bool) -> String {
            guard !isWhole else { return String(decoding: bytes, as: UTF8.self) }
            let start = bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.startIndex
            return String(decoding: bytes.count - start <= 4 ? bytes[..<start] : bytes[...], as: UTF8.self)
        }
    }

    extension StoreRows.Value {
        /// The size of the value in bytes.
        fileprivate var size: Int {
            switch self {
            case .null, .integer, .real: 16
            case .text(let text, _): text.utf8.count
            case .blob(let bytes, _): bytes.count
            }
        }
    }
#endif
