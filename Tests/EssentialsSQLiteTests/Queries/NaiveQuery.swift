@testable import EssentialsPersistence

/// Evaluates queries over rows in memory, only by their documented meaning. Another test target has a link to this
/// file.
struct NaiveQuery {
    let tables: [String: [StoredRow]]
    /// The meaning of a condition in SQL.
    var sql: (StoredRow) -> Bool = { _ in false }

    func rows(_ node: RowQuery) -> [StoredRow] {
        let rows = tables[node.table] ?? []
        let found = node.filter.map { filter in rows.filter { passes(filter, $0) } } ?? rows
        let order = node.order.map { ($0.column, $0.isDescending) } + [(node.key, false)]
        let sorted = found.sorted { one, other in
            for (column, isDescending) in order {
                let (first, second) = (one[column] ?? .null, other[column] ?? .null)
                if Self.less(first, second) { return !isDescending }
                if Self.less(second, first) { return isDescending }
            }
            return false
        }
        return node.isDistinct ? sorted : Self.page(sorted, node)
    }

    func values(_ node: RowQuery) -> [StoredValue] {
        let values = rows(node).map { $0[node.column ?? node.key] ?? .null }
        guard node.isDistinct else { return values }
        var distinct: [StoredValue] = []
        for value in values.sorted(by: Self.less) where distinct.last.map({ Self.less($0, value) }) ?? true {
            distinct.append(value)
        }
        return Self.page(distinct, node)
    }

    private static func page<Element>(_ list: [Element], _ node: RowQuery) -> [Element] {
        let rest = list.dropFirst(node.offset)
        return Array(node.limit.map { rest.prefix($0) } ?? rest)
    }

    func passes(_ node: RowFilter, _ row: StoredRow) -> Bool {
        func value(_ column: String) -> StoredValue { row[column] ?? .null }
        switch node {
        case .all(let nodes): return nodes.allSatisfy { passes($0, row) }
        case .any(let nodes): return nodes.contains { passes($0, row) }
        case .not(let node): return !passes(node, row)
        case .comparison(let column, let comparison, let argument):
            return Self.compare(value(column), comparison, argument.value ?? .null)
        case .columns(let one, let comparison, let other):
            return Self.compare(value(one), comparison, value(other))
        case .between(let column, let lowest, let highest):
            return Self.compare(value(column), .greaterOrEqual, lowest.value ?? .null)
                && Self.compare(value(column), .lessOrEqual, highest.value ?? .null)
        case .contained(let column, let values):
            return values.contains { Self.compare(value(column), .equal, $0.value ?? .null) }
        case .text(let column, let match, let argument):
            guard case .text(let text) = value(column), case .text(let part)? = argument.value else { return false }
            return Self.matches(Array(text.utf8), match, Array(part.utf8))
        case .subquery(let column, let node):
            let found = value(column)
            return !found.isNull && values(node).contains { Self.compare(found, .equal, $0) }
        case .sql: return sql(row)
        }
    }

    private static func matches(_ text: [UInt8], _ match: RowFilter.TextMatch, _ part: [UInt8]) -> Bool {
        switch match {
        case .hasPrefix: text.starts(with: part)
        case .hasSuffix: text.reversed().starts(with: part.reversed())
        case .contains: (0...text.count).contains { text[$0...].starts(with: part) }
        }
    }

    private static func compare(
        _ one: StoredValue, _ comparison: RowFilter.Comparison, _ other: StoredValue
    ) -> Bool {
        let isEqual = !less(one, other) && !less(other, one)
        if comparison == .equal { return isEqual }
        if comparison == .notEqual { return !isEqual }
        if one.isNull || other.isNull { return false }
        switch comparison {
        case .less: return less(one, other)
        case .lessOrEqual: return !less(other, one)
        case .greater: return less(other, one)
        default: return !less(one, other)
        }
    }

    /// The order of values: NULL, numbers, texts, bytes. The numbers of the tests are compared with their own kind.
    static func less(_ one: StoredValue, _ other: StoredValue) -> Bool {
        switch (one, other) {
        case (.integer(let one), .integer(let other)): one < other
        case (.real(let one), .real(let other)): one < other
        case (.text(let one), .text(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        case (.blob(let one), .blob(let other)): one.lexicographicallyPrecedes(other)
        default: rank(one) < rank(other)
        }
    }

    private static func rank(_ value: StoredValue) -> Int {
        switch value {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }
}
