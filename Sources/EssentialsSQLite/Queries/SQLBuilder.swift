#if Persistence
    import EssentialsPersistence

    /// Translates queries to SQL. All translation happens here.
    struct SQLBuilder {
        /// The maximum number of arguments. SQLite allows 32,766.
        static let maximumArguments = 32_000
        /// The maximum depth of a filter. SQLite allows a depth of 1,000, and one level of a filter takes several of
        /// SQLite's.
        static let maximumDepth = 100

        private(set) var sql = ""
        private(set) var arguments: [StoredValue] = []
        private var depth = 0

        /// A name as SQL.
        static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

        mutating func append(_ text: String) { sql += text }

        mutating func append(_ value: StoredValue) {
            sql += "?"
            arguments.append(value)
        }

        mutating func append(list: [StoredValue]) {
            for (index, value) in list.enumerated() {
                if index > 0 { sql += ", " }
                append(value)
            }
        }

        mutating func select(
            _ node: RowQuery, columns: [String], source: String? = nil
        ) throws(PersistenceFailure) {
            let table = Self.quoted(node.table)
            append(node.isDistinct ? "SELECT DISTINCT " : "SELECT ")
            append((node.column.map { [$0] } ?? columns).map { "\(table).\(Self.quoted($0))" }.joined(separator: ", "))
            try from(node, source: source)
            order(node, table: table)
            try limit(node)
        }

        /// Appends the table and the condition.
        mutating func from(_ node: RowQuery, source: String?) throws(PersistenceFailure) {
            append(" FROM \(source ?? Self.quoted(node.table))")
            guard let filter = node.filter else { return }
            append(" WHERE ")
            try condition(filter, table: node.table)
        }

        /// Appends a selection that computes a result from the values of the column of a query.
        ///
        /// - Parameter selection: The beginning of the statement, given the column in SQL.
        mutating func ofValues(
            _ node: RowQuery, source: String?, _ selection: (String) -> String
        ) throws(PersistenceFailure) {
            guard node.limit != nil || node.offset != 0 || node.isDistinct else {
                append(selection("\(Self.quoted(node.table)).\(Self.quoted(node.column ?? node.key))"))
                return try from(node, source: source)
            }
            // Only this form gives a column of a subquery a reliable name.
            append("WITH essentials_values(essentials_value) AS (")
            try select(node, columns: [node.key], source: source)
            append(") \(selection("essentials_value")) FROM essentials_values")
        }

        private mutating func order(_ node: RowQuery, table: String) {
            if node.isDistinct, let column = node.column { return append(" ORDER BY \(table).\(Self.quoted(column))") }
            append(" ORDER BY ")
            for order in node.order {
                append("\(table).\(Self.quoted(order.column))\(order.isDescending ? " DESC" : "")")
                // Keys are unique, so columns that follow the key in the order have no effect.
                if order.column == node.key { return }
                append(", ")
            }
            append("\(table).\(Self.quoted(node.key))")
        }

        private mutating func limit(_ node: RowQuery) throws(PersistenceFailure) {
            guard node.offset >= 0, node.limit ?? 0 >= 0 else {
                throw PersistenceFailure(
                    .invalidQuery, "A limit and an offset are at least 0.", model: node.table)
            }
            guard node.limit != nil || node.offset > 0 else { return }
            append(" LIMIT ")
            append(.integer(node.limit.map(Int64.init) ?? -1))
            guard node.offset > 0 else { return }
            append(" OFFSET ")
            append(.integer(Int64(node.offset)))
        }

        // MARK: Conditions

        /// Appends a condition that is true for exactly the rows that pass, and false or NULL for all others.
        private mutating func condition(_ node: RowFilter, table: String) throws(PersistenceFailure) {
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.maximumDepth else {
                throw PersistenceFailure(.invalidQuery, "A filter is too deeply nested.", model: table)
            }
            switch node {
            case .all(let nodes): try joined(nodes[...], " AND ", empty: "1", table)
            case .any(let nodes): try joined(nodes[...], " OR ", empty: "0", table)
            case .not(let node): try negation(node, table)
            case .comparison(let column, let comparison, let argument):
                compare(name(column, table), comparison, try value(argument, table))
            case .columns(let one, let comparison, let other):
                append(name(one, table) + symbol(comparison, null: true) + name(other, table))
            case .between(let column, let lowest, let highest):
                try between(name(column, table), value(lowest, table), value(highest, table))
            case .contained(let column, let values): try contained(name(column, table), values, table)
            case .text(let column, let match, let argument):
                TextCondition(column: name(column, table)).append(match, try value(argument, table), to: &self)
            case .subquery(let column, let node):
                append("\(name(column, table)) IN (")
                try select(node, columns: [node.key])
                append(")")
            case .sql(let text, let values): try expression(text, values, table)
            }
        }

        private func name(_ column: String, _ table: String) -> String {
            "\(Self.quoted(table)).\(Self.quoted(column))"
        }

        private func value(_ argument: RowFilter.Argument, _ table: String) throws(PersistenceFailure) -> StoredValue {
            if let value = argument.value { return value }
            throw PersistenceFailure(
                .invalidQuery, "A value of a filter cannot be stored: it is out of range or has a NUL character.",
                model: table)
        }

        /// Joins conditions as a balanced tree, because SQLite limits the depth of expressions.
        private mutating func joined(
            _ nodes: ArraySlice<RowFilter>, _ word: String, empty: String, _ table: String
        ) throws(PersistenceFailure) {
            guard let first = nodes.first else { return append(empty) }
            if nodes.count == 1 { return try condition(first, table: table) }
            let middle = nodes.startIndex + nodes.count / 2
            append("(")
            try joined(nodes[..<middle], word, empty: empty, table)
            append(word)
            try joined(nodes[middle...], word, empty: empty, table)
            append(")")
        }

        /// Appends the opposite of a condition. Negations move inwards, so that NULL counts as false everywhere.
        private mutating func negation(_ node: RowFilter, _ table: String) throws(PersistenceFailure) {
            switch node {
            case .all(let nodes): try condition(.any(nodes.map { .opposite($0) }), table: table)
            case .any(let nodes): try condition(.all(nodes.map { .opposite($0) }), table: table)
            case .not(let node): try condition(node, table: table)
            default:
                append("(")
                try condition(node, table: table)
                append(") IS NOT TRUE")
            }
        }

        private func symbol(_ comparison: RowFilter.Comparison, null: Bool) -> String {
            switch comparison {
            case .equal: null ? " IS " : " = "
            case .notEqual: " IS NOT "
            case .less: " < "
            case .lessOrEqual: " <= "
            case .greater: " > "
            case .greaterOrEqual: " >= "
            }
        }

        private mutating func compare(_ column: String, _ comparison: RowFilter.Comparison, _ value: StoredValue) {
            if value.isNull {
                switch comparison {
                case .equal: append("\(column) IS NULL")
                case .notEqual: append("\(column) IS NOT NULL")
                case .less, .lessOrEqual, .greater, .greaterOrEqual: append("0")
                }
            } else {
                append(column + symbol(comparison, null: false))
                append(value)
            }
        }

        private mutating func between(_ column: String, _ lowest: StoredValue, _ highest: StoredValue) {
            if lowest.isNull || highest.isNull { return append("0") }
            append("\(column) BETWEEN ")
            append(lowest)
            append(" AND ")
            append(highest)
        }

        private mutating func contained(
            _ column: String, _ arguments: [RowFilter.Argument], _ table: String
        ) throws(PersistenceFailure) {
            var values: [StoredValue] = []
            for argument in arguments { values.append(try value(argument, table)) }
            let hasNull = values.contains { $0.isNull }
            values.removeAll { $0.isNull }
            if values.isEmpty { return append(hasNull ? "\(column) IS NULL" : "0") }
            append(hasNull ? "(\(column) IS NULL OR \(column) IN (" : "\(column) IN (")
            append(list: values)
            append(hasNull ? "))" : ")")
        }

        private mutating func expression(
            _ text: String, _ values: [StoredValue], _ table: String
        ) throws(PersistenceFailure) {
            for value in values {
                if case .text(let text) = value, text.storedValue == nil {
                    throw PersistenceFailure(.invalidQuery, "An argument has a NUL character.", model: table)
                }
            }
            // The line break ends a comment at the end of the text.
            append("(\(text)\n)")
            arguments += values
        }
    }
#endif
