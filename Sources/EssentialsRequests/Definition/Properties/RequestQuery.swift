public import EssentialsHTTP

/// The query items of a definition, in order. A name can occur more than once.
///
/// ```swift
/// RequestQuery {
///     ("role", "admin")
///     ("tag", ["new", "open"])            // tag=new&tag=open
///     ("flag", "")                        // the name alone
///     ("page", page)                      // nil removes items of this name that were inherited
/// }
/// ```
///
/// Names and values are escaped strictly, so that `+`, `&` and `=` are always part of them (RFC 3986, 2.3).
public struct RequestQuery: Sendable, Hashable {
    private enum Change: Sendable, Hashable {
        case add(QueryItems.Item)
        case remove(String)
    }

    private var changes: [Change] = []

    /// Creates a query without items.
    public init() {}

    /// Creates a query from items; see ``RequestQueryBuilder``.
    public init(@RequestQueryBuilder _ content: () -> RequestQuery) { self = content() }

    /// Creates a query of one item.
    public init(_ name: String, _ value: (some CustomStringConvertible)?) { append(name, value?.description) }

    /// Creates a query from query items.
    public init(_ items: QueryItems) { changes = items.items.map { .add($0) } }

    /// Adds an item. An empty value leaves the name alone, and `nil` removes the earlier items of this name.
    public mutating func append(_ name: String, _ value: String?) {
        guard let value else { return changes.append(.remove(name)) }
        changes.append(.add(QueryItems.Item(name: name, value: value.isEmpty ? nil : value)))
    }

    /// Adds the items of another query.
    public mutating func append(_ query: RequestQuery) {
        if changes.isEmpty { changes = query.changes } else { changes += query.changes }
    }

    /// Adds items after a beginning, or before all others if these do not begin with it.
    mutating func insert(_ other: RequestQuery, after beginning: RequestQuery) {
        changes.insert(
            contentsOf: other.changes, at: changes.starts(with: beginning.changes) ? beginning.changes.count : 0)
    }

    /// Sets the only item of a name. `nil` removes it.
    mutating func set(_ name: String, _ value: String?) {
        changes.append(.remove(name))
        if let value { append(name, value) }
    }

    /// Whether nothing is added or removed.
    var isEmpty: Bool { changes.isEmpty }

    /// The items that are sent.
    public var items: QueryItems {
        var items: [QueryItems.Item] = []
        items.reserveCapacity(changes.count)
        for change in changes {
            switch change {
            case .add(let item): items.append(item)
            case .remove(let name): items.removeAll { $0.name == name }
            }
        }
        return QueryItems(items)
    }
}

extension RequestQuery: ExpressibleByDictionaryLiteral {
    /// Creates items from a literal, in order. A name can occur more than once, and an array has an item for each of its
    /// elements.
    public init(dictionaryLiteral elements: (String, (any CustomStringConvertible & Sendable)?)...) {
        for (name, value) in elements {
            guard let value else { append(name, nil); continue }
            value.forEachText { append(name, $0) }
        }
    }
}

/// Builds a ``RequestQuery`` from pairs of name and value.
///
/// ```swift
/// QueryItems {
///     ("role", "admin")
///     for tag in tags { ("tag", tag) }
/// }
/// ```
@resultBuilder
public enum RequestQueryBuilder {
    /// A name and a value. An empty value leaves the name alone, and `nil` removes the earlier items of this name.
    public static func buildExpression(_ item: (String, (some CustomStringConvertible)?)) -> RequestQuery {
        RequestQuery(item.0, item.1)
    }

    /// A name with a value for each of several items.
    public static func buildExpression(_ item: (String, [some CustomStringConvertible])) -> RequestQuery {
        item.1.reduce(into: RequestQuery()) { $0.append(item.0, $1.description) }
    }

    /// A name with a value for each of several items. `nil` removes the earlier items of this name.
    public static func buildExpression(_ item: (String, [some CustomStringConvertible]?)) -> RequestQuery {
        item.1.map { buildExpression((item.0, $0)) } ?? RequestQuery(item.0, String?.none)
    }

    /// A name without a value that removes the earlier items of this name.
    public static func buildExpression(_ item: (String, Never?)) -> RequestQuery { RequestQuery(item.0, String?.none) }

    /// An item. Without a value it is the name alone.
    public static func buildExpression(_ item: QueryItems.Item) -> RequestQuery {
        RequestQuery(QueryItems([item]))
    }

    /// Query items.
    public static func buildExpression(_ items: QueryItems) -> RequestQuery { RequestQuery(items) }
    /// A query.
    public static func buildExpression(_ query: RequestQuery) -> RequestQuery { query }
    /// No item.
    public static func buildBlock() -> RequestQuery { RequestQuery() }
    /// The first statement.
    public static func buildPartialBlock(first: RequestQuery) -> RequestQuery { first }
    /// The statements so far and the next one.
    public static func buildPartialBlock(accumulated: RequestQuery, next: RequestQuery) -> RequestQuery {
        var query = accumulated
        query.append(next)
        return query
    }
    /// An `if` without `else`.
    public static func buildOptional(_ query: RequestQuery?) -> RequestQuery { query ?? RequestQuery() }
    /// The first branch.
    public static func buildEither(first query: RequestQuery) -> RequestQuery { query }
    /// The second branch.
    public static func buildEither(second query: RequestQuery) -> RequestQuery { query }
    /// A loop.
    public static func buildArray(_ queries: [RequestQuery]) -> RequestQuery {
        queries.reduce(into: RequestQuery()) { $0.append($1) }
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ query: RequestQuery) -> RequestQuery { query }
}
