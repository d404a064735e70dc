public import EssentialsRequests

/// A service that fetches models for one part of an application.
///
/// ```swift
/// struct CoinService: FetchingService, Persisting {
///     let requests: any DataRequestService
///     let cache: any AsyncCache
///
///     func coins() -> Emissions<[Coin]> { get("coins", from: .cacheThenBackend) }
/// }
/// ```
public protocol FetchingService: Sendable {
    /// The service that sends the requests.
    var requests: any DataRequestService { get }
}

/// A service that also caches the models that it fetches. Without this, every source asks the backend, and a fetch from
/// the cache ends at once.
public protocol Persisting: FetchingService {
    /// The cache of the models.
    var cache: any AsyncCache { get }
}
