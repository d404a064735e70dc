public import EssentialsHTTP
public import EssentialsReachability
public import EssentialsRequests
public import Logging
import Synchronization

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
/// It can be used from any task and thread. Handles keep it alive. When the environment changes, resources below its base
/// URL mean the URL below the new base: their loads are cancelled and their content is removed, because it came from
/// another server. The first use after the change already sees the new environment.
public final class HTTPResourceService: ResourceService {
    /// Settings of a resource service.
    public struct Configuration: Sendable {
        /// The settings of all resources, which ``HTTPResourceService/configure(_:methods:name:_:)`` changes for some.
        public var defaults = ResourceConfiguration()
        /// How many resources are kept that nobody uses. The default is 2,048.
        public var maximumUnused = 2_048
        /// How many bytes of content are kept for resources that nobody uses. The default is 32 MiB.
        public var maximumUnusedBytes = 32 << 20
        /// The hosts outside the base URL from which resources may be loaded. The default is none.
        public var foreignHosts: [ForeignHost] = []
        /// The clock for freshness, waits and dates. The default is the system's.
        public var clock = RequestClock.system
        /// Logs mistakes in the configuration at the level debug, without queries. The default logs nothing.
        public var logger = Logger(label: "essentials.resources", factory: { _ in SwiftLogNoOpLogHandler() })

        /// Creates the default settings.
        public init() {}
    }

    let requests: any DataRequestService
    let environment: any EnvironmentService
    /// Loads resources outside the base URL.
    let open: (any OpenRequestService)?
    let configuration: Configuration
    let configurations: ConfigurationStore
    let table: ResourceTable
    @usableFromInline let time: ServiceTime
    @usableFromInline let codecs: CodecRegistry
    /// The observer objects of all resources.
    let observers = OwnedObservers()
    /// The resources that wait for their load in advance.
    let prefetching = PrefetchQueue()
    /// The event streams that are followed.
    let followers = EventFollowers()
    /// The timer for the resources that are loaded regularly.
    let polling: PollingTimer
    /// Loads resources when their server is reachable again; `nil` without a reachability service.
    private let recovery: ReachabilityRecovery?
    /// The environment whose base URL the table uses.
    private let adopted: Mutex<AdoptedEnvironment>
    /// The version of that environment.
    private let adoptedVersion: Atomic<UInt64>
    private let closed = Atomic(false)

    /// Stands for an environment that does not count its changes.
    private static let unknownVersion = UInt64.max

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - requests: Sends the requests. The service does not shut it down.
    ///   - environment: The environment of that service, below whose base URL paths are joined.
    ///   - open: Loads resources of the hosts that the configuration lists; `nil` means that there are none.
    ///   - reachability: Says when the server is reachable again. Observed resources whose last load failed as
    ///     `nameResolution`, `connection`, `timeout` or `interrupted` are then loaded, four at a time and spread over two
    ///     seconds, and regular loads pause while it is not reachable. The default is `nil`: neither happens.
    ///   - configuration: Settings of all resources.
    /// - Throws: `resources` if too many stores have joined the data-request service; see `PrivateStateRegistry`.
    public init(
        requests: any DataRequestService, environment: any EnvironmentService, open: (any OpenRequestService)? = nil,
        reachability: (any ReachabilityService)? = nil, configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        self.requests = requests
        self.environment = environment
        self.open = open
        self.configuration = configuration
        configurations = ConfigurationStore(configuration.defaults)
        time = ServiceTime(configuration.clock)
        polling = PollingTimer(configuration.clock)
        codecs = requests.codecs
        let current = AdoptedEnvironment(of: environment)
        adopted = Mutex(current)
        adoptedVersion = Atomic(current.versioned.version ?? Self.unknownVersion)
        table = ResourceTable(
            base: ResourceBase(current.snapshot.baseURL),
            limits: .init(count: configuration.maximumUnused, bytes: configuration.maximumUnusedBytes))
        recovery = reachability == nil ? nil : ReachabilityRecovery(polling, table)
        if reachability != nil || configuration.defaults.refresh != nil { polling.attach(self) }
        try requests.privateStateRegistry?.add(privateStateStore: self)
        if let reachability { recovery?.follow(reachability) }
    }

    deinit { stopRefreshing() }

    private func stopRefreshing() {
        polling.stop()
        recovery?.stop()
    }

    var clock: RequestClock { time.clock }

    /// The resource at an address; see the protocol.
    public func resource(at address: ResourceAddress, variant: ResourceVariant? = nil) -> AnyResource {
        checkEnvironment()
        let core = table.core(at: address, variant: variant ?? .standard)
        return AnyResource(service: self, core: observers.swept(core))
    }

    /// The number of resources that the service knows, in use or not.
    public var resourceCount: Int { table.count }

    // MARK: Memory

    /// Drops all resources that nobody uses. A handle, a load and an observer use a resource.
    public func dropUnused() {
        observers.sweepAll()
        table.dropUnused()
    }

    /// Changes how much is kept of resources that nobody uses, and drops at once what is over the new limits.
    ///
    /// - Parameters:
    ///   - count: The number of resources.
    ///   - bytes: The size of their content.
    public func keepUnused(count: Int, bytes: Int) {
        observers.sweepAll()
        table.setLimits(.init(count: count, bytes: bytes))
    }

    // MARK: Environment

    /// The snapshot of a content type, if the resource is fresh.
    @usableFromInline
    func freshObject(of core: ResourceCore, _ contentType: ObjectIdentifier) -> AnyObject? {
        checkEnvironment()
        guard core.flags.isFresh(at: time.now) else { return nil }
        return core.object(of: contentType)
    }

    /// Makes sure that the environment of now is used. It takes no lock if the environment counts its changes.
    @inline(__always)
    func checkEnvironment() {
        if let version = environment.version, version == adoptedVersion.load(ordering: .acquiring) { return }
        adoptEnvironment()
    }

    /// Uses the environment of now. If it has changed, the resources below the old base URL get the URL below the new
    /// one.
    ///
    /// - Returns: The environment.
    @discardableResult
    func adoptEnvironment() -> AdoptedEnvironment {
        let (current, moved) = adopted.withLock { adopted -> (AdoptedEnvironment, [ResourceCore]) in
            if adopted.versioned.isCurrent(in: environment) { return (adopted, []) }
            let current = AdoptedEnvironment(of: environment)
            defer {
                adopted = current
                adoptedVersion.store(current.versioned.version ?? Self.unknownVersion, ordering: .releasing)
            }
            guard current.snapshot != adopted.snapshot else { return (current, []) }
            let (old, base) = (table.base, ResourceBase(current.snapshot.baseURL))
            let moved = table.move(to: base)
            configurations.move(from: old, to: base)
            return (current, moved)
        }
        for core in moved { core.wipe(.environment) }
        if !moved.isEmpty {
            reconfigurePolling()
            followers.reconnect()
        }
        return current
    }

    // MARK: End

    /// Whether the service was closed.
    public var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Cancels all loads, and ends all sequences of states and changes. Later loads fail as `closed`; the content of
    /// resources can still be read.
    ///
    /// The data-request service is not shut down. Closing a locator that holds the service calls this function.
    public func close() async {
        closed.store(true, ordering: .releasing)
        stopRefreshing()
        followers.endAll()
        for core in table.cores {
            core.cancelAll()
            core.cancelRequests()
            core.finishObservers()
        }
    }
}

/// Clearing the authorization of the data-request service removes what was loaded with it.
extension HTTPResourceService: PrivateStateStore {
    /// Wipes all resources of an origin. The service joins the data-request service by itself, which calls this function
    /// in `clearAuthorization()`.
    public func clearPrivateState(of origin: Origin) async {
        for core in table.cores where core.address.isOf(origin) { core.wipe(.authorization) }
    }
}
