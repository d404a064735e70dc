#if Persistence
    import GRDB
    import GRDBSQLite
    import Testing

    /// The plans of SQLite for reads through the view over pending rows.
    ///
    /// The texts of plans change between versions, so only steps that cost time are compared: searches, scans, merges,
    /// and tables that are built first.
    @Suite struct QueryPlanTests {
        /// A query, and the steps of its plan with the operation and the table of each.
        private static let plans: [(String, [String])] = [
            ("SELECT * FROM film WHERE id = x'01'", ["search b", "search g", "search rows"]),
            (
                "SELECT * FROM film WHERE year >= 1900 AND year < 1950 ORDER BY year LIMIT 50",
                ["merge", "search b film_year", "search g", "search rows film_year"]
            ),
            (
                "SELECT * FROM film WHERE year >= 1900 ORDER BY year, id LIMIT 50",
                ["merge", "search b film_year", "search g", "search rows film_year"]
            ),
            (
                "SELECT * FROM film WHERE studioID = x'A1'",
                ["search b film_studio", "search g", "search rows film_studio"]
            ),
            (
                "SELECT f.title, s.name FROM film f JOIN studio s ON s.id = f.studioID WHERE f.year = 1926",
                ["search b film_year", "search g", "search s", "search rows film_year", "search s"]
            ),
            ("SELECT * FROM film WHERE title LIKE '%e%'", ["scan b", "search g", "scan rows"]),
            ("SELECT * FROM film", ["scan b", "search g", "scan rows"]),
            ("SELECT * FROM film ORDER BY id LIMIT 5", ["merge", "scan b", "search g", "scan rows"]),
            // These two read all rows. The service avoids the first kind and writes no query of the second kind.
            ("SELECT count(*) FROM film", ["build film", "scan b", "search g", "scan rows", "scan film"]),
            (
                "SELECT s.name, f.title FROM studio s LEFT JOIN film f ON f.studioID = s.id",
                ["build film", "scan b", "search g", "scan rows", "scan s", "search f"]
            ),
        ]

        /// The meaning of a line of a plan; `nil` for lines that only structure it.
        private static func meaning(_ line: String) -> String? {
            let words = line.split(separator: " ").map(String.init)
            guard let verb = words.first else { return nil }
            if verb == "MERGE" { return "merge" }
            if verb == "MATERIALIZE" || verb == "CO-ROUTINE" { return "build film" }
            guard verb == "SEARCH" || verb == "SCAN", words.count > 1 else { return nil }
            // Versions before 3.36 write `SEARCH TABLE film AS b`.
            var table = words[1] == "TABLE" ? words[2] : words[1]
            if let alias = words.firstIndex(of: "AS"), alias + 1 < words.count { table = words[alias + 1] }
            if table.hasSuffix("essentials_rows_film") { table = "rows" }
            let index = words.first { $0.contains("film_year") || $0.contains("film_studio") }
                .map { " " + ($0.hasPrefix("essentials_") ? String($0.dropFirst("essentials_".count)) : $0) }
            return "\(verb.lowercased()) \(table)\(verb == "SEARCH" ? index ?? "" : "")"
        }

        @Test("Each kind of read through the view is planned as the service expects it", arguments: plans)
        func plan(sql: String, expected: [String]) throws {
            let file = try MountedFile()
            try file.mount()
            let lines = try file.mounted.inDatabase { try MountedFile.plan(sql, $0) }
            let found = lines.compactMap(Self.meaning)
            #expect(found == expected, "SQLite \(String(cString: sqlite3_libversion())): \(lines)")
        }

        @Test("The plans are known for this version of SQLite")
        func version() {
            #expect(sqlite3_libversion_number() >= 3_040_000)
        }
    }
#endif
