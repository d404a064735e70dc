#if Persistence
    import EssentialsPersistence
    import GRDB

    /// The keys of rows that a save deletes, if other rows refer to them through a foreign key whose `ON DELETE`
    /// changes or deletes those rows.
    struct DeletedParentKeys {
        private var values: [EssentialsPersistence.ForeignKey: Set<[StoredValue]>] = [:]

        init(_ save: FileSave) {
            for foreignKey in save.changingKeys {
                var deleted: Set<[StoredValue]> = []
                for entry in save.level.entries(in: foreignKey.parent).values {
                    guard case .deleted(let base) = entry, let key = foreignKey.key(of: base) else { continue }
                    deleted.insert(key.map(\.folded))
                }
                if !deleted.isEmpty { values[foreignKey] = deleted }
            }
        }

        var isEmpty: Bool { values.isEmpty }

        /// Whether the save deletes the row with these values, whatever the collations of the columns are.
        func contains(_ reference: [StoredValue], _ foreignKey: EssentialsPersistence.ForeignKey) -> Bool {
            values[foreignKey]?.contains(reference.map(\.folded)) == true
        }
    }

    extension EssentialsPersistence.ForeignKey {
        /// Whether the file has no row with these values now.
        func isMissing(_ reference: [StoredValue], _ db: Database) throws -> Bool {
            let conditions = keys.map { "\(SQLBuilder.quoted($0)) = ?" }.joined(separator: " AND ")
            let statement = try db.cachedStatement(
                sql: "SELECT 1 FROM \"main\".\(SQLBuilder.quoted(parent)) WHERE \(conditions)")
            return try Row.fetchOne(statement, arguments: StatementArguments(reference.map(\.databaseValue))) == nil
        }
    }

    extension StoredValue {
        /// A value that is the same for all values that collations of SQLite may treat as equal.
        fileprivate var folded: StoredValue {
            switch self {
            case .text(let text):
                var text = text.lowercased()
                while text.last == " " { text.removeLast() }
                return .text(text)
            case .real(let number): return Int64(exactly: number).map { .integer($0) } ?? self
            case .null, .integer, .blob: return self
            }
        }
    }
#endif
