#if Persistence
    import EssentialsPersistence

    /// Names that SQLite knows in tables only. While rows are pending, a table is read through a view, where these names are
    /// NULL without an error, and a pending row has no such number. So they are refused from the beginning.
    enum HiddenNames {
        private static let names: Set = ["rowid", "_rowid_", "oid"]

        /// Refuses a text in SQL that names one of them, unless a column of a table has this name.
        ///
        /// - Throws: A failure with the reason `invalidQuery`.
        static func check(_ sql: String, _ schema: FileSchema) throws(PersistenceFailure) {
            for name in words(of: sql) where names.contains(name) {
                let isColumn = schema.tables.values.contains { table in
                    table.columns.contains { $0.name.lowercased() == name }
                }
                guard !isColumn else { continue }
                throw PersistenceFailure(
                    .invalidQuery, "The name \(name) cannot be used: pending rows have no such number.",
                    remedy: "Name the column of the primary key.")
            }
        }

        /// Refuses a query whose filter names one of them.
        static func check(_ query: RowQuery, _ schema: FileSchema) throws(PersistenceFailure) {
            if let filter = query.filter { try check(filter, schema) }
        }

        private static func check(_ filter: RowFilter, _ schema: FileSchema) throws(PersistenceFailure) {
            switch filter {
            case .all(let filters), .any(let filters): for filter in filters { try check(filter, schema) }
            case .not(let filter): try check(filter, schema)
            case .subquery(_, let query): try check(query, schema)
            case .sql(let text, _): try check(text, schema)
            case .comparison, .columns, .between, .contained, .text: break
            }
        }

        /// The words outside of quotes and comments, in small letters.
        static func words(of sql: String) -> Set<String> {
            let bytes = Array(sql.utf8)
            var (words, word): (Set<String>, [UInt8]) = ([], [])
            var index = 0
            func end(_ closing: [UInt8], from start: Int) -> Int {
                var index = start
                while index < bytes.count, !bytes[index...].starts(with: closing) { index += 1 }
                return index + closing.count
            }
            while index < bytes.count {
                let byte = bytes[index]
                if isWord(byte) {
                    word.append(byte)
                    index += 1
                    continue
                }
                if !word.isEmpty { words.insert(String(decoding: word, as: UTF8.self).lowercased()) }
                word = []
                switch byte {
                case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): index = end([byte], from: index + 1)
                case UInt8(ascii: "["): index = end([UInt8(ascii: "]")], from: index + 1)
                case UInt8(ascii: "-") where bytes[index...].starts(with: "--".utf8): index = end([10], from: index + 2)
                case UInt8(ascii: "/") where bytes[index...].starts(with: "/*".utf8):
                    index = end(Array("*/".utf8), from: index + 2)
                default: index += 1
                }
            }
            if !word.isEmpty { words.insert(String(decoding: word, as: UTF8.self).lowercased()) }
            return words
        }

        private static func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
                true
            default: false
            }
        }
    }
#endif
