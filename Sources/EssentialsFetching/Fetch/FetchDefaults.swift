public import EssentialsRequests

/// The defaults for fetches of a service.
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
@dynamicMemberLookup
public struct FetchDefaults: Sendable {
    /// Where values come from. The default is ``FetchSource/cacheThenBackend``.
    public var source: FetchSource
    /// The options for emitting and storing values.
    public var options: FetchOptions
    /// How requests are sent, unless they say otherwise themselves. The default is that fetches share a GET or HEAD request
    /// with equal ones that run at the same time, and that all else is left to the environment and the data-request service.
    /// Without sharing, with `joins` as `false`, a request costs a few microseconds less.
    public var settings = RequestSettings()
    /// Whether persistent caches also store models that a cache should not keep: models of responses with
    /// `Cache-Control: no-store`, and models of requests with credentials while the partition of their key is the
    /// shared one. The default is `false`: such models are ``CachedModel/isMemoryOnly``.
    ///
    /// Header fields and query items whose names sound secret count as credentials. So do client certificates of the
    /// environment, redirects to another origin, and a response from a response cache, which does not say how it was
    /// fetched.
    public var storesSensitiveResponses: Bool
    /// The clock that dates values and measures their age. The default is the clock of the system.
    public var clock: RequestClock
    /// Collects the failures of the cache. The default `nil` means that they are not reported.
    public var cacheProblems: CacheProblemLog?

    /// Creates defaults.
    public init(
        source: FetchSource = .cacheThenBackend, options: FetchOptions = .standard, retry: RetryPolicy? = nil,
        joins: Bool? = true, storesSensitiveResponses: Bool = false, clock: RequestClock = .system,
        cacheProblems: CacheProblemLog? = nil
    ) {
        self.source = source
        self.options = options
        settings.retry = retry
        settings.joins = joins
        self.storesSensitiveResponses = storesSensitiveResponses
        self.clock = clock
        self.cacheProblems = cacheProblems
    }

    /// A setting of the requests.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<RequestSettings, Value>) -> Value {
        get { settings[keyPath: setting] }
        set { settings[keyPath: setting] = newValue }
    }
}
