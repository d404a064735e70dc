#if Persistence
    import EssentialsSQLite
    import GRDB

    /// Migrations of several statements, each of which leaves other tables and rows than the one before.
    enum ProbeMigrations {
        /// The migrations.
        ///
        /// - Parameter onBegin: Called with the name of a migration when it begins, but not for the first one.
        static func all(onBegin: @escaping @Sendable (String) -> Void = { _ in }) -> [Migration] {
            var list = [Migration("first", sql: first)]
            for (name, statements) in others {
                list.append(
                    Migration(name) { db in
                        onBegin(name)
                        for statement in statements { try db.execute(sql: statement) }
                    })
            }
            return list
        }

        private static let first = """
            CREATE TABLE item(id INTEGER PRIMARY KEY NOT NULL, value INTEGER NOT NULL, note TEXT NOT NULL) STRICT;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
                INSERT INTO item SELECT i, i * 7, 'note ' || hex(zeroblob(40)) || i FROM n;
            """

        private static let others: [(String, [String])] = [
            (
                "second",
                [
                    "ALTER TABLE item ADD COLUMN twice INTEGER NOT NULL DEFAULT 0",
                    "UPDATE item SET twice = 2 * value",
                    "CREATE INDEX item_twice ON item(twice)",
                    "DELETE FROM item WHERE id % 10 = 3",
                ]
            ),
            (
                "third",
                [
                    "CREATE TABLE part(id INTEGER PRIMARY KEY NOT NULL, item INTEGER NOT NULL REFERENCES item(id)) STRICT",
                    "INSERT INTO part SELECT id * 2, id FROM item",
                    "INSERT INTO part SELECT id * 2 + 1, id FROM item",
                    "UPDATE item SET note = 'parts of ' || id",
                    "DROP INDEX item_twice",
                ]
            ),
            (
                "fourth",
                [
                    "CREATE TABLE other(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT",
                    "INSERT INTO other SELECT id, note || twice FROM item",
                    "DROP TABLE item",
                    "ALTER TABLE other RENAME TO item",
                    "DELETE FROM part WHERE id % 2 = 1",
                ]
            ),
        ]
    }
#endif
