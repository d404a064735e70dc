/// Texts in columns.
enum TextTable {
    /// The widest column that is padded. Longer texts push the rest of their line to the right.
    private static let maximumWidth = 40

    /// The rows as lines, with invisible characters shown by their numbers.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(VisibleText.line) }
        let widths = (rows.first ?? []).indices.map { column in
            rows.reduce(0) { width, row in
                row.indices.contains(column) ? max(width, min(row[column].count, maximumWidth)) : width
            }
        }
        return rows.map { row in
            let padded = zip(row, widths).dropLast().map { $0.padded(to: $1) }
            return (padded + row.suffix(1)).joined(separator: "  ")
        }
    }
}
