#if Persistence
    package import EssentialsPersistence
    import GRDB

    /// The findings of a check of a store.
    package struct StoreFindings: Sendable, Equatable {
        /// The maximum number of findings of each kind.
        static let limit = 100

        /// Damage of pages, tables and indexes, in SQLite's words.
        package let damage: [String]
        /// For each pair of tables, the number of rows that refer to missing rows.
        package let dangling: [Dangling]
        /// The number of applied migrations. `nil` if damage ended the check before references and migrations were
        /// read.
        package let migrationCount: Int?

        package struct Dangling: Sendable, Equatable {
            package let table, parent: String
            package let rows: Int64
        }

        package var isEmpty: Bool { damage.isEmpty && dangling.isEmpty }
    }

    extension StoreInspection {
        /// Reads all tables and indexes. It takes several times as long as reading the file.
        ///
        /// - Throws: A failure if the file could not be read at all. Damage is a finding.
        package func findings() throws(PersistenceFailure) -> StoreFindings {
            do throws(PersistenceFailure) {
                return try read(limit: nil) { db in
                    let damage = try Row.fetchAll(db, sql: "PRAGMA main.integrity_check(\(StoreFindings.limit))")
                        .compactMap { $0.text(0) }.filter { $0 != "ok" }
                    let (dangling, mismatch) = try dangling(db)
                    return StoreFindings(
                        damage: damage + mismatch, dangling: dangling, migrationCount: try migrations(db).count)
                }
            } catch {
                guard (error.underlying as? DatabaseError)?.resultCode == .SQLITE_CORRUPT else { throw error }
                return StoreFindings(damage: [error.message], dangling: [], migrationCount: nil)
            }
        }

        /// The rows that refer to missing rows, and a text if a foreign key does not fit its parent.
        private func dangling(_ db: Database) throws -> ([StoreFindings.Dangling], mismatch: [String]) {
            do {
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2
                        LIMIT \(StoreFindings.limit)
                        """)
                let found = rows.map { row in
                    StoreFindings.Dangling(
                        table: row.text(0) ?? "", parent: row.text(1) ?? "", rows: row.integer(2) ?? 0)
                }
                return (found, [])
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                return ([], [error.message ?? "The foreign keys could not be checked."])
            }
        }
    }
#endif
