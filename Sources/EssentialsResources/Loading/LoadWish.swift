import EssentialsHTTP
import EssentialsRequests

/// Which stored responses a load accepts.
///
/// ```swift
/// let cart = try await shop.cart.load(.onlyIfStored)  // without the network
/// ```
public enum LoadMode: Sendable, Hashable {
    /// The server is asked, also by caches between (`Cache-Control: no-cache`,
    /// [RFC 9111, 5.2.1.4](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.4)).
    case current
    /// Only what is stored: a response that an HTTP cache holds (`only-if-cached`,
    /// [RFC 9111, 5.2.1.7](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.7)), or the entity of an entity cache,
    /// however old it is. Without both the load fails as `notCached`. It asks no server. Freshness and an invalidation stay
    /// as they are, unless the HTTP cache has a response.
    case onlyIfStored
}

/// How a load is sent.
struct LoadWish: Sendable {
    /// The value of `Cache-Control`; `nil` sends none.
    var cacheControl: String?
    /// The request to send; `nil` means GET with the resource's URL.
    var request: DataRequest?
    /// The environment in which the load began. A request never goes to the servers of another one.
    let environment: AdoptedEnvironment
    /// The priority of the task that began the load; `nil` means that of the request.
    var priority: RequestPriority?
    /// Whether the request may share the response to an equal one of the data-request service that runs already.
    var joins = true
    /// Measures the progress; `nil` if nobody listens.
    var progress: ProgressSource?

    static let noCache = "no-cache"
    static let onlyIfStored = "only-if-cached"

    /// Whether only a stored response is accepted, so that no server is asked.
    var acceptsOnlyStored: Bool {
        guard let request else { return cacheControl == Self.onlyIfStored }
        return CacheDirectives(of: request.headerFields).requiresStored
    }

    /// Whether a task that needs current content may wait for the load. One that accepts only a stored response may fail
    /// without asking the server, and a 304 to the condition of a caller is that caller's alone.
    var isJoinable: Bool { !acceptsOnlyStored && request?.isConditional != true }

    /// The wish of `load`.
    init(_ mode: LoadMode, in environment: AdoptedEnvironment) {
        self.environment = environment
        cacheControl = Self.cacheControl(of: mode)
        joins = false
    }

    static func cacheControl(of mode: LoadMode) -> String {
        switch mode {
        case .current: noCache
        case .onlyIfStored: onlyIfStored
        }
    }

    /// The wish of `loadIfNeeded`. An invalid resource is not satisfied by a stored response.
    ///
    /// - Parameter maximumAge: The age that a stored response may have (RFC 9111, 5.2.1.1); `nil` means that the cache
    ///   decides.
    init(isInvalid: Bool, maximumAge: Duration? = nil, in environment: AdoptedEnvironment) {
        self.environment = environment
        let limit = maximumAge.map { "max-age=\(min(max($0.bounded.components.seconds, 0), 1 << 31))" }
        cacheControl = isInvalid ? Self.noCache : limit
    }

    /// The wish of a regular load. Caches may only give a response that they validate.
    init(pollingInvalid isInvalid: Bool, in environment: AdoptedEnvironment) {
        self.environment = environment
        cacheControl = isInvalid ? Self.noCache : "max-age=0"
    }

    /// The wish to send a request of the caller's. One without a base of its own is sent in the environment in which the
    /// load began, or not at all.
    init(_ request: DataRequest, in environment: AdoptedEnvironment) {
        self.environment = environment
        let isUnpinned = request.base.isEnvironment && (try? request.base.url) == nil
        self.request = isUnpinned ? request.pinned(to: environment.snapshot) : request
        joins = false
    }
}
