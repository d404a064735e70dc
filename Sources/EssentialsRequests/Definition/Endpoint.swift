import EssentialsHTTP

/// A part of an API below a path. Endpoints nest to any depth, and inherit from their parents.
///
/// ```swift
/// enum Users: Endpoint {
///     typealias Parent = Shop
///     static let path: RequestPath = "users"
///
///     enum Orders: Endpoint {
///         typealias Parent = Users
///         static let path: RequestPath = "orders"
///     }
/// }
/// ```
///
/// The path is appended to that of the parent. Shared properties come after those of the parent, so a header field
/// replaces the parent's. Configuration, codecs and error model are the parent's unless the endpoint has its own.
public protocol Endpoint: APIComponent {
    /// The component above.
    associatedtype Parent: APIComponent where Parent.ConfigurationChoice == APIConfiguration
    /// The path below the parent. The written text is split at `/`, and slashes at its beginning and end make no
    /// difference. Write it without percent-encoding: a `%` is sent as `%25`. A placeholder such as `{id}` without a value
    /// fails as `invalidRequest` when a request is built.
    static var path: RequestPath { get }
}

extension Endpoint {
    /// The configuration of the parent.
    public static var configuration: APIConfiguration { Parent.configuration }
}

extension Endpoint
where
    Codecs: DefinitionChoice<CodecRegistry>, SharedPropertiesChoice == RequestProperties,
    ConfigurationChoice == APIConfiguration
{
    /// The context of the parent, extended with the endpoint's own members.
    public static var context: APIContext {
        var context = Parent.context
        context.enter(self)
        return context
    }
}

/// An endpoint of a value: its requests have the base URL of the service that it belongs to.
///
/// ```swift
/// struct Shop: APIService {
///     let baseURL: RequestBase
///     var users: Users { Users(parent: self) }
///
///     struct Users: BoundEndpoint {
///         static let path: RequestPath = "users"
///         let parent: Shop
///         func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
///     }
/// }
/// let user = try await requests.send(Shop(baseURL: "https://shop.example.com/").users.get(id: 7))
/// ```
public protocol BoundEndpoint: Endpoint, APIContextProvider {
    /// The component above. It follows from the type of ``parent``.
    override associatedtype Parent: APIComponent & APIContextProvider
    /// The value above, whose context the endpoint inherits.
    var parent: Parent { get }
}

extension BoundEndpoint
where
    Codecs: DefinitionChoice<CodecRegistry>, SharedPropertiesChoice == RequestProperties,
    ConfigurationChoice == APIConfiguration
{
    /// The context of the parent, extended with the endpoint's own members.
    public var context: APIContext {
        var context = parent.context
        context.enter(Self.self)
        return context
    }
}
