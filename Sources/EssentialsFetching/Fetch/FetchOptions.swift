import EssentialsRequests

/// The options of a fetch for emitting and storing values.
///
/// ```swift
/// let coins = service.get("coins", options: FetchOptions(emitsFailure: false), as: [Coin].self)
/// ```
///
/// The options do not depend on each other: each of the sixteen combinations works with every ``FetchSource``.
public struct FetchOptions: Sendable, Hashable {
    /// All defaults.
    public static let standard = FetchOptions()

    /// Whether values of the server are emitted. The default is `true`.
    ///
    /// With `false`, a fetch updates the cache silently: cached values are still emitted, and the server's values are
    /// stored.
    public var emitsValue: Bool
    /// Whether a failure is thrown. The default is `true`.
    ///
    /// With `false`, a failure ends the sequence as if it were complete, and a cached value that covers a failure does
    /// not carry it.
    public var emitsFailure: Bool
    /// Whether the fetch changes the cache: it stores the server's value, and deletes the cached one if the server has
    /// no value any more. The default is `true`. The source alone decides whether the cache is read.
    public var caches: Bool
    /// Whether a cached value prevents the request. The default is `false`.
    ///
    /// It has the effect of ``FetchSource/cacheElseBackend``, and replaces every source except ``FetchSource/cache``
    /// and ``FetchSource/cacheElseBackend(maximumAge:)``, which keeps its maximum age. To fetch from the server
    /// nevertheless, turn the option off for this fetch.
    public var cachedPreventsDownload: Bool

    /// Creates options.
    public init(
        emitsValue: Bool = true, emitsFailure: Bool = true, caches: Bool = true, cachedPreventsDownload: Bool = false
    ) {
        self.emitsValue = emitsValue
        self.emitsFailure = emitsFailure
        self.caches = caches
        self.cachedPreventsDownload = cachedPreventsDownload
    }
}
