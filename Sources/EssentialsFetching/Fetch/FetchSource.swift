import EssentialsRequests

/// Where a fetch takes its values from.
///
/// ```swift
/// let coins = service.get("coins", from: .cacheThenBackend, as: [Coin].self)
/// let prices = service.get("prices", from: .cacheElseBackend(maximumAge: .seconds(60)), as: [Price].self)
/// ```
///
/// | source | emits | sends a request |
/// |---|---|---|
/// | ``cache`` | the cached value, if there is one | never |
/// | ``backend`` | the server's value | always |
/// | ``cacheThenBackend`` | the cached value if there is one, always first; then the server's | at once, in parallel |
/// | ``cacheElseBackend(maximumAge:)`` | the cached value if it is young enough, otherwise the server's | on a miss |
/// | ``backendElseCache`` | the server's value; after a failure the cached one, with that failure | always |
/// | ``both`` | the value that arrives first; a cached one that arrives second is dropped | at once |
///
/// A service without a cache uses the server for every source except ``cache``, which ends at once.
public struct FetchSource: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case cache, backend, cacheThenBackend, cacheElseBackend, backendElseCache, both
    }

    let kind: Kind
    /// The age above which a cached value counts as missing; `nil` means any age.
    let maximumAge: Duration?

    private init(_ kind: Kind, maximumAge: Duration? = nil) { (self.kind, self.maximumAge) = (kind, maximumAge) }

    /// The cached value, if there is one. No request is sent.
    public static let cache = FetchSource(.cache)
    /// The server's value.
    public static let backend = FetchSource(.backend)
    /// The cached value if there is one, always first, and then the server's. The request is sent at once, and does not
    /// wait for the cache.
    public static let cacheThenBackend = FetchSource(.cacheThenBackend)
    /// The cached value if there is one, however old it is, and the server's otherwise.
    public static let cacheElseBackend = FetchSource(.cacheElseBackend)
    /// The server's value. After a failure it is the cached value, whose emission carries the failure.
    ///
    /// The statuses 404 and 410 mean that there is no value any more: the cached value is deleted and not emitted.
    public static let backendElseCache = FetchSource(.backendElseCache)
    /// The cached or the server's value, whichever arrives first. The server's value follows a cached one. A cached
    /// value that arrives second is dropped.
    public static let both = FetchSource(.both)

    /// The cached value if it is young enough, and the server's otherwise.
    ///
    /// - Parameter maximumAge: The maximum age. A value whose age is unknown, because the clock was set back, is too
    ///   old. `nil` means any age.
    public static func cacheElseBackend(maximumAge: Duration?) -> FetchSource {
        FetchSource(.cacheElseBackend, maximumAge: maximumAge)
    }
}

extension FetchSource: CustomStringConvertible {
    /// The name, such as `cacheElseBackend(60.0 seconds)`.
    public var description: String { maximumAge.map { "\(kind)(\($0))" } ?? "\(kind)" }
}
