#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
    public import GRDB

    /// One step of a store's tables, from one version of a program to the next.
    ///
    /// Migrations are named and ordered, and only go forward. Each one runs in its own transaction, and foreign keys
    /// are checked at its end. A failed migration leaves the store as the previous one did. Never edit a released
    /// migration.
    ///
    /// ```swift
    /// let migrations = [
    ///     Migration("1 films", sql: """
    ///         CREATE TABLE film(id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL, year INTEGER NOT NULL)
    ///             STRICT, WITHOUT ROWID;
    ///         """),
    ///     Migration("2 year index", sql: "CREATE INDEX film_year ON film(year)"),
    /// ]
    /// ```
    public struct Migration: Sendable {
        /// The name, which is kept in the store.
        public let name: String
        /// The hash of the text, which is kept in the store; empty for a closure.
        let digest: String
        let run: @Sendable (Database) throws -> Void

        /// Creates a migration of SQL statements.
        ///
        /// - Parameters:
        ///   - name: The name, unique among all migrations.
        ///   - sql: The statements. They must not begin or end a transaction.
        public init(_ name: String, sql: String) {
            self.name = name
            digest = StableHash.hexadecimal(StableHash.name(of: sql.utf8))
            run = { try $0.execute(sql: sql) }
        }

        /// Creates a migration of code. Later edits of the code are not detected.
        ///
        /// - Parameters:
        ///   - name: The name, unique among all migrations.
        ///   - run: Changes the tables. It runs inside the transaction, on the thread of the connection.
        public init(_ name: String, run: @escaping @Sendable (Database) throws -> Void) {
            self.name = name
            digest = ""
            self.run = run
        }
    }
#endif
