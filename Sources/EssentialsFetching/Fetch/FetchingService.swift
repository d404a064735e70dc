import EssentialsHTTP
public import EssentialsRequests

/// A service that fetches models for one part of an application.
///
/// ```swift
/// struct CoinService: FetchingService, ModelCaching {
///     let requests: any DataRequestService
///     let cache: any AsyncCache
///
///     func coins() -> Emissions<[Coin]> { get("coins", from: .cacheThenBackend) }
///     func coin(_ id: Int) -> Emissions<Coin> { fetch(Coins.get(id: id), retry: .attempts(5).whenReachable) }
///     func rename(_ id: Int, to name: String) async throws(RequestFailure) -> Coin {
///         try await patch("coins/\(id)", body: ["name": name], outdating: [.get("coins", as: [Coin].self)])
///     }
/// }
/// ```
///
/// Only ``requests`` has no default. The other properties are used for all fetches of this service, and belong to its
/// value; there are no global settings.
public protocol FetchingService: Sendable {
    /// The service that sends the requests.
    var requests: any DataRequestService { get }
    /// The source, the options and the retries of fetches that do not name their own.
    var fetchDefaults: FetchDefaults { get }
    /// The account whose models are fetched. The default is the shared partition.
    ///
    /// Models of one partition are never found in another one. The property is read when an iteration or a write
    /// begins, so a fetch that is kept in a property uses the account that is logged in then. A logout, or credentials
    /// that replace others, suspend the partition: its models are neither read nor written until
    /// `HTTPDataRequestService.enter(_:)` was called for it, or until the property is another partition that was not
    /// used with the former credentials.
    ///
    /// In the shared partition, models that were fetched with credentials are removed with these; all others stay.
    var partition: EntityPartition { get }
    /// The name under which models of the current environment are stored. The default is the base URL of the
    /// data-request service, so another environment has its own models. It is empty for a service without a base URL,
    /// such as a test double.
    ///
    /// It is read when an iteration or a write begins. The environment's header fields and trust policy also
    /// distinguish models. So does the name of the environment, unless this property differs from the base URL. The
    /// keys contain a hash of the header fields, and never their values.
    var environmentName: String { get }
    /// The version of the models' encoding. Raise it when old models cannot be read any more. The default is 0.
    var schemaVersion: UInt32 { get }
    /// The cache of a ``ModelCaching`` service; `nil` for every other one. Do not implement it.
    var modelCache: (any AsyncCache)? { get }
}

extension FetchingService {
    /// The default is ``FetchSource/cacheThenBackend`` with the standard options and the retries of the data-request
    /// service.
    public var fetchDefaults: FetchDefaults { FetchDefaults() }
    /// The default is the shared partition.
    public var partition: EntityPartition { .shared }
    /// The default is the base URL of the data-request service.
    public var environmentName: String { requests.baseURLText }
    /// The default is 0.
    public var schemaVersion: UInt32 { 0 }
    /// The default is `nil`.
    public var modelCache: (any AsyncCache)? { nil }
}

/// A service that also caches the models that it fetches. Without this protocol, every source uses the server, and a
/// fetch from the cache ends at once.
public protocol ModelCaching: FetchingService {
    /// The cache of the models.
    var cache: any AsyncCache { get }
}

extension ModelCaching {
    /// The ``cache``.
    public var modelCache: (any AsyncCache)? { cache }
}

extension DataRequestService {
    /// The current base URL of the service that sends the requests; empty if it has none.
    fileprivate var baseURLText: String { sender?.currentEnvironment.baseURL.description ?? "" }
}
