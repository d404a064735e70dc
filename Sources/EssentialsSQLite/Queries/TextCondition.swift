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
                // A range, because SQLite finds it with an index.
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
                // Bytes are counted, because SQLite counts characters of texts.
                sql.append("substr(CAST(\(column) AS BLOB), ")
                sql.append(.integer(Int64(-text.utf8.count)))
                sql.append(") = ")
                sql.append(.blob(Array(text.utf8)))
            }
        }

        /// The first text after all that begin with a prefix; `nil` if there is none. Texts are ordered by scalars,
        /// which is the order of their bytes in UTF-8.
        static func end(ofPrefix prefix: String) -> String? {
            var scalars = Array(prefix.unicodeScalars)
            while let last = scalars.popLast() {
                // The scalar after U+D7FF is U+E000, because surrogates are no scalars.
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
