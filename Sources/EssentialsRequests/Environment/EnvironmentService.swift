public import EssentialsHTTP

/// Where an application's requests go.
///
/// A request uses the environment as it is when the request is submitted, for all its attempts.
///
/// ```swift
/// struct Staging: EnvironmentService {
///     let baseURL: RequestURL
///     let headerFields: HTTPFields = [:]
/// }
/// ```
public protocol EnvironmentService: Sendable {
    /// The URL under which every request's path is joined. Its query is not used.
    var baseURL: RequestURL { get }
    /// Fields for every request; a request's own fields win.
    var headerFields: HTTPFields { get }
}

extension EnvironmentService {
    /// No fields.
    public var headerFields: HTTPFields { [:] }
}

/// An environment that never changes.
///
/// ```swift
/// let environment = try ConstantEnvironment("https://api.example.com/v1/")
/// ```
public struct ConstantEnvironment: EnvironmentService {
    /// The URL that the initialiser was given.
    public let baseURL: RequestURL
    /// The fields that the initialiser was given.
    public let headerFields: HTTPFields

    /// Makes an environment from its base URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public init(_ baseURL: String, headerFields: HTTPFields = [:]) throws(RequestFailure) {
        self.baseURL = try RequestURL(baseURL)
        self.headerFields = headerFields
    }
}
