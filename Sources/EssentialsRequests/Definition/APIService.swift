public import EssentialsHTTP

/// A component of an API: an ``APIService`` or an ``Endpoint``. All of its members have defaults.
///
/// The parts of a definition are ``RequestPath``, ``RequestQuery``, ``RequestHeaders``, ``RequestHeader`` and
/// ``RequestContent``, inside and outside of components.
///
/// ```swift
/// enum Users: Endpoint {
///     typealias Parent = Shop
///     static let path: RequestPath = "users"
///     static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "cli") } }
///
///     static let getAll: APIRequest<[User]> = request(.get)
/// }
/// ```
///
/// ``codecs`` and ``errorModel`` can be declared with and without the `?`, as in `static let errorModel = Problem.self`.
/// A member with a type from which its value cannot be made is an error of the compiler, so that the default does not take
/// its place unnoticed:
///
/// ```text
/// enum Users: Endpoint {
///     typealias Parent = Shop
///     static let path: RequestPath = "users"
///     static let codecs = JSONDecoder()
/// }
/// error: type 'Users' does not conform to protocol 'APIComponent'
/// note: candidate would match if 'JSONDecoder' conformed to 'DefinitionChoice'
/// ```
public protocol APIComponent: Sendable {
    /// The properties of every request of the component and its children, as ``RequestProperties``. The default is none.
    @RequestPropertiesBuilder static var sharedProperties: SharedPropertiesChoice { get }
    /// The type of ``sharedProperties``, which follows from their declaration. It must be ``RequestProperties``.
    associatedtype SharedPropertiesChoice = RequestProperties
    /// How requests are sent, as an ``APIConfiguration``. The default is the configuration of the parent.
    static var configuration: ConfigurationChoice { get }
    /// The type of ``configuration``, which follows from its declaration. It must be ``APIConfiguration``.
    associatedtype ConfigurationChoice = APIConfiguration
    /// The codecs of bodies and models. The default is `nil`, which means those of the parent, and finally those of the
    /// service that sends the request.
    static var codecs: Codecs { get }
    /// The type of ``codecs``, which follows from their declaration: a ``DefinitionChoice`` of a `CodecRegistry`.
    associatedtype Codecs = CodecRegistry?
    /// The model type for the body of an unexpected response. The default is `nil`, which means that of the parent, and
    /// finally that of the service that sends the request.
    ///
    /// ```swift
    /// static let errorModel = Problem.self
    /// ```
    ///
    /// The type must be `Decodable` and `Sendable`. With anything else than a `Decodable` type, requests fail as
    /// `invalidRequest` when they are built. The compiler checks `Sendable` here only if the property has the type
    /// `(any (Decodable & Sendable).Type)?`, and otherwise where the model is read; see `RequestFailure.errorModel(as:)`.
    /// A class therefore needs this type, and requests fail with another one.
    static var errorModel: ErrorModelChoice { get }
    /// The type of ``errorModel``, which follows from its declaration: the type of a model, or an optional one.
    associatedtype ErrorModelChoice = (any (Decodable & Sendable).Type)?
    /// Everything that a request of the component inherits. Services and endpoints have it already.
    static var context: APIContext { get }

    // The compiler ignores a member whose type does not meet a constraint of the protocol, and takes the default. So the
    // types have no constraints here. The extensions with `context` have them, and without `context` the compiler refuses
    // the component.
}

extension APIComponent {
    /// No shared properties.
    public static var sharedProperties: RequestProperties { RequestProperties() }
    /// The codecs of the parent.
    public static var codecs: CodecRegistry? { nil }
    /// The error model of the parent.
    public static var errorModel: (any (Decodable & Sendable).Type)? { nil }

    /// Creates a request that inherits from this component.
    ///
    /// ```swift
    /// static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
    /// static func create(_ user: NewUser) -> APIRequest<User> { request(.post) { RequestContent { user } } }
    /// static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the component. A literal is split at `/`, and is not percent-encoded: a `%` is escaped.
    ///   - type: What the response is read as: a model, `Void`, `Data`, `DataResponse`, or `ResponseBody` for a stream.
    ///   - properties: Path components, query items, header fields and a body.
    public static func request<Response: Sendable>(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(), as type: Response.Type = Response.self,
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) -> APIRequest<Response> {
        APIRequest(method, path, in: context, properties())
    }
}

/// An API: a base URL, and what all of its requests have in common.
///
/// As a namespace, an API has one base URL for the whole program:
///
/// ```swift
/// enum Shop: APIService {
///     static let baseURL: RequestBase = "https://shop.example.com/v1/"
///     static let status: APIRequest<Status> = request(.get, "status")
/// }
/// ```
///
/// As a value, each instance has its own, from an initializer, an enumeration or an environment service:
///
/// ```swift
/// struct Shop: APIService {
///     let baseURL: RequestBase
///     var status: APIRequest<Status> { request(.get, "status") }
/// }
/// let staging = Shop(baseURL: "https://staging.example.com/v1/")
/// let status = try await requests.send(staging.status)
/// ```
///
/// Without a base URL, requests are sent to the environment of the data-request service. Definitions are values: they
/// send nothing, and can be created and used on any thread.
public protocol APIService: APIComponent, APIContextProvider {
    /// The base URL of the namespace: a ``RequestBase``, a URL or its text. The default is the environment of the service
    /// that sends the request.
    static var baseURL: NamespaceBase { get }
    /// The type of the namespace's base URL, which follows from its declaration: a ``DefinitionChoice`` of a ``RequestBase``.
    associatedtype NamespaceBase = RequestBase
    /// The base URL of this value. The default is that of the namespace.
    var baseURL: ValueBase { get }
    /// The type of the value's base URL, which follows from its declaration: a ``DefinitionChoice`` of a ``RequestBase``.
    associatedtype ValueBase = RequestBase
    /// Properties of this value in addition to the shared ones, as ``RequestProperties``. The default is none.
    @RequestPropertiesBuilder var instanceProperties: InstancePropertiesChoice { get }
    /// The type of ``instanceProperties``, which follows from their declaration. It must be ``RequestProperties``.
    associatedtype InstancePropertiesChoice = RequestProperties
}

extension APIService {
    /// The environment of the service that sends the request.
    public static var baseURL: RequestBase { .environment }
    /// The default of each property.
    public static var configuration: APIConfiguration { APIConfiguration() }
    /// No further properties.
    public var instanceProperties: RequestProperties { RequestProperties() }

    /// A request of this API with the base URL and the properties of this value, which come after the shared ones and
    /// before those of endpoints. They replace those of another value.
    ///
    /// ```swift
    /// let user = try await requests.send(staging.request(Users.get(id: 7)))
    /// ```
    public func request<Request: TypedRequest>(_ request: Request) -> APIRequest<Request.Response> {
        var definition = request.definition
        definition.context.setValue(of: context)
        return definition
    }
}

extension APIService where NamespaceBase: DefinitionChoice<RequestBase> {
    /// The base URL of the namespace.
    public var baseURL: RequestBase { Self.baseURL.definitionValue ?? .environment }
}

extension APIService
where
    NamespaceBase: DefinitionChoice<RequestBase>, ValueBase: DefinitionChoice<RequestBase>,
    Codecs: DefinitionChoice<CodecRegistry>, SharedPropertiesChoice == RequestProperties,
    InstancePropertiesChoice == RequestProperties, ConfigurationChoice == APIConfiguration
{
    /// The base URL, shared properties, configuration and codecs of the namespace.
    public static var context: APIContext {
        var context = APIContext(
            base: baseURL.definitionValue ?? .environment, properties: sharedProperties, configuration: configuration,
            codecs: codecs.definitionValue)
        context.choose(errorModel, of: self)
        return context
    }

    /// The context of the namespace with the base URL and the properties of this value.
    public var context: APIContext {
        var context = Self.context
        context.setValue(base: baseURL.definitionValue ?? context.base, instanceProperties)
        return context
    }
}

/// The API of requests without a parent: their paths are below the environment of the service that sends them.
public enum EnvironmentAPI: APIService {}

/// A value whose requests inherit from it: an ``APIService`` or a ``BoundEndpoint``.
public protocol APIContextProvider: Sendable {
    /// Everything that a request of the value inherits.
    var context: APIContext { get }
}

extension APIContextProvider {
    /// Creates a request that inherits from this value; see ``APIComponent/request(_:_:as:_:)``.
    public func request<Response: Sendable>(
        _ method: HTTPRequest.Method, _ path: RequestPath = RequestPath(), as type: Response.Type = Response.self,
        @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
    ) -> APIRequest<Response> {
        APIRequest(method, path, in: context, properties())
    }
}
