import EssentialsHTTP

/// The path, query, header fields and body of a definition, or those that a component shares with its requests.
///
/// ```swift
/// static var sharedProperties: RequestProperties {
///     Headers { ("X-Tenant", "acme") }
///     QueryItems { ("v", 2) }
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

    /// Creates properties of which one has a value.
    init(
        path: RequestPath = RequestPath(), query: RequestQuery = RequestQuery(),
        headers: RequestHeaders = RequestHeaders(), body: RequestContent = RequestContent()
    ) {
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// Adds the properties of a child after these.
    public mutating func append(_ other: RequestProperties) {
        path.append(other.path)
        query.append(other.query)
        headers.append(other.headers)
        body = body.joined(with: other.body)
        methods += other.methods
    }
}

/// Builds ``RequestProperties`` from path components, query items, header fields and a body, in any order.
///
/// ```swift
/// request(.post) {
///     PathComponents { "users" }
///     if let tag { QueryItems { ("tag", tag) } }
///     Body { user }
/// }
/// ```
@resultBuilder
public enum RequestPropertiesBuilder {
    /// Path components.
    public static func buildExpression(_ path: RequestPath) -> RequestProperties { RequestProperties(path: path) }
    /// Query items.
    public static func buildExpression(_ query: RequestQuery) -> RequestProperties { RequestProperties(query: query) }
    /// Header fields.
    public static func buildExpression(_ headers: RequestHeaders) -> RequestProperties {
        RequestProperties(headers: headers)
    }
    /// One header field.
    public static func buildExpression(_ header: RequestHeader) -> RequestProperties {
        RequestProperties(headers: RequestHeaders(header))
    }
    /// A body.
    public static func buildExpression(_ body: RequestContent) -> RequestProperties { RequestProperties(body: body) }
    /// Several properties.
    public static func buildExpression(_ properties: RequestProperties) -> RequestProperties { properties }
    /// No property.
    public static func buildBlock() -> RequestProperties { RequestProperties() }
    /// The first statement.
    public static func buildPartialBlock(first: RequestProperties) -> RequestProperties { first }
    /// The statements so far and the next one.
    public static func buildPartialBlock(
        accumulated: RequestProperties, next: RequestProperties
    ) -> RequestProperties {
        var properties = accumulated
        properties.append(next)
        return properties
    }
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
                "headers": headers.headers.map(\.description), "body": body.description,
            ])
    }
}
