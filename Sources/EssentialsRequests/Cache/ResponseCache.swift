public import EssentialsHTTP
import EssentialsTools

/// Stores responses and serves them again as HTTP allows it: a private cache
/// ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)).
///
/// ```swift
/// let cache = ResponseCache(memory: .bytes(32 << 20))
/// var configuration = HTTPDataRequestService.Configuration()
/// configuration.cache = cache
/// ```
///
/// Several services may share a cache. A response is served only under the trust policy, in the environment and with the
/// credentials with which it was fetched: two accounts, tenants or policies never see each other's responses.
///
/// The server decides what is stored and for how long, with the fields `Cache-Control`, `Expires`, `ETag` and
/// `Last-Modified`. Each response says what the cache has done: ``DataResponse/cache``. A streamed body is stored when it was
/// read to its end. Downloads go past the cache.
///
/// All functions can be called from any thread. Nothing is written to a disk.
public final class ResponseCache: Sendable {
    /// The memory for stored responses.
    public struct Memory: Sendable, Hashable {
        let bytes: Int

        /// A budget in bytes for heads, bodies, and 1.5 KiB for each response. A response may take a sixteenth of it.
        public static func bytes(_ count: Int) -> Memory { Memory(bytes: max(count, 0)) }
        /// 16 MiB.
        public static let standard = Memory.bytes(16 << 20)
    }

    /// How responses are used where the server leaves it open.
    ///
    /// ```swift
    /// var options = ResponseCache.Options()
    /// options.staleIfError = .seconds(3_600)
    /// let cache = ResponseCache(options: options)
    /// ```
    public struct Options: Sendable, Hashable {
        /// Whether a response without a lifetime is fresh for a tenth of the time since its last modification, at most one
        /// day (RFC 9111, 4.2.2). The default is `true`.
        public var usesHeuristics = true
        /// How long after its lifetime a response is served instead of a failure or a status 500, 502, 503 or 504, if the
        /// server says nothing about it (RFC 5861, 4). The default is zero.
        public var staleIfError = Duration.zero
        /// Whether a response of any age is served if no response comes from the server. The default is `false`.
        ///
        /// It is not served if the server demands to be asked, with `must-revalidate` or `no-cache`.
        public var staleWhenUnreachable = false

        /// Creates options with the default of each.
        public init() {}
    }

    /// What a cache contains.
    public struct Usage: Sendable, Hashable {
        /// The number of responses.
        public var responses = 0
        /// The bytes that count for the budget.
        public var bytes = 0

        mutating func add(_ other: Usage) {
            responses += other.responses
            bytes += other.bytes
        }
    }

    let store: any ResponseStore
    /// The validations of stale responses, shared by all services with this cache.
    let flights = CacheFlights()
    let updates = StoredUpdates()
    /// The streamed bodies that are being stored.
    let writers = CacheWriters()
    private let ownOptions: Options
    private let offline = Atomic<Bool>(false)
    private let lastNumber = Atomic<UInt64>(0)

    /// Creates an empty cache in memory.
    public convenience init(memory: Memory = .standard, options: Options = Options()) {
        self.init(store: MemoryResponseStore(bytes: memory.bytes), options: options)
    }

    init(store: any ResponseStore, options: Options = Options()) {
        self.store = store
        ownOptions = options
    }

    /// Whether requests are answered from the cache alone, with responses of any age. Those for which nothing is stored fail
    /// as `notCached`, and requests that are never stored, such as a POST, are sent. The default is `false`.
    public var isOffline: Bool {
        get { offline.load(ordering: .acquiring) }
        set { offline.store(newValue, ordering: .releasing) }
    }

    /// What is stored now.
    public var usage: Usage { get async { await store.usage() } }

    /// Removes the responses to requests for a URL, whoever they are for. Responses that are on their way are not stored.
    public func invalidate(_ url: RequestURL) async { await store.invalidate(url) }

    /// Removes the responses to requests for all URLs that meet a condition. No response that is on its way is stored.
    public func invalidate(where isRemoved: @Sendable (RequestURL) -> Bool) async {
        await store.remove { isRemoved($0.url) }
    }

    /// Removes all responses. No response that is on its way is stored.
    public func removeAll() async { await store.remove { _ in true } }

    // MARK: For the stage

    /// The options as the rules read them.
    var options: CacheOptions {
        var options = CacheOptions()
        options.usesHeuristics = ownOptions.usesHeuristics
        options.staleIfError = ownOptions.staleIfError
        options.staleWhenUnreachable = ownOptions.staleWhenUnreachable
        options.isOffline = isOffline
        return options
    }

    /// A number for a request to a server, greater than all before it.
    func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

    // MARK: Logouts

    /// Removes the responses to requests with credentials of an origin that were cleared.
    ///
    /// Those of unnamed credentials are not found any more in any case.
    ///
    /// - Parameter accounts: The accounts whose credentials were cleared.
    func removePrivate(of origin: Origin, _ accounts: Set<EntityPartition>) async {
        updates.remove { $0.url.origin == origin }
        await store.remove { key in
            if key.partition.hasEnded { return true }
            guard key.url.origin == origin, case .named(let account) = key.partition.account else { return false }
            return accounts.contains(account)
        }
    }

    /// The number of the cookie session of a host, which changes when the cookies are removed by a logout.
    func session(of host: HostName, _ cookies: CookieChoice) -> UInt64 {
        sessions.withLock { $0.numbers[CookieSession(host: host, cookies: cookies)] ?? $0.smallest }
    }

    /// The cookies of a host were removed. Responses to requests with them are not found any more.
    func endSession(of host: HostName, _ cookies: CookieChoice) {
        let number = nextNumber()
        updates.remove { $0.url.origin.host == host }
        sessions.withLock { sessions in
            if sessions.numbers.count >= Self.maximumSessions {
                // All sessions that were known or not begin anew.
                (sessions.numbers, sessions.smallest) = ([:], number)
            }
            sessions.numbers[CookieSession(host: host, cookies: cookies)] = number
        }
    }

    static let maximumSessions = 1_024
    private let sessions = Mutex(CookieSessions())
}

/// The cookies of one host in one storage.
private struct CookieSession: Hashable {
    let host: HostName
    let cookies: CookieChoice
}

/// The numbers of the sessions that have followed a logout.
private struct CookieSessions {
    var numbers: [CookieSession: UInt64] = [:]
    /// The number of all others.
    var smallest: UInt64 = 0
}
