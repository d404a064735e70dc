public import EssentialsHTTP

/// Builds an ``APIRequest`` from statements: its method and its properties, in any order.
///
/// ```swift
/// @APIRequestBuilder<Users>
/// static func find(role: String?) -> APIRequest<[User]> {
///     HTTPRequest.Method.get
///     RequestPath { "search" }
///     if let role { RequestQuery { ("role", role) } }
/// }
/// ```
///
/// The statements have exactly one method. Otherwise the request fails as `invalidRequest` when it is built.
@resultBuilder
public enum APIRequestBuilder<Parent: APIComponent>: RequestStatements {
    /// The method.
    public static func buildExpression(_ method: HTTPRequest.Method) -> RequestProperties {
        var properties = RequestProperties()
        properties.methods = [method]
        return properties
    }
    /// A path, query items, header fields or a body.
    public static func buildExpression<Property: RequestProperty>(_ property: Property) -> Property { property }
    /// The first statement.
    public static func buildPartialBlock(first property: some RequestProperty) -> RequestProperties {
        RequestPropertiesBuilder.buildPartialBlock(first: property)
    }
    /// The statements so far and the next one.
    public static func buildPartialBlock(
        accumulated: consuming RequestProperties, next property: some RequestProperty
    ) -> RequestProperties {
        property.add(to: &accumulated)
        return accumulated
    }

    /// The definition.
    public static func buildFinalResult<Response: Sendable>(_ properties: RequestProperties) -> APIRequest<Response> {
        var request = APIRequest<Response>(
            properties.methods.first ?? .get, RequestPath(), in: Parent.context, properties)
        if properties.methods.count != 1 {
            request.failure = RequestFailure(
                .invalidRequest,
                properties.methods.isEmpty
                    ? "The definition of \(request.description) has no method."
                    : "The definition of \(request.description) has \(properties.methods.count) methods.",
                remedy: "Write one method among its statements, such as HTTPRequest.Method.get.")
        }
        return request
    }
}
