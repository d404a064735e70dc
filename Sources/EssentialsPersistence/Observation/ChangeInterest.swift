/// Decides which changes can alter the result of an observed read.
struct ChangeInterest: Sendable, Hashable {
    /// The tables that are read, each with the only ids that matter; `nil` instead of ids means all rows. If there are
    /// no tables, every change matters.
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

    /// Whether the change can alter the result.
    func includes(_ change: PersistenceChange) -> Bool {
        guard let tables else { return true }
        return tables.contains { table, ids in
            ids.map { change.touches(table, ids: $0) } ?? change.touches(table)
        }
    }
}

extension RowQuery {
    /// The only ids that can be in the result; `nil` if they are unknown.
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

    /// The only ids that can pass the filter; `nil` if they are unknown.
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

    /// The values, if each equals only itself. A text may equal others under its column's collation.
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
