import EssentialsRequests

/// Decides what a fetch requests, emits and stores, and when it ends.
///
/// Each function returns the next steps. The machine knows neither values nor types, and owns no task, cache or clock.
struct FetchMachine: Sendable {
    /// A reply of the cache.
    enum CacheReply: Sendable, Hashable {
        /// A value with its age; `nil` if the age is unknown.
        case hit(age: Duration?)
        /// The cache has no value, or has failed.
        case miss
    }

    /// A reply of the server.
    enum ServerReply: Sendable, Hashable {
        case value
        /// No model, which is expressed as `nil`: an empty body, `null`, 404 or 410 for an optional model.
        case nothing
        /// An empty body for a model that is not optional.
        case empty
        /// 404 or 410 for a model that is not optional.
        case gone
        /// Any other failure.
        case failure
        /// The request was cancelled. A cached value does not cover this.
        case cancelled
    }

    /// Steps. They are taken in the order of their declaration.
    struct Steps: OptionSet, Sendable, Hashable {
        let rawValue: UInt16

        static let askServer = Steps(rawValue: 1 << 0)
        static let askCache = Steps(rawValue: 1 << 1)
        static let emitCached = Steps(rawValue: 1 << 2)
        /// Emits the cached value together with the failure of the server.
        static let emitCachedWithFailure = Steps(rawValue: 1 << 3)
        static let emitServed = Steps(rawValue: 1 << 4)
        static let save = Steps(rawValue: 1 << 5)
        static let delete = Steps(rawValue: 1 << 6)
        /// Ends with the failure of the server.
        static let fail = Steps(rawValue: 1 << 7)
        static let end = Steps(rawValue: 1 << 8)
    }

    private let kind: FetchSource.Kind
    private let maximumAge: Duration?
    private let options: FetchOptions
    private let storesNothing: Bool
    private var awaitsCache = false
    private var awaitsServer = false
    /// The reply of the server, while it waits for the reply of the cache.
    private var held: ServerReply?
    private(set) var hasEnded = false

    /// - Parameter hasCache: Whether there is a cache, and a key for it.
    init(_ source: FetchSource, _ options: FetchOptions, hasCache: Bool) {
        self.options = options
        var kind = source.kind
        if options.cachedPreventsDownload, kind != .cache { kind = .cacheElseBackend }
        if !hasCache, kind != .cache { kind = .backend }
        self.kind = kind
        maximumAge = source.maximumAge
        storesNothing = !options.caches || !hasCache
        if !hasCache, kind == .cache { hasEnded = true }
    }

    /// Begins the fetch.
    mutating func begin() -> Steps {
        guard !hasEnded else { return .end }
        switch kind {
        case .cache, .cacheElseBackend: return askCache()
        case .backend, .backendElseCache: return askServer()
        case .cacheThenBackend, .both: return askServer().union(askCache())
        }
    }

    /// Handles the reply of the cache.
    mutating func cache(_ reply: CacheReply) -> Steps {
        guard !hasEnded, awaitsCache else { return [] }
        awaitsCache = false
        let isHit = isUsable(reply)
        switch kind {
        case .cache: return isHit ? ending(.emitCached) : ending()
        case .cacheElseBackend: return isHit ? ending(.emitCached) : askServer()
        case .cacheThenBackend, .both:
            let emission: Steps = isHit ? .emitCached : []
            guard let held = held.take() else { return emission }
            return emission.union(finish(held))
        case .backendElseCache:
            guard isHit else { return failing() }
            return ending(options.emitsFailure ? .emitCachedWithFailure : .emitCached)
        case .backend: return []
        }
    }

    /// Handles the reply of the server.
    mutating func server(_ reply: ServerReply) -> Steps {
        guard !hasEnded, awaitsServer else { return [] }
        awaitsServer = false
        // With `cacheThenBackend` a cached value comes first. After a failure it is the only value.
        let isEnd = reply == .failure || reply == .cancelled
        guard awaitsCache, kind == .cacheThenBackend || isEnd else { return finish(reply) }
        held = reply
        return []
    }

    private mutating func finish(_ reply: ServerReply) -> Steps {
        let emission: Steps = options.emitsValue ? .emitServed : []
        let deletion: Steps = storesNothing ? [] : .delete
        switch reply {
        case .value: return ending(emission.union(storesNothing ? [] : .save))
        case .nothing: return ending(emission.union(deletion))
        case .empty: return ending(deletion)
        case .gone: return failing(deletion)
        case .failure: return kind == .backendElseCache ? askCache() : failing()
        case .cancelled: return failing()
        }
    }

    /// Ends the fetch early, because its values are not needed any more. Later replies have no effect.
    mutating func leave() -> Steps {
        guard !hasEnded else { return [] }
        return failing()
    }

    private func isUsable(_ reply: CacheReply) -> Bool {
        guard case .hit(let age) = reply else { return false }
        guard let maximumAge else { return true }
        return age.map { $0 <= maximumAge } ?? false
    }

    private mutating func askCache() -> Steps {
        awaitsCache = true
        return .askCache
    }

    private mutating func askServer() -> Steps {
        awaitsServer = true
        return .askServer
    }

    private mutating func ending(_ steps: Steps = []) -> Steps {
        hasEnded = true
        return steps.union(.end)
    }

    /// Ends with the failure, unless it is hidden.
    private mutating func failing(_ steps: Steps = []) -> Steps {
        hasEnded = true
        return steps.union(options.emitsFailure ? .fail : .end)
    }
}
