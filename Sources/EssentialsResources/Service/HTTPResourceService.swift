public import EssentialsHTTP
public import EssentialsReachability
public import EssentialsRequests
import EssentialsTools
public import Logging

/// The resource service over a data-request service.
///
/// ```swift
/// try locator.registerLazy((any ResourceService).self) { locator in
///     try HTTPResourceService(
///         requests: locator.resolve((any DataRequestService).self),
///         environment: locator.resolve((any EnvironmentService).self))
/// }
/// ```
///
/// It can be used from any task and thread. Handles keep it alive. When the environment changes, resources below its
/// base URL get the URL below the new one. Their loads are cancelled and their content is removed, because it came from
/// another server. The first use after the change already sees the new environment.
public final class HTTPResourceService: ResourceService {
    /// Settings of a resource service.
    public struct Configuration: Sendable {
        /// The settings of all resources, which ``HTTPResourceService/configure(_:methods:name:_:)`` changes for some.
        public var defaults = ResourceConfiguration()
        /// The maximum number of unused resources that are kept. The default is 2,048.
        public var maximumUnused = 2_048
        /// The maximum size in bytes of the content of unused resources. The default is 32 MiB.
        ///
        /// Content that was loaded counts with the size of its body. Content that was set without a request counts with
        /// the `byteCount` of its entity. Without one, bytes and texts count with their size. Other content is encoded
        /// as JSON once, after its resource has become unused, when contents are set or resources are looked up.
        /// Content that cannot be encoded counts as 16 KiB.
        public var maximumUnusedBytes = 32 << 20
        /// The hosts outside the base URL from which resources may be loaded. By default there are none.
        public var foreignHosts: [ForeignHost] = []
        /// Reports that memory is short, so that unused resources are dropped. The default is `nil`.
        public var memoryPressure: (any MemoryPressureSource)?
        /// How long ``HTTPResourceService/close()`` waits for entity caches. The default is five seconds.
        public var cacheDeadline = Duration.seconds(5)
        /// The fingerprint of the transport's trust policy, a text that changes with the policy. It is part of the keys
        /// of entity caches, so that content that another policy has accepted is not shown. The policy of an
        /// environment is already taken into account without it. The default is empty.
        public var trustFingerprint = ""
        /// The clock for freshness, waits and dates. The default is the system's.
        public var clock = RequestClock.system
        /// Logs mistakes in the configuration, and why resources were loaded or not, at debug level and without queries.
        /// The level of the logger is read once, when the service is created. The default logs nothing.
        public var logger = Logger(label: "essentials.resources", factory: { _ in SwiftLogNoOpLogHandler() })
        /// The observers of loads, in the order in which they are told. The default is none.
        public var observers: [any LoadObserver] = []

        /// Creates the default settings.
        public init() {}
    }

    let requests: any DataRequestService
    /// Loads resources outside the base URL.
    let open: (any DataRequestService)?
    let configuration: Configuration
    let configurations: ConfigurationStore
    let table: ResourceTable
    /// The entity caches.
    let caching: EntityCaching
    @usableFromInline let time: ServiceTime
    @usableFromInline let codecs: CodecRegistry
    /// The observer objects of all resources.
    let observers = OwnedObservers()
    /// Brings the resources into the current environment.
    let adoption: EnvironmentAdoption
    private let wiper: ResourceWiper
    /// Adopts changes of the environment for resources that are observed but not used otherwise.
    private let follower = Mutex<Task<Void, Never>?>(nil)
    private let pressure = Mutex<MemoryPressureObservation?>(nil)
    /// The resources that wait for their load in advance.
    let prefetching = PrefetchQueue()
    /// The observed resources that wait to be loaded again, at most as many as the service has.
    let reloading = PrefetchQueue(upTo: .max)
    /// The event streams that are followed.
    let followers = EventFollowers()
    /// The tasks that wait for responses that replace stale ones.
    let staleResponses = StaleResponses()
    /// The response cache of the data-request service; `nil` if it stores no responses.
    let responseCache: (any ResponseCaching)?
    /// The writes that are sent before resources load when the server is reachable again.
    let attachedWrites = AttachedWrites()
    /// The timer for the resources that are loaded regularly.
    let polling: PollingTimer
    /// The data-request service that only this service uses; `nil` if it was passed in.
    private let ownRequests = Mutex<HTTPDataRequestService?>(nil)
    /// Loads resources when their server is reachable again; `nil` without a reachability service.
    private let recovery: ReachabilityRecovery?
    private let closed = Atomic(false)
    #if DEBUG
        private let mark = LiveMark(.service)
    #endif

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - requests: Sends the requests. The service does not shut it down.
    ///   - environment: The environment of that service. Paths are joined below its base URL.
    ///   - open: Loads resources of the foreign hosts that the configuration lists. The default is `nil`, which means
    ///     `requests`. Either service sends such requests without anything of its own, such as credentials.
    ///   - reachability: Reports when the server is reachable again. Observed resources whose last load failed as
    ///     `nameResolution`, `connection`, `timeout` or `interrupted` are then loaded, four at a time and spread over
    ///     two seconds. Regular loads pause while the server is not reachable. The default is `nil`, with which neither
    ///     happens.
    ///   - cache: Stores entities of all resources, so that a restarted program has content at once; see
    ///     ``ResourceConfiguration/usesServiceCache``. `nil` means that only caches of pipelines are used.
    ///   - configuration: Settings of all resources.
    /// - Throws: `resources` if too many stores have joined the data-request service (see `PrivateStateRegistry`), or
    ///   if the source of memory pressure gets no descriptor or thread; `invalidRequest` if the data-request service
    ///   stores responses and an entity cache would store the same bytes, at the stage `raw`.
    public init(
        requests: any DataRequestService, environment: any EnvironmentService, open: (any DataRequestService)? = nil,
        reachability: (any ReachabilityService)? = nil, cache: (any EntityCache)? = nil,
        configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        if let problem = EntityCacheRules.problem(of: configuration.defaults, cache, over: requests) { throw problem }
        self.requests = requests
        responseCache = requests.responseCaching
        self.open = open
        self.configuration = configuration
        configurations = ConfigurationStore(configuration.defaults, cache: cache)
        caching = EntityCaching(cache, configuration.clock, configuration.logger)
        time = ServiceTime(configuration.clock)
        polling = PollingTimer(configuration.clock)
        codecs = requests.codecs
        let current = AdoptedEnvironment(of: environment)
        table = ResourceTable(
            base: ResourceBase(current.snapshot.baseURL),
            limits: .init(count: configuration.maximumUnused, bytes: configuration.maximumUnusedBytes),
            LoadReporter(configuration, time)
        ) { [observers] in observers.sweepSome() }
        adoption = EnvironmentAdoption(
            current, of: environment, requests.sender, table, configurations, polling, followers)
        wiper = ResourceWiper(table, caching, adoption, followers)
        recovery = reachability == nil ? nil : ReachabilityRecovery(polling, table, attachedWrites)
        if reachability != nil || configuration.defaults.refresh != nil { polling.attach(self) }
        try requests.privateStateRegistry?.add(privateStateStore: wiper)
        let observation = try configuration.memoryPressure?.observe { [table, observers, caching] in
            observers.sweepAll()
            table.relieve($0)
            caching.relieve($0)
        }
        pressure.withLock { $0 = observation }
        if let reachability { recovery?.follow(reachability) }
        let task = adoption.follow()
        follower.withLock { $0 = task }
    }

    deinit { endFollowing() }

    /// Makes the service shut its data-request service down when it is closed, because nothing else uses it.
    package func own(_ requests: HTTPDataRequestService) { ownRequests.withLock { $0 = requests } }

    /// Ends all work that runs in the background.
    private func endFollowing() {
        polling.stop()
        recovery?.stop()
        follower.withLock { $0.take() }?.cancel()
        pressure.withLock { $0.take() }?.cancel()
    }

    var clock: RequestClock { time.clock }

    /// The resource at an address; see the protocol.
    public func resource(at address: ResourceAddress, variant: ResourceVariant? = nil) -> AnyResource {
        checkEnvironment()
        let core = table.core(at: address, variant: variant ?? .standard)
        core.sweep()
        return AnyResource(service: self, core: core)
    }

    /// The number of resources that the service knows, in use or not.
    public var resourceCount: Int { table.count }

    /// The resources with a running load or another running request.
    package var busyResources: [AnyResource] {
        table.cores.filter { !$0.runningRequests.isEmpty }.map { AnyResource(service: self, core: $0) }
    }

    // MARK: Memory

    /// Drops all unused resources. A resource is used by its handles, loads and observers.
    public func dropUnused() {
        observers.sweepAll()
        table.dropUnused()
    }

    /// Changes the limits for unused resources, and drops resources beyond them at once.
    ///
    /// - Parameters:
    ///   - count: The number of resources.
    ///   - bytes: The size of their content.
    public func keepUnused(count: Int, bytes: Int) {
        observers.sweepAll()
        table.setLimits(.init(count: count, bytes: bytes))
    }

    // MARK: Loading

    /// The snapshot of a content type, if the resource is fresh and nobody listens to its loads.
    @usableFromInline
    func freshObject(of core: ResourceCore, _ contentType: ObjectIdentifier) -> AnyObject? {
        checkEnvironment()
        // If somebody listens, the slower path is taken, which reports why nothing is loaded.
        guard core.flags.isFresh(at: time.now), core.reporter == nil else { return nil }
        return core.object(of: contentType)
    }

    /// Makes sure that the current environment is used. It takes no lock if the environment counts its changes.
    @inline(__always)
    func checkEnvironment() { adoption.check() }

    /// Adopts the current environment; see ``EnvironmentAdoption/adopt()``.
    @discardableResult
    func adoptEnvironment() -> AdoptedEnvironment { adoption.adopt() }

    /// Joins a running load of a resource, or starts one, unless the resource is fresh.
    ///
    /// - Parameters:
    ///   - contentType: The type of the view; `nil` for all existing views.
    ///   - isAwaited: Whether a task will wait for the load.
    ///   - isStarted: Whether the load runs to its end even if no task waits.
    ///   - maximumAge: The age up to which content is fresh; `nil` means that the configuration decides.
    ///   - priority: The priority of a new load; `nil` means that of the resource's requests.
    ///   - environment: The environment and the credentials of the load.
    func loadIfNeeded(
        _ core: ResourceCore, _ contentType: ObjectIdentifier?, isAwaited: Bool = false, isStarted: Bool = false,
        maximumAge: Duration? = nil, priority: RequestPriority? = nil, in environment: AdoptedEnvironment
    ) -> ResourceCore.Need {
        let now = time.now
        var options = LoadOptions(maximumAge: maximumAge, of: core, self, in: environment)
        options.priority = priority
        let need = core.beginLoadIfNeeded(
            of: contentType, options, self, isAwaited: isAwaited, isStarted: isStarted, at: now, maximumAge: maximumAge)
        if case .new(let load) = need { load.start() }
        return need
    }

    // MARK: End

    /// Whether the service was closed.
    public var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Ends regular loads and event streams, and waits for the resources that are loaded or written now, for at most a time.
    ///
    /// If the service has a data-request service of its own, that one refuses new requests and finishes too.
    ///
    /// - Parameter grace: The maximum time. It is over at once if the calling task is cancelled.
    public func finish(within grace: Duration) async {
        endBackground()
        let busy = table.cores.filter(\.isBusy)
        let own = ownRequests.withLock { $0 }
        await limited(by: { [clock] in try? await clock.sleep(for: grace) }) {
            // This is rare, so nobody is told when a resource has become idle.
            while !Task.isCancelled, busy.contains(where: \.isBusy) { try? await Task.sleep(for: .milliseconds(10)) }
            // Not before, because a load may send a second request.
            await own?.finish(within: grace)
        }
    }

    private func endBackground() {
        polling.stop()
        recovery?.stop()
        followers.endAll()
        staleResponses.endAll()
    }

    /// Cancels all loads, and ends all sequences of states and changes. Later loads fail as `closed`, but the content
    /// of resources can still be read. Entities that wait for an entity cache are written, for at most
    /// ``HTTPResourceService/Configuration/cacheDeadline``.
    ///
    /// The data-request service is not shut down, unless the service has created it from a base URL. Closing a locator
    /// that holds the service calls this function.
    public func close() async {
        closed.store(true, ordering: .releasing)
        endFollowing()
        endBackground()
        for core in table.cores {
            core.cancelAll()
            core.cancelRequests()
            core.finishObservers()
        }
        await caching.flush(within: configuration.cacheDeadline)
        await ownRequests.withLock { $0.take() }?.shutdown()
    }
}

/// Clearing or replacing the credentials of the data-request service removes the content that was loaded with them.
extension HTTPResourceService: PrivateStateStore {
    /// Wipes all resources of an origin, and ends the event streams that were opened with its credentials. From the
    /// caches it removes the origin's entities of the current account, and those that were received with credentials
    /// without an account.
    ///
    /// The entities are not found any more from that moment on. The function returns when the caches have removed them,
    /// or after five seconds if a cache takes longer, which then continues in the background. The service joins the
    /// data-request service by itself, which calls this function in `clearAuthorization()`.
    public func clearPrivateState(of origin: Origin) async { await wiper.clearPrivateState(of: origin) }

    /// Wipes all resources of an origin, ends the event streams that were opened with the former credentials, and
    /// removes the entities that were received with credentials without an account. Entities of accounts stay.
    public func credentialsWereReplaced(at origin: Origin) { wiper.credentialsWereReplaced(at: origin) }
}
