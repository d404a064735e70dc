public import EssentialsRequests

/// What the fetches of a service use if a call does not say otherwise.
///
/// ```swift
/// struct CoinService: FetchingService, ModelCaching {
///     let requests: any DataRequestService
///     let cache: any AsyncCache
///     let fetchDefaults = FetchDefaults(source: .cacheElseBackend(maximumAge: .seconds(60)), retry: .standard)
/// }
/// ```
///
/// The defaults belong to the value of a service. There are no global ones.
public struct FetchDefaults: Sendable {
    /// Where values come from. The default is ``FetchSource/cacheThenBackend``.
    public var source: FetchSource
    /// What is emitted and stored.
    public var options: FetchOptions
    /// How failed requests are sent again. The default is `nil`, which means the policy of the request, the environment or
    /// the data-request service.
    public var retry: RetryPolicy?
    /// Whether fetches share a GET or HEAD request with equal ones that run at the same time, unless the request says
    /// otherwise. The default is `true`. Without sharing, a request costs a few microseconds less.
    public var sharesRequests: Bool
    /// Whether persistent caches also store models that a cache should not keep: those of responses with
    /// `Cache-Control: no-store`, and those of requests with credentials as long as the partition of their key is the shared
    /// one. The default is `false`: such models are ``CachedModel/isMemoryOnly``.
    ///
    /// Header fields and query items whose names sound secret count as credentials, and so do client certificates of the
    /// environment, redirects to another origin and a response of a response cache, which does not say how it was fetched.
    public var storesSensitiveResponses: Bool
    /// Dates values and measures their age. The default is the clock of the system.
    public var clock: RequestClock
    /// Collects the failures of the cache. The default is `nil`, which means that nobody is notified of them.
    public var cacheProblems: CacheProblemLog?

    /// Creates defaults.
    public init(
        source: FetchSource = .cacheThenBackend, options: FetchOptions = .standard, retry: RetryPolicy? = nil,
        sharesRequests: Bool = true, storesSensitiveResponses: Bool = false, clock: RequestClock = .system,
        cacheProblems: CacheProblemLog? = nil
    ) {
        self.source = source
        self.options = options
        self.retry = retry
        self.sharesRequests = sharesRequests
        self.storesSensitiveResponses = storesSensitiveResponses
        self.clock = clock
        self.cacheProblems = cacheProblems
    }
}
