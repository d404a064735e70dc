public import EssentialsHTTP
import EssentialsStorage
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
/// Without a directory nothing is written to a disk; see ``init(memory:disk:options:)``.
///
/// All functions can be called from any thread.
public final class ResponseCache: Sendable {
    /// The memory for stored responses.
    public struct Memory: Sendable, Hashable {
        let bytes: Int

        /// A budget in bytes for heads, bodies, and 1.5 KiB for each response. A response may take a sixteenth of it.
        public static func bytes(_ count: Int) -> Memory { Memory(bytes: max(count, 0)) }
        /// 16 MiB.
        public static let standard = Memory.bytes(16 << 20)
    }

    /// The directory for stored responses.
    public struct Disk: Sendable, Hashable {
        let path: String
        let bytes: Int

        /// A directory and the maximum size of its files, in whole blocks of the disk. A body may take an eighth of it.
        ///
        /// - Parameters:
        ///   - path: A directory that only this program uses. It is created for the user of the process alone (mode 0700).
        ///   - bytes: The default is 256 MiB.
        public static func directory(_ path: String, bytes: Int = 256 << 20) -> Disk {
            Disk(path: path, bytes: max(bytes, 0))
        }
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
        /// The number of responses outside the memory: in files, or in another ``ResponseStore``.
        public var externalResponses = 0
        /// Their size there: for files, in whole blocks of the disk.
        public var externalBytes = 0

        /// Creates the usage of an empty store.
        public init() {}

        mutating func add(_ other: Usage) {
            responses += other.responses
            bytes += other.bytes
            externalResponses += other.externalResponses
            externalBytes += other.externalBytes
        }
    }

    let store: any ResponseStore
    /// The validations of stale responses, shared by all services with this cache.
    let flights = CacheFlights()
    let updates = StoredUpdates()
    /// The keys whose responses were not stored lately.
    let unstored = UnstoredKeys()
    /// The streamed bodies that are being stored.
    let writers = CacheWriters()
    private let ownOptions: CacheOptions
    private let offline = Atomic<Bool>(false)

    /// Creates an empty cache in memory.
    public convenience init(memory: Memory = .standard, options: Options = Options()) {
        self.init(only: MemoryResponseStore(bytes: memory.bytes), options: options)
    }

    /// Opens a cache in memory and in the files of a directory, which several processes may share.
    ///
    /// ```swift
    /// let cache = try ResponseCache(disk: .directory("/var/cache/films"))
    /// ```
    ///
    /// Responses are found again after a restart. Those to requests with credentials are written only if the application has
    /// named the account, and those to requests with cookies of a storage, or through interceptors, never: in another process
    /// nothing says for whom they are. They stay in memory, as do those that come over a transport of the application.
    ///
    /// What is stored can be read by everybody who can read the files.
    ///
    /// Each process has its own memory. It serves a response in it also if another process has removed that one from the
    /// files, until it is stale; without memory (`.bytes(0)`) it does not.
    ///
    /// It blocks for a few system calls. All other work on files happens on threads for files, and a request waits at most
    /// 100 ms for each call.
    ///
    /// - Throws: `file` if the directory is a symbolic link, belongs to another user, can be written by others or cannot be
    ///   created; `resources` if there is no thread for files.
    public convenience init(
        memory: Memory = .standard, disk: Disk, options: Options = Options()
    ) throws(RequestFailure) {
        let files = try DiskResponseStore(FileDirectory(disk.path), bytes: disk.bytes)
        self.init(memory: memory, external: files, options: options)
    }

    /// Creates a cache over a store of the application, such as one that several machines share.
    ///
    /// - Parameters:
    ///   - memory: The memory of this process in front of the store. A response in it is served although another process has
    ///     removed it from the store. The default is `nil`, which means none.
    ///   - store: The store. A request waits at most its ``ResponseStore/timeLimit`` for each call.
    ///   - options: How responses are used where the server leaves it open.
    public convenience init(memory: Memory? = nil, store: any ResponseStore, options: Options = Options()) {
        guard let memory else {
            self.init(only: LimitedResponseStore(store), options: options)
            return
        }
        self.init(memory: memory, external: store, options: options)
    }

    /// - Parameter limit: How long a request waits for the second store.
    convenience init(
        memory: Memory, external: any ResponseStore, options: Options = Options(),
        limit: Duration? = nil
    ) {
        let near = MemoryResponseStore(bytes: memory.bytes, keepsAll: true)
        let far = LimitedResponseStore(external, limit: limit) { [near] key in near.forget(key) }
        self.init(only: TieredResponseStore(near, far), options: options)
    }

    convenience init(only store: any ResponseStore, options: Options = Options()) {
        var rules = CacheOptions()
        rules.usesHeuristics = options.usesHeuristics
        rules.staleIfError = options.staleIfError
        rules.staleWhenUnreachable = options.staleWhenUnreachable
        self.init(only: store, options: rules)
    }

    init(only store: any ResponseStore, options: CacheOptions) {
        self.store = store
        ownOptions = options
    }

    /// Whether requests are answered from the cache alone, with responses of any age. Those for which nothing is stored fail
    /// as `notCached`, and requests that are never stored, such as a POST, are sent. The default is `false`.
    ///
    /// In the tool that is `--only-stored`; its `--offline` only prints a request.
    public var isOffline: Bool {
        get { offline.load(ordering: .acquiring) }
        set { offline.store(newValue, ordering: .releasing) }
    }

    /// What is stored now.
    public var usage: Usage { get async { await store.usage() } }

    /// What has gone wrong with the files or the store. No request has failed because of it, but a streamed body whose later
    /// part was damaged has ended as `interrupted`.
    public var problems: CacheProblems { store.problems }

    /// Writes what waits for the files or the store. Call it at the end of the program, after the services were shut down;
    /// without it the last responses may be missing after a restart. The cache can be used afterwards.
    public func flush() async { await store.close() }

    /// Removes responses from the memory, for a program that must free some: those that were used only once first. What is also in
    /// the files or the store is found there.
    ///
    /// - Parameter part: The part of the bytes that is freed, from 0 to 1. The default is all.
    public func trim(part: Double = 1) {
        // A number that is none removes nothing.
        guard part > 0 else { return }
        (store as? MemoryResponseStore ?? (store as? TieredResponseStore)?.near)?.trim(part: min(part, 1))
    }

    /// Removes the responses to requests for a URL, whoever they are for. Responses that are on their way are not stored.
    public func invalidate(_ url: RequestURL) async { await store.invalidate(url) }

    /// Removes the responses to requests for all URLs that meet a condition. No response that is on its way is stored.
    public func invalidate(where isRemoved: @escaping @Sendable (RequestURL) -> Bool) async {
        await store.remove(in: ResponseScope(matching: isRemoved))
    }

    /// Removes all responses. No response that is on its way is stored.
    public func removeAll() async { await store.remove(in: .everything) }

    // MARK: For the stage

    /// The options as the rules read them.
    var options: CacheOptions {
        var options = ownOptions
        options.isOffline = isOffline
        options.isShared = store.isShared
        return options
    }

    /// A number for a request to a server, greater than all before it.
    func nextNumber() -> UInt64 { ResponseNumber.next() }

    /// What other processes have stored under a key too.
    func sharedLookup(_ key: ResponseKey) async -> ResponseLookup {
        if let tiers = store as? TieredResponseStore { return await tiers.lookupFar(key) }
        return await store.lookup(key)
    }

    /// Lets the next lookup of a key see what other processes have stored.
    func forgetInMemory(_ key: ResponseKey) { (store as? TieredResponseStore)?.forget(key) }

    /// The right to validate what is stored under a key; `nil` if another process has it.
    ///
    /// No request waits for a lease that its own process has: that of another variant of the URL, or one that is just being given
    /// back. The requests of one process share their validations anyway.
    func lease(_ key: ResponseKey, for duration: Duration) async -> ResponseLease? {
        guard leased.withLock({ $0.insert(key).inserted }) else { return .free }
        let lease = await store.lease(key, for: duration)
        if lease?.isFree ?? true { leased.withLock { _ = $0.remove(key) } }
        return lease
    }

    /// Gives a lease back when what was stored with it is there for other processes.
    func end(_ lease: ResponseLease, of key: ResponseKey) {
        guard !lease.isFree else { return }
        Task.detached { [self] in
            if let tiers = store as? TieredResponseStore { await tiers.settle() }
            await lease.end()
            leased.withLock { _ = $0.remove(key) }
        }
    }

    /// The keys whose leases the process has or asks for.
    private let leased = Mutex<Set<ResponseKey>>([])

    // MARK: Logouts

    /// Removes the responses to requests with credentials of an origin that were cleared.
    ///
    /// Those of unnamed credentials are not found any more in any case.
    ///
    /// - Parameter accounts: The accounts whose credentials were cleared.
    func removePrivate(of origin: Origin, _ accounts: Set<EntityPartition>) async {
        updates.remove { $0.url.origin == origin }
        await store.remove(in: ResponseScope(origin: origin, accounts: accounts))
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
