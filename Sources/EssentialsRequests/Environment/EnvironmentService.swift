public import EssentialsHTTP

/// Where an application's requests go.
///
/// A request uses the environment as it is when the request is submitted, for all its redirects and attempts.
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
    /// What people call the environment in force; empty where there is only one.
    var name: String { get }
    /// Fields for every request; a request's own fields win.
    var headerFields: HTTPFields { get }
    /// By what the environment's servers are judged; nil leaves it to the service's transport.
    var trust: TrustPolicy? { get }
    /// All of the above at one moment. An environment that changes has to take them together, so that no request goes to
    /// one environment's servers under another's policy.
    var snapshot: EnvironmentSnapshot { get }
    /// The environments that come into force after this was asked for. Of several that nobody has read yet, the newest is
    /// kept. Ends with the environment itself; at once for one that never changes.
    var changes: AsyncStream<EnvironmentSnapshot> { get }
}

extension EnvironmentService {
    /// No name.
    public var name: String { "" }
    /// No fields.
    public var headerFields: HTTPFields { [:] }
    /// The transport's own.
    public var trust: TrustPolicy? { nil }
    /// The values one after the other: right for an environment that does not change.
    public var snapshot: EnvironmentSnapshot {
        EnvironmentSnapshot(name: name, baseURL: baseURL, headerFields: headerFields, trust: trust)
    }
    /// No change, ever.
    public var changes: AsyncStream<EnvironmentSnapshot> { AsyncStream { $0.finish() } }
}
