public import EssentialsHTTP

/// A request that names what its response is read as: an ``APIRequest`` or a ``ServiceRequest``.
///
/// ```swift
/// let user = try await requests.send(Users.get(id: 7))             // User
/// ```
public protocol TypedRequest: BuildableRequest {
    /// What the response is read as.
    associatedtype Response: Sendable
    /// The definition of the request.
    var definition: APIRequest<Response> { get }
}

extension TypedRequest {
    /// Returns the request.
    ///
    /// - Throws: `invalidRequest` or `file` for the first part of the definition that is invalid.
    public func build() throws(RequestFailure) -> DataRequest { try definition.request() }
}

/// A request as a type, with one property for each part.
///
/// ```swift
/// struct SearchFilms: ServiceRequest {
///     typealias Parent = Shop
///     typealias Response = [Film]
///     let text: String
///
///     var method: HTTPRequest.Method { .get }
///     var pathComponents: RequestPath { "films"; "search" }
///     var queryItems: RequestQuery { ("q", text) }
/// }
/// let films = try await requests.send(SearchFilms(text: "metropolis"))
/// ```
///
/// Only `method` has no default. Without a `Response`, a body of the response is ignored. Without a `Parent`, the path is
/// below the environment of the service that sends the request. A value of an ``APIService`` sends it elsewhere:
/// `staging.request(SearchFilms(text: "x"))`.
public protocol ServiceRequest: TypedRequest {
    /// What the response is read as. The default is `Void`, for a request without a model.
    override associatedtype Response: Sendable = Void
    /// The component that the request inherits from. The default is the environment.
    associatedtype Parent: APIComponent = EnvironmentAPI
    /// The method.
    var method: HTTPRequest.Method { get }
    /// The path below the component. The default is empty.
    @RequestPathBuilder var pathComponents: RequestPath { get }
    /// The query items. The default is none.
    @RequestQueryBuilder var queryItems: RequestQuery { get }
    /// The header fields. The default is none.
    @RequestHeadersBuilder var headers: RequestHeaders { get }
    /// The media type of the body. The default is `nil`, which means that it follows from the body.
    ///
    /// It replaces a `Content-Type` in ``headers``, chooses the codec of a model, and is the type of bytes and text. It
    /// does not replace a type that was given to the body itself, as in `RequestContent(model, as: .form)`. A request
    /// without a body has no `Content-Type` field.
    var contentType: ContentTypeChoice { get }
    /// The type of ``contentType``, which follows from its declaration.
    associatedtype ContentTypeChoice: DefinitionChoice<MediaType> = MediaType?
    /// The key by which the server recognizes the request if it is sent again. The default is `nil`, which means that of
    /// the parent's configuration.
    var idempotencyKey: IdempotencyKeyChoice { get }
    /// The type of ``idempotencyKey``, which follows from its declaration.
    associatedtype IdempotencyKeyChoice: DefinitionChoice<IdempotencyKey> = IdempotencyKey?
    /// The body. The default is none.
    @RequestContentBuilder var body: RequestContent { get }
}

extension ServiceRequest {
    /// The path of the component.
    public var pathComponents: RequestPath { RequestPath() }
    /// No query items.
    public var queryItems: RequestQuery { RequestQuery() }
    /// No header fields.
    public var headers: RequestHeaders { RequestHeaders() }
    /// The type that follows from the body.
    public var contentType: MediaType? { nil }
    /// The key of the parent's configuration.
    public var idempotencyKey: IdempotencyKey? { nil }
    /// No body.
    public var body: RequestContent { RequestContent() }

    /// The definition made from the properties.
    public var definition: APIRequest<Response> {
        var properties = RequestProperties()
        properties.path = pathComponents
        properties.query = queryItems
        properties.headers = headers
        properties.body = body
        if let contentType = contentType.definitionValue, !properties.body.isEmpty {
            properties.headers.append(.contentType(contentType))
        }
        let request = APIRequest<Response>(method, RequestPath(), in: Parent.context, properties)
        return idempotencyKey.definitionValue.map { request.idempotencyKey($0) } ?? request
    }
}
