public import EssentialsRequests

/// What the fetches of a service use if a call does not say otherwise.
///
/// ```swift
/// struct CoinService: FetchingService, Persisting {
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
    /// Dates values and measures their age. The default is the clock of the system.
    public var clock: RequestClock
    /// Collects the failures of the cache. The default is `nil`, which means that nobody is notified of them.
    public var cacheProblems: CacheProblemLog?

    /// Creates defaults.
    public init(
        source: FetchSource = .cacheThenBackend, options: FetchOptions = .standard, retry: RetryPolicy? = nil,
        sharesRequests: Bool = true, clock: RequestClock = .system, cacheProblems: CacheProblemLog? = nil
    ) {
        self.source = source
        self.options = options
        self.retry = retry
        self.sharesRequests = sharesRequests
        self.clock = clock
        self.cacheProblems = cacheProblems
    }
}
