/// Which changes can alter what an observation reads.
struct ChangeInterest: Sendable, Hashable {
    /// The tables that are read, each with the ids of the only rows that count; `nil` instead of ids means all rows.
    /// Without tables, every change counts.
    private let tables: [String: Set<StoredValue>?]?

    init(_ plan: PersistenceJob.Plan) {
        if let lookup = plan.lookup {
            tables = [lookup.table: Set(lookup.ids)]
        } else {
            tables = plan.tables.map { Self.all($0) }
        }
    }

    init(_ query: RowQuery) {
        if let ids = query.ids {
            tables = [query.table: ids]
        } else {
            tables = query.tables.map { Self.all($0) }
        }
    }

    private static func all(_ tables: Set<String>) -> [String: Set<StoredValue>?] {
        Dictionary(uniqueKeysWithValues: tables.map { ($0, nil) })
    }

    /// Whether the change can alter what is read.
    func includes(_ change: PersistenceChange) -> Bool {
        guard let tables else { return true }
        return tables.contains { table, ids in
            ids.map { change.touches(table, ids: $0) } ?? change.touches(table)
        }
    }
}

extension RowQuery {
    /// The ids of the only rows that decide what the query finds; `nil` if they are not known.
    fileprivate var ids: Set<StoredValue>? {
        guard tables == [table], let filter, !filter.hasSubquery else { return nil }
        return filter.ids(in: key)
    }
}

extension RowFilter {
    fileprivate var hasSubquery: Bool {
        switch self {
        case .all(let nodes), .any(let nodes): nodes.contains { $0.hasSubquery }
        case .not(let node): node.hasSubquery
        case .subquery: true
        case .comparison, .columns, .between, .contained, .text, .sql: false
        }
    }

    /// The ids without which no row passes the filter.
    fileprivate func ids(in key: String) -> Set<StoredValue>? {
        switch self {
        case .comparison(key, .equal, let argument): return Self.exact([argument])
        case .contained(key, let arguments): return Self.exact(arguments)
        case .all(let nodes): return nodes.lazy.compactMap { $0.ids(in: key) }.first
        case .any(let nodes):
            var ids: Set<StoredValue> = []
            for node in nodes {
                guard let more = node.ids(in: key) else { return nil }
                ids.formUnion(more)
            }
            return ids
        case .not, .comparison, .columns, .between, .contained, .text, .subquery, .sql: return nil
        }
    }

    /// Values that equal only themselves. A text may equal others, as its column's collation says.
    private static func exact(_ arguments: [RowFilter.Argument]) -> Set<StoredValue>? {
        let values = arguments.compactMap { argument -> StoredValue? in
            switch argument.value {
            case .integer, .blob: argument.value
            case .null, .real, .text, nil: nil
            }
        }
        return values.count == arguments.count ? Set(values) : nil
    }
}
