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
    private var kept: [EssentialsHTTP.QueryItems.Item] = []
    /// The names whose items are removed from those of a parent.
    private var removed: [String] = []

    /// Creates a query without items.
    public init() {}

    /// Creates a query from items; see ``RequestQueryBuilder``.
    public init(@RequestQueryBuilder _ content: () -> RequestQuery) { self = content() }

    /// Creates a query of one item.
    public init(_ name: String, _ value: (some CustomStringConvertible)?) { append(name, value?.description) }

    /// Creates a query from query items.
    public init(_ items: EssentialsHTTP.QueryItems) { kept = items.items }

    /// Creates a query of the first item of several.
    @usableFromInline init(beginningWith item: RequestQueryItem) {
        // Most queries have at most four items, and the array would grow three times.
        kept.reserveCapacity(4)
        append(item)
    }

    /// Adds an item. An empty value leaves the name alone, and `nil` removes the earlier items of this name.
    public mutating func append(_ name: String, _ value: String?) {
        guard let value else { return remove(name) }
        kept.append(EssentialsHTTP.QueryItems.Item(name: name, value: value.isEmpty ? nil : value))
    }

    /// Adds the items of another query, which can remove items of this one.
    public mutating func append(_ query: RequestQuery) {
        for name in query.removed { remove(name) }
        if kept.isEmpty { kept = query.kept } else { kept += query.kept }
    }

    @usableFromInline mutating func append(_ item: RequestQueryItem) {
        switch item.content {
        case .item(let item): kept.append(item)
        case .removal(let name): remove(name)
        }
    }

    /// Sets the only item of a name. `nil` removes it.
    mutating func set(_ name: String, _ value: String?) {
        remove(name)
        if let value { append(name, value) }
    }

    private mutating func remove(_ name: String) {
        kept.removeAll { $0.name == name }
        removed.append(name)
    }

    /// Whether there are neither items nor removed names.
    var changesNothing: Bool { kept.isEmpty && removed.isEmpty }

    /// The items that are sent.
    public var items: EssentialsHTTP.QueryItems { EssentialsHTTP.QueryItems(kept) }
}

extension RequestQuery: CustomReflectable {
    /// The names of the items, without their values.
    public var customMirror: Mirror { Mirror(self, children: ["names": kept.map(\.name)]) }
}

/// One statement of a ``RequestQueryBuilder``.
public struct RequestQueryItem: Sendable {
    enum Content: Sendable {
        case item(EssentialsHTTP.QueryItems.Item)
        case removal(String)
    }

    let content: Content

    @usableFromInline init(_ name: String, _ value: String?) {
        content =
            value.map { .item(EssentialsHTTP.QueryItems.Item(name: name, value: $0.isEmpty ? nil : $0)) }
            ?? .removal(name)
    }

    init(_ item: EssentialsHTTP.QueryItems.Item) { content = .item(item) }
}

extension RequestQuery: ExpressibleByDictionaryLiteral {
    /// Creates items from a literal, in order. A name can occur more than once, and an array has an item for each of its
    /// elements.
    public init(dictionaryLiteral elements: (String, (any CustomStringConvertible & Sendable)?)...) {
        for (name, value) in elements {
            guard let value else { append(name, nil); continue }
            value.forEachValue { append(name, $0.description) }
        }
    }
}

/// Builds a ``RequestQuery`` from pairs of name and value.
///
/// ```swift
/// RequestQuery {
///     for tag in tags { ("tag", tag) }
///     ("role", "admin")
/// }
/// ```
@resultBuilder
public enum RequestQueryBuilder {
    /// A name and a value. An empty value leaves the name alone, and `nil` removes the earlier items of this name.
    @inlinable
    public static func buildExpression(_ item: (String, (some CustomStringConvertible)?)) -> RequestQueryItem {
        RequestQueryItem(item.0, item.1?.description)
    }

    /// A name and a text. An empty text leaves the name alone.
    public static func buildExpression(_ item: (String, String)) -> RequestQueryItem {
        RequestQueryItem(item.0, item.1)
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
    public static func buildExpression(_ item: (String, Never?)) -> RequestQueryItem { RequestQueryItem(item.0, nil) }

    /// An item. Without a value it is the name alone.
    public static func buildExpression(_ item: QueryItems.Item) -> RequestQueryItem { RequestQueryItem(item) }

    /// Query items.
    public static func buildExpression(_ items: QueryItems) -> RequestQuery { RequestQuery(items) }
    /// A query.
    public static func buildExpression(_ query: RequestQuery) -> RequestQuery { query }
    /// No item.
    public static func buildBlock() -> RequestQuery { RequestQuery() }
    /// The first statement.
    @inlinable public static func buildPartialBlock(first: consuming RequestQuery) -> RequestQuery { first }
    /// The first statement.
    @inlinable public static func buildPartialBlock(first: RequestQueryItem) -> RequestQuery {
        RequestQuery(beginningWith: first)
    }
    /// The statements so far and the next one.
    @inlinable public static func buildPartialBlock(
        accumulated: consuming RequestQuery, next: RequestQuery
    ) -> RequestQuery {
        accumulated.append(next)
        return accumulated
    }
    /// The statements so far and the next one.
    @inlinable public static func buildPartialBlock(
        accumulated: consuming RequestQuery, next: consuming RequestQueryItem
    ) -> RequestQuery {
        accumulated.append(next)
        return accumulated
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
