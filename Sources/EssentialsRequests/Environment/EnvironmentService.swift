public import EssentialsHTTP

/// The server to which an application's requests go: its base URL, header fields and trust policy.
///
/// A request reads the environment once, when it is submitted, and uses the result for all its redirects and attempts.
///
/// ```swift
/// struct Staging: EnvironmentService {
///     let baseURL: RequestURL
///     let headerFields: HTTPFields = [:]
/// }
/// ```
public protocol EnvironmentService: Sendable {
    /// The URL under which the path of every request is joined. Its query is ignored.
    var baseURL: RequestURL { get }
    /// The name of the current environment. The default is empty.
    var name: String { get }
    /// Header fields for every request; a request's own fields win. The default is no fields.
    var headerFields: HTTPFields { get }
    /// The policy that verifies the environment's servers. The default is `nil`, which means the policy of the
    /// service's transport.
    var trust: TrustPolicy? { get }
    /// How requests to the environment are sent, such as the retry policy. The default is empty, which means the service's
    /// settings.
    var settings: RequestSettings { get }
    /// All of the above at one moment.
    ///
    /// An environment that changes has to read them together, so that no request goes to the servers of one environment
    /// with the policy of another.
    var snapshot: EnvironmentSnapshot { get }
    /// A number that is different after each change; `nil` if the environment does not count its changes, which is the
    /// default.
    ///
    /// Reading it takes no lock, so that a caller can ask on every use whether what it derived from the environment is
    /// still valid. ``VersionedSnapshot`` does that, also for environments without a version. An environment that counts
    /// obeys two rules:
    ///
    /// - A snapshot that is read after the version is at least as new as that version.
    /// - If the version is read, then the snapshot, then the version again, and both versions are equal, the snapshot is
    ///   that of this version. A snapshot that is newer than the first version therefore shows in the second one.
    ///
    /// To obey them, it changes the snapshot first and the version after that, and lets nobody read the snapshot between
    /// the two: both changes are made under the lock that protects the snapshot, and the version is stored with the
    /// memory order `releasing` and loaded with `acquiring`. No version is used for two different environments.
    var version: UInt64? { get }
    /// A new stream of all later environments.
    ///
    /// It keeps only the newest unread one. It ends when the environment is deallocated, and at once if the environment
    /// never changes, which is the default.
    var changes: AsyncStream<EnvironmentSnapshot> { get }
}

extension EnvironmentService {
    /// The empty name.
    public var name: String { "" }
    /// No header fields.
    public var headerFields: HTTPFields { [:] }
    /// `nil`, which means the policy of the service's transport.
    public var trust: TrustPolicy? { nil }
    /// No settings, which means those of the service.
    public var settings: RequestSettings { RequestSettings() }
    /// The values, read one after the other. This is correct only for an environment that does not change.
    public var snapshot: EnvironmentSnapshot {
        EnvironmentSnapshot(
            name: name, baseURL: baseURL, headerFields: headerFields, trust: trust, settings: settings)
    }
    /// `nil`, which means that callers compare snapshots instead.
    public var version: UInt64? { nil }
    /// An empty stream, for an environment that never changes.
    public var changes: AsyncStream<EnvironmentSnapshot> { AsyncStream { $0.finish() } }
}
