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
    /// By what the environment's servers are judged; nil leaves it to the service's transport.
    var trust: TrustPolicy? { get }
    /// All of the above at one moment. An environment that changes has to take them together, so that no request goes to
    /// one environment's servers under another's policy.
    var snapshot: EnvironmentSnapshot { get }
}

extension EnvironmentService {
    /// No fields.
    public var headerFields: HTTPFields { [:] }
    /// The transport's own.
    public var trust: TrustPolicy? { nil }
    /// The values one after the other: right for an environment that does not change.
    public var snapshot: EnvironmentSnapshot {
        EnvironmentSnapshot(baseURL: baseURL, headerFields: headerFields, trust: trust)
    }
}

/// An environment at one moment.
public struct EnvironmentSnapshot: Sendable, Hashable {
    /// The URL under which a request's path is joined.
    public var baseURL: RequestURL
    /// Fields for the request.
    public var headerFields: HTTPFields
    /// By what the server is judged; nil leaves it to the service's transport.
    public var trust: TrustPolicy?

    /// Makes one from its parts.
    public init(baseURL: RequestURL, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil) {
        self.baseURL = baseURL
        self.headerFields = headerFields
        self.trust = trust
    }
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
    /// The policy that the initialiser was given.
    public let trust: TrustPolicy?

    /// Makes an environment from its base URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public init(
        _ baseURL: String, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        self.baseURL = try RequestURL(baseURL)
        self.headerFields = headerFields
        self.trust = trust
    }
}
