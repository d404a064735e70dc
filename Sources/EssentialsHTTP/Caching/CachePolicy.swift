/// How one request uses the response cache.
///
/// ```swift
/// let policy: CachePolicy = isPulled ? .revalidate : .standard
/// ```
public enum CachePolicy: Sendable, Hashable {
    /// A fresh response is served from the cache, and a stale one is validated (RFC 9111).
    case standard
    /// A stored response is validated even if it is fresh, unless the server says that it does not change
    /// (`immutable`, [RFC 8246](https://www.rfc-editor.org/rfc/rfc8246)).
    case revalidate
    /// The whole response is fetched anew, and stored.
    case reload
    /// A stored response is served whatever its age. The server is asked only if there is none.
    case preferStored
    /// Only a stored response is served that ``standard`` would serve without asking. Without one the request fails as
    /// `notCached`, and no server is asked.
    case onlyIfStored
    /// The cache is neither read nor written. A request that changes something still removes what it makes invalid.
    case bypass

    /// What the request says to caches on the way.
    package var cacheControl: String? {
        switch self {
        case .revalidate: "max-age=0"
        case .reload: "no-cache"
        case .standard, .preferStored, .onlyIfStored, .bypass: nil
        }
    }
}

/// What the owner of a cache decides.
///
/// ```swift
/// var options = CacheOptions()
/// options.staleIfError = .seconds(600)
/// ```
package struct CacheOptions: Sendable, Hashable {
    /// Whether a response without explicit freshness is fresh for a tenth of the time since its last change.
    package var usesHeuristics = true
    /// How long a response with the status 200 or 203 is fresh whose lifetime neither the server nor a heuristic gives;
    /// `nil` for not at all.
    package var defaultLifetime: Duration?
    /// Whether responses are stored that the server forbids to store.
    package var storesForbidden = false
    /// Whether no stale response is used instead of an error, also if the server allows it.
    package var refusesStale = false
    /// How long a stale response is used while it is validated, where the server is silent.
    package var staleWhileRevalidate: Duration = .zero
    /// How long a stale response is used instead of an error, where the server is silent.
    package var staleIfError: Duration = .zero
    /// Whether a response of any age is used if no response came at all. It is not if the server requires a validation.
    package var staleWhenUnreachable = false
    /// Whether all policies act as ``CachePolicy/onlyIfStored``, with responses of any age.
    package var isOffline = false
    /// Whether several users share the store (RFC 9111, 3.5).
    package var isShared = false

    package init() {}
}
