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
///
/// A property can throw: `var body: RequestContent { get throws { … } }`. Then the request fails with this failure when it
/// is built, and with `invalidRequest` for another error. An `async` or `static` property is no part of the request.
///
/// Path, query items or a body that are declared with another type than here are an error of the compiler, so that the
/// default does not take their place unnoticed:
///
/// ```text
/// struct SearchFilms: ServiceRequest {
///     let method = HTTPRequest.Method.get
///     let queryItems = ["q": "metropolis"]
/// }
/// error: type 'SearchFilms' does not conform to protocol 'TypedRequest'
/// note: candidate would match if '[String : String]' was the same type as 'RequestQuery'
/// ```
public protocol ServiceRequest: TypedRequest {
    /// What the response is read as. The default is `Void`, for a request without a model.
    override associatedtype Response: Sendable = Void
    /// The component that the request inherits from. The default is the environment.
    associatedtype Parent: APIComponent = EnvironmentAPI
    /// The method.
    var method: HTTPRequest.Method { get }
    /// The path below the component. The default is empty.
    @RequestPathBuilder var pathComponents: PathComponentsChoice { get throws }
    /// The type of ``pathComponents``, which follows from their declaration. It must be ``RequestPath``.
    associatedtype PathComponentsChoice = RequestPath
    /// The query items. The default is none.
    @RequestQueryBuilder var queryItems: QueryItemsChoice { get throws }
    /// The type of ``queryItems``, which follows from their declaration. It must be ``RequestQuery``.
    associatedtype QueryItemsChoice = RequestQuery
    /// The header fields. The default is none.
    ///
    /// They can also be declared as `HTTPFields` or `[String: String]`. With another type, the request fails as
    /// `invalidRequest` when it is built.
    @RequestHeadersBuilder var headers: HeadersChoice { get throws }
    /// The type of ``headers``, which follows from their declaration.
    associatedtype HeadersChoice = RequestHeaders
    /// The media type of the body. The default is `nil`, which means that it follows from the body.
    ///
    /// It replaces a `Content-Type` in ``headers``, chooses the codec of a model, and is the type of bytes and text. It
    /// does not replace a type that was given to the body itself, as in `RequestContent(model, as: .form)`. A request
    /// without a body has no `Content-Type` field.
    ///
    /// It can be a `MediaType` or a `String`, with and without the `?`. With another type, the request fails as
    /// `invalidRequest` when it is built.
    var contentType: ContentTypeChoice { get throws }
    /// The type of ``contentType``, which follows from its declaration.
    associatedtype ContentTypeChoice = MediaType?
    /// The key by which the server recognizes the request if it is sent again. The default is `nil`, which means that of
    /// the parent's configuration.
    ///
    /// It can be an `IdempotencyKey`, a `String` or a `UUID`, with and without the `?`. With another type, the request fails
    /// as `invalidRequest` when it is built.
    var idempotencyKey: IdempotencyKeyChoice { get throws }
    /// The type of ``idempotencyKey``, which follows from its declaration.
    associatedtype IdempotencyKeyChoice = IdempotencyKey?
    /// The body. The default is none.
    @RequestContentBuilder var body: BodyChoice { get throws }
    /// The type of ``body``, which follows from its declaration. It must be ``RequestContent``.
    associatedtype BodyChoice = RequestContent

    // The extension with `definition` demands the types of path, query items and body; see `APIComponent`.
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
}

extension ServiceRequest
where
    PathComponentsChoice == RequestPath, QueryItemsChoice == RequestQuery, BodyChoice == RequestContent
{
    /// The definition made from the properties.
    public var definition: APIRequest<Response> {
        var properties = RequestProperties()
        var key: IdempotencyKey?
        var failure: RequestFailure?
        do {
            properties.path = try pathComponents
            properties.query = try queryItems
            properties.body = try body
            properties.headers = try DeclaredMember.headers(headers, of: Self.self)
            if let type = try DeclaredMember.contentType(contentType, of: Self.self), !properties.body.isEmpty {
                properties.headers.append(.contentType(type))
            }
            key = try DeclaredMember.idempotencyKey(idempotencyKey, of: Self.self)
        } catch {
            failure = error as? RequestFailure ?? DeclaredMember.failure(error, of: Self.self)
        }
        var request = APIRequest<Response>(method, RequestPath(), in: Parent.context, properties)
        if let failure { request.failure = failure }
        return key.map { request.idempotencyKey($0) } ?? request
    }
}
