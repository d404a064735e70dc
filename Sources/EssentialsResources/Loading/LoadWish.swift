import EssentialsHTTP
import EssentialsRequests

/// Which stored responses a load accepts.
///
/// ```swift
/// let cart = try await shop.cart.load(.onlyIfStored)  // without the network
/// ```
public enum LoadMode: Sendable, Hashable {
    /// The load reaches the server, also through caches in between (`Cache-Control: no-cache`,
    /// [RFC 9111, 5.2.1.4](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.4)).
    case current
    /// The load accepts only a stored response from an HTTP cache (`only-if-cached`,
    /// [RFC 9111, 5.2.1.7](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.7)), or the entity of an entity cache,
    /// however old it is. If neither exists, the load fails as `notCached`. It contacts no server. Freshness and an
    /// invalidation stay as they are, unless the HTTP cache has a response.
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
    /// Whether the request may share the response to an equal request that the data-request service already runs.
    var joins = true
    /// Measures the progress; `nil` if it is not needed.
    var progress: ProgressSource?

    static let noCache = "no-cache"
    static let onlyIfStored = "only-if-cached"

    /// Whether only a stored response is accepted, so that no server is contacted.
    var acceptsOnlyStored: Bool {
        guard let request else { return cacheControl == Self.onlyIfStored }
        return CacheDirectives(of: request.headerFields).requiresStored
    }

    /// Whether a task that needs current content may wait for the load. A load that accepts only a stored response may
    /// fail without contacting the server, and a 304 to a caller's condition is meant for that caller alone.
    var isJoinable: Bool { !acceptsOnlyStored && request?.isConditional != true }

    /// The wish for a call of `load`.
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

    /// The wish for a call of `loadIfNeeded`. A stored response does not satisfy an invalid resource.
    ///
    /// - Parameter maximumAge: The maximum age of a stored response (RFC 9111, 5.2.1.1). `nil` leaves that to the
    ///   cache.
    init(isInvalid: Bool, maximumAge: Duration? = nil, in environment: AdoptedEnvironment) {
        self.environment = environment
        let limit = maximumAge.map { "max-age=\(min(max($0.bounded.components.seconds, 0), 1 << 31))" }
        cacheControl = isInvalid ? Self.noCache : limit
    }

    /// The wish for a regular load. Caches may only use a response that they validate.
    init(pollingInvalid isInvalid: Bool, in environment: AdoptedEnvironment) {
        self.environment = environment
        cacheControl = isInvalid ? Self.noCache : "max-age=0"
    }

    /// The wish to send a caller's own request. A request without a base of its own is sent only in the environment in
    /// which the load began.
    init(_ request: DataRequest, in environment: AdoptedEnvironment) {
        self.environment = environment
        let isUnpinned = request.base.isEnvironment && (try? request.base.url) == nil
        self.request = isUnpinned ? request.pinned(to: environment.snapshot) : request
        joins = false
    }
}
