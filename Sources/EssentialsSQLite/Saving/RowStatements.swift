#if Persistence
    import EssentialsPersistence
    import GRDB

    /// The statements that read and write single rows of one table, prepared once for each set of columns.
    ///
    /// All of them address the tables of the file, never a temporary view. A failure affects only its own statement,
    /// whatever conflict clauses the table has.
    final class RowStatements {
        /// The columns that a statement writes.
        private enum Shape: Hashable {
            case insert([Int])
            case update([Int])
            case updateIfEqual([Int])
        }

        /// The maximum number of shapes that are kept.
        private static let maximumShapes = 64
        /// The maximum number of columns that a statement compares. SQLite limits the depth of expressions.
        private static let maximumCompared = 200

        let layout: RowLayout
        private let db: Database
        private let source: String
        private let key: String
        let keyIndex: Int
        /// The columns in which NULL means that the model of the row lacks them.
        private let outside: [Int]
        private let all: [Int]
        private var prepared: [Shape: Statement] = [:]

        /// - Parameters:
        ///   - model: The model of the table, whose key identifies the rows.
        ///   - layout: The columns of the rows, which may be more than those of the model.
        /// - Throws: A failure with the reason `invalidModel` if the key is not among the columns.
        init(_ db: Database, model: ModelSchema, layout: RowLayout) throws(PersistenceFailure) {
            guard let keyIndex = layout.index(of: model.key) else {
                throw PersistenceFailure(
                    .invalidModel, "A row of \(model.table) has no column \(model.key).", model: model.table)
            }
            self.db = db
            self.layout = layout
            self.keyIndex = keyIndex
            source = "\"main\".\(SQLBuilder.quoted(model.table))"
            key = SQLBuilder.quoted(model.key)
            all = Array(layout.names.indices)
            outside = layout.names.indices.filter { model.isLacking(layout.names[$0]) }
        }

        /// Whether a statement can check that a row still equals this one, byte for byte.
        ///
        /// The two zeros of floating point are equal in SQL, so a row that has one must be read.
        func canCompare(_ base: StoredRow) -> Bool {
            base.values.count <= Self.maximumCompared
                && !base.values.contains { value in
                    if case .real(let number) = value { return number == 0 }
                    return false
                }
        }

        /// The columns of a row that are written when an entry is saved.
        ///
        /// A created row has NULL in the columns outside the model. So has a row that was created in place of a deleted
        /// one, although its base has values there. These columns keep their values in the file, just as they get their
        /// defaults in a new row.
        func written(_ columns: [Int], of row: StoredRow, _ entry: OverlayEntry) -> [Int] {
            if outside.isEmpty { return columns }
            return columns.filter { column in
                guard outside.contains(column), row.values[column].isNull else { return true }
                return entry.row?.values[column].isNull != true || entry.base?.values[column].isNull == true
            }
        }

        // MARK: Reading

        /// The row with an id; `nil` if it does not exist.
        func read(_ id: StoredValue) throws -> StoredRow? {
            let statement = try db.cachedStatement(
                sql: "SELECT \(list(layout.names.indices)) FROM \(source) WHERE \(hasKey(1))")
            let row = try Row.fetchOne(statement, arguments: Self.arguments([id]))
            return row.flatMap { row in StoredRow(layout, row.databaseValues.map { StoredValue($0) }) }
        }

        // MARK: Writing

        /// Inserts a row, and returns whether it was inserted: a trigger of the table can ignore it.
        ///
        /// Columns outside the model that are NULL are left out, so that they get their defaults.
        func insert(_ row: StoredRow) throws -> Bool {
            let omitted = outside.isEmpty ? [] : outside.filter { row.values[$0].isNull }
            let columns = omitted.isEmpty ? all : all.filter { !omitted.contains($0) }
            let values = omitted.isEmpty ? row.values : columns.map { row.values[$0] }
            try execute(.insert(columns), values, isCommon: omitted.isEmpty || omitted.count == outside.count) {
                let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
                return "INSERT OR ABORT INTO \(source)(\(list(columns))) VALUES (\(places))"
            }
            return db.changesCount > 0
        }

        /// Writes some columns of a row, and returns whether a row had this id.
        func update(_ row: StoredRow, columns: [Int], id: StoredValue) throws -> Bool {
            if columns.isEmpty { return try read(id) != nil }
            let values = columns.map { row.values[$0] } + [id]
            try execute(.update(columns), values, isCommon: columns.count <= 2) {
                "UPDATE OR ABORT \(source) SET \(assignments(columns)) WHERE \(hasKey(columns.count + 1))"
            }
            return db.changesCount > 0
        }

        /// Writes some columns of a row if all its columns still equal a base, and returns whether they did.
        func update(_ row: StoredRow, columns: [Int], ifEqualTo base: StoredRow) throws -> Bool {
            if columns.isEmpty { return try read(base.values[keyIndex]) == base }
            let values = columns.map { row.values[$0] } + base.values
            try execute(.updateIfEqual(columns), values, isCommon: columns.count <= 2) {
                "UPDATE OR ABORT \(source) SET \(assignments(columns)) WHERE \(isEqual(after: columns.count))"
            }
            return db.changesCount > 0
        }

        /// Deletes a row, and returns whether a row had this id.
        func delete(_ id: StoredValue) throws -> Bool {
            let statement = try db.cachedStatement(sql: "DELETE FROM \(source) WHERE \(hasKey(1))")
            try statement.execute(arguments: Self.arguments([id]))
            return db.changesCount > 0
        }

        /// Deletes a row if all its columns still equal a base, and returns whether they did.
        func delete(ifEqualTo base: StoredRow) throws -> Bool {
            let statement = try db.cachedStatement(sql: "DELETE FROM \(source) WHERE \(isEqual(after: 0))")
            try statement.execute(arguments: Self.arguments(base.values))
            return db.changesCount > 0
        }

        // MARK: Texts

        private func execute(_ shape: Shape, _ values: [StoredValue], isCommon: Bool, sql: () -> String) throws {
            do {
                try prepare(shape, isCommon: isCommon, sql: sql).execute(arguments: Self.arguments(values))
            } catch {
                // A failed statement would report its error again for the next row.
                prepared[shape] = nil
                throw error
            }
        }

        /// The statement of a shape. The connection caches common statements for later saves.
        private func prepare(_ shape: Shape, isCommon: Bool, sql: () -> String) throws -> Statement {
            if let statement = prepared[shape] { return statement }
            let statement = isCommon ? try db.cachedStatement(sql: sql()) : try db.makeStatement(sql: sql())
            if prepared.count >= Self.maximumShapes { prepared.removeAll() }
            prepared[shape] = statement
            return statement
        }

        private static func arguments(_ values: [StoredValue]) -> StatementArguments {
            StatementArguments(values.map(\.databaseValue))
        }

        private func name(_ column: Int) -> String { SQLBuilder.quoted(layout.names[column]) }

        private func list(_ columns: some Sequence<Int>) -> String {
            columns.map { name($0) }.joined(separator: ", ")
        }

        private func assignments(_ columns: [Int]) -> String {
            columns.enumerated().map { "\(name($1)) = ?\($0 + 1)" }.joined(separator: ", ")
        }

        /// The condition that finds a row by an argument. Its bytes are compared, because the index may have a
        /// collation.
        private func hasKey(_ argument: Int) -> String {
            "\(key) = ?\(argument) AND \(key) COLLATE BINARY = ?\(argument)"
        }

        /// The condition that a row equals the arguments from this number on, by kinds and by bytes.
        private func isEqual(after number: Int) -> String {
            let columns = layout.names.indices.map { column in
                let (name, argument) = (name(column), "?\(number + column + 1)")
                return "\(name) COLLATE BINARY IS \(argument) AND typeof(\(name)) = typeof(\(argument))"
            }
            return "\(key) = ?\(number + keyIndex + 1) AND \(columns.joined(separator: " AND "))"
        }
    }
#endif
