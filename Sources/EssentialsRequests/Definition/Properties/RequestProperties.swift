import EssentialsHTTP

/// The path, query, header fields and body of a definition, or those that a component shares with its requests.
///
/// ```swift
/// static var sharedProperties: RequestProperties {
///     RequestHeaders { ("X-Tenant", "acme") }
///     RequestQuery { ("v", 2) }
/// }
/// ```
///
/// Properties are inherited from the parent to the child: paths and queries are appended, and a header field of the
/// child replaces or removes that of its parent.
public struct RequestProperties: Sendable {
    /// The path below the component.
    public var path = RequestPath()
    /// The query items.
    public var query = RequestQuery()
    /// The header fields.
    public var headers = RequestHeaders()
    /// The body.
    public var body = RequestContent()
    /// The methods of the statements of a request.
    var methods: [HTTPRequest.Method] = []

    /// Creates no properties.
    public init() {}

    /// Creates properties from statements; see ``RequestPropertiesBuilder``.
    public init(@RequestPropertiesBuilder _ content: () -> RequestProperties) { self = content() }

    /// Properties with which no request can be built.
    init(failingWith failure: RequestFailure) { path.refuse(failure) }

    /// Whether there are no properties and no failures.
    var isEmpty: Bool {
        path.isEmpty && path.failure == nil && query.changesNothing && headers.changesNothing && body.isEmpty
    }

    /// Inserts another path before their own.
    mutating func insert(_ path: RequestPath) {
        guard !path.isEmpty || path.failure != nil else { return }
        var whole = path
        whole.append(self.path)
        self.path = whole
    }

    /// Adds the properties of a child after these.
    public mutating func append(_ other: RequestProperties) {
        path.append(other.path)
        query.append(other.query)
        headers.append(other.headers)
        if !other.body.isEmpty { body = body.joined(with: other.body) }
        if !other.methods.isEmpty { methods += other.methods }
    }
}

/// A part of a definition that a ``RequestPropertiesBuilder`` accepts: path components, query items, header fields, a
/// body, or several of them.
public protocol RequestProperty: Sendable {
    /// Adds the part after those that the properties have.
    func add(to properties: inout RequestProperties)
}

extension RequestPath: RequestProperty {
    /// Appends the path.
    public func add(to properties: inout RequestProperties) { properties.path.append(self) }
}

extension RequestQuery: RequestProperty {
    /// Appends the query items.
    public func add(to properties: inout RequestProperties) { properties.query.append(self) }
}

extension RequestHeaders: RequestProperty {
    /// Adds the header fields.
    public func add(to properties: inout RequestProperties) { properties.headers.append(self) }
}

extension RequestHeader: RequestProperty {
    /// Adds the header field.
    public func add(to properties: inout RequestProperties) { properties.headers.append(self) }
}

extension RequestContent: RequestProperty {
    /// Adds the body.
    public func add(to properties: inout RequestProperties) {
        properties.body = properties.body.joined(with: self)
    }
}

extension RequestProperties: RequestProperty {
    /// Adds all properties.
    public func add(to properties: inout RequestProperties) { properties.append(self) }
}

/// Builds ``RequestProperties`` from path components, query items, header fields and a body, in any order.
///
/// ```swift
/// request(.post) {
///     RequestPath { "users" }
///     if let tag { RequestQuery { ("tag", tag) } }
///     RequestContent { user }
/// }
/// ```
@resultBuilder
public enum RequestPropertiesBuilder: RequestStatements {
    /// A path, query items, header fields or a body.
    public static func buildExpression<Property: RequestProperty>(_ property: Property) -> Property { property }
    /// No property.
    public static func buildBlock() -> RequestProperties { RequestProperties() }
    /// The first statement.
    public static func buildPartialBlock(first property: some RequestProperty) -> RequestProperties {
        var properties = RequestProperties()
        property.add(to: &properties)
        return properties
    }
    /// The statements so far and the next one.
    public static func buildPartialBlock(
        accumulated: consuming RequestProperties, next property: some RequestProperty
    ) -> RequestProperties {
        property.add(to: &accumulated)
        return accumulated
    }
}

/// The control flow that ``RequestPropertiesBuilder`` and ``APIRequestBuilder`` have in common.
public protocol RequestStatements {}

extension RequestStatements {
    /// An `if` without `else`.
    public static func buildOptional(_ properties: RequestProperties?) -> RequestProperties {
        properties ?? RequestProperties()
    }
    /// The first branch.
    public static func buildEither(first properties: RequestProperties) -> RequestProperties { properties }
    /// The second branch.
    public static func buildEither(second properties: RequestProperties) -> RequestProperties { properties }
    /// A loop.
    public static func buildArray(_ properties: [RequestProperties]) -> RequestProperties {
        properties.reduce(into: RequestProperties()) { $0.append($1) }
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ properties: RequestProperties) -> RequestProperties { properties }
}

extension RequestProperties: CustomReflectable {
    /// The path, and the names of query items and header fields.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "path": path.encoded, "query": query.items.items.map(\.name),
                "headers": headers.shownNames, "body": body.description,
            ])
    }
}
