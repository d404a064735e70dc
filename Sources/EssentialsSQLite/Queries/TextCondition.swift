#if Persistence
    import EssentialsPersistence

    /// Comparisons of a part of a text, by bytes.
    struct TextCondition {
        /// The column in SQL.
        let column: String

        func append(_ match: RowFilter.TextMatch, _ value: StoredValue, to sql: inout SQLBuilder) {
            guard case .text(let text) = value else { return sql.append("0") }
            // Every text contains the empty one.
            guard !text.isEmpty else { return sql.append("\(column) IS NOT NULL") }
            switch match {
            case .contains:
                sql.append("instr(\(column), ")
                sql.append(value)
                sql.append(") > 0")
            case .hasPrefix:
                // SQLite can use an index for a range.
                sql.append("(\(column) >= ")
                sql.append(value)
                sql.append(" COLLATE BINARY")
                if let end = Self.end(ofPrefix: text) {
                    sql.append(" AND \(column) < ")
                    sql.append(.text(end))
                    sql.append(" COLLATE BINARY")
                }
                sql.append(")")
            case .hasSuffix:
                // Converted to bytes, because SQLite counts the characters of texts.
                sql.append("substr(CAST(\(column) AS BLOB), ")
                sql.append(.integer(Int64(-text.utf8.count)))
                sql.append(") = ")
                sql.append(.blob(Array(text.utf8)))
            }
        }

        /// The first text after all texts with a prefix; `nil` if there is no such text. Texts are ordered by scalars,
        /// which is the order of their UTF-8 bytes.
        static func end(ofPrefix prefix: String) -> String? {
            var scalars = Array(prefix.unicodeScalars)
            while let last = scalars.popLast() {
                // U+E000 follows U+D7FF, because surrogates are not scalars.
                if let next = Unicode.Scalar(last.value + 1) ?? (last.value == 0xD7FF ? "\u{E000}" : nil) {
                    scalars.append(next)
                    var end = String.UnicodeScalarView()
                    end.append(contentsOf: scalars)
                    return String(end)
                }
            }
            return nil
        }
    }
#endif
