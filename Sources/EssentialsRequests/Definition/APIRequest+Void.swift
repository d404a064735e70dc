public import EssentialsHTTP

/// Definitions without a model: a body of the response is ignored. They need no type.
///
/// ```swift
/// static let ping = request(.post, "ping")                                // APIRequest<Void>
/// let remove = APIRequest(.delete, "users/7")
/// let bytes = APIRequest(.get, "log").reading(DataResponse.self)          // the response with its body
/// ```
extension APIRequest where Response == Void {
    /// Creates a definition without a model; see ``init(_:_:parent:as:_:)``.
    public init<Parent: APIComponent>(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(), parent: Parent.Type,
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) {
        self.init(method, path, in: Parent.context, properties())
    }

    /// Creates a definition without a model below the environment of the service that sends it.
    public init(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(),
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) {
        self.init(method, path, in: EnvironmentAPI.context, properties())
    }

    /// Creates a definition without a model for a whole URL; see ``init(_:url:as:_:)``.
    public init(
        _ method: HTTPRequest.Method, url: RequestBase,
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) {
        self.init(method, in: APIContext(base: url), properties())
    }
}

extension APIComponent {
    /// Creates a request without a model that inherits from this component; see ``request(_:_:as:_:)``.
    ///
    /// ```swift
    /// static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
    /// static let ping = request(.post, "ping")
    /// ```
    public static func request(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(),
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) -> APIRequest<Void> {
        APIRequest(method, path, in: context, properties())
    }
}

extension APIContextProvider {
    /// Creates a request without a model that inherits from this value; see ``APIComponent/request(_:_:as:_:)``.
    public func request(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(),
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) -> APIRequest<Void> {
        APIRequest(method, path, in: context, properties())
    }
}
