import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// One load of a resource: its request, and the tasks that wait for its outcome.
///
/// The core counts the tasks and requests by hand that keep the load running.
final class Load: Sendable {
    /// The number that the resource's machine has given to the load.
    let number: UInt64
    let core: ResourceCore
    let service: HTTPResourceService
    let options: LoadOptions
    /// Whether the caches are read before a request is sent.
    let awaitsCache: Bool
    /// The highest priority of the interested tasks. It begins with the lowest one, so that the priority of the request
    /// applies.
    let priority = RaisablePriority()
    /// The progress of the load, if it was requested.
    let measurement = LoadMeasurement()
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let outcome = OneShot<LoadOutcome>()
    #if DEBUG
        private let mark = LiveMark(.load)
    #endif

    init(
        _ number: UInt64, of core: ResourceCore, _ service: HTTPResourceService, _ options: LoadOptions,
        awaitsCache: Bool
    ) {
        (self.number, self.core, self.service, self.options) = (number, core, service, options)
        self.awaitsCache = awaitsCache
    }

    /// Starts the task of the load, unless the load has already ended.
    ///
    /// The task begins on the caller's thread and leaves it at its first wait, which saves a thread switch.
    func start() {
        let started = Task.immediate { await perform() }
        task.withLock { $0 = started }
        // The load was cancelled meanwhile, or has ended.
        if hasEnded { take()?.cancel() }
    }

    /// Whether the load has ended.
    var hasEnded: Bool { outcome.isProvided }

    /// Ends the load. Only the first outcome counts.
    func end(_ outcome: LoadOutcome) {
        if self.outcome.provide(outcome) { _ = take() }
    }

    /// Calls a closure with the outcome; at once if the load has ended.
    func whenEnded(_ listener: @escaping @Sendable (LoadOutcome) -> Void) { outcome.whenProvided(listener) }

    /// Ends the load as cancelled, and cancels its task.
    func cancel() {
        if outcome.provide(.cancelled) { take()?.cancel() }
    }

    /// Waits for the outcome. A cancelled task stops waiting at once, with the outcome `cancelled`, while the load
    /// itself continues.
    func outcome() async -> LoadOutcome { await outcome.valueUnlessCancelled() ?? .cancelled }

    /// Forgets the task. After the end of the load, the task is neither kept nor cancelled.
    private func take() -> Task<Void, Never>? { task.withLock { $0.take() } }

    // MARK: Sending

    /// Sends the request of the load, reads the response, and hands the result to the core.
    private func perform() async {
        let exchange = ResourceExchange(
            service: service, core: core, environment: options.environment, configuration: options.configuration)
        if awaitsCache {
            await service.readCaches(of: core, options.configuration, in: options.environment)
            // Fresh content from a cache may have ended the load.
            guard core.request(self) else { return }
        }
        let configuration = options.configuration
        let places =
            configuration.caches.isEmpty ? nil : service.cachePlaces(of: core, configuration, in: options.environment)
        let progress = beginProgress()
        defer { progress?.ticker?.cancel() }
        do throws(RequestFailure) {
            // A caller's own request has its own conditions, or none.
            let hasResponseCache = service.responseCache(of: core) != nil
            if options.request == nil, let known = core.knownContent(hasResponseCache: hasResponseCache) {
                switch try await send(known, exchange, places, progress?.source) {
                case .loaded(let result): return commit(result, places)
                case .notModified(let confirmation):
                    guard confirmation.answers(known) else { return handOver(confirmation) }
                    if confirm(confirmation, places) { return }
                // The content has changed meanwhile, or a new view has no content, so the body is needed after all.
                }
            }
            guard !hasEnded else { return }
            switch try await send(nil, exchange, places, progress?.source) {
            case .loaded(let result): commit(result, places)
            case .notModified(let confirmation):
                guard confirmation.subject != nil else { throw Self.unconfirmed() }
                handOver(confirmation)
            }
        } catch {
            let failure = explained(error)
            let isMissing = failure.reason == .notCached && options.request == nil
            if isMissing, places != nil, core.endWithStoredContent(self) { return }
            core.fail(failure, self)
        }
    }

    private func send(
        _ known: KnownContent?, _ exchange: ResourceExchange, _ places: CachePlaces?, _ progress: ProgressSource?
    ) async throws(RequestFailure) -> ResourceExchange.Reply {
        var request = try exchange.request(options, known?.condition)
        progress?.attach(to: &request)
        if let priority = options.priority { request.options.priority = priority }
        request.raisablePriority = priority
        let reply = try await exchange.reply(to: request, knownBody: known?.body, caches: places?.caches ?? [])
        // A change of the environment during the transfer cancels the load.
        service.adoptEnvironment()
        return reply
    }

    private func commit(_ result: PipelineResult, _ places: CachePlaces?) {
        let isOwn = options.request == nil
        let response = LoadedResponse(result, options.configuration.freshness, service)
        // The response to a caller's own request is not stored for this URL, but it makes the stored entity outdated.
        let changes = isOwn ? places?.changes(for: response, service) : places?.removals
        let verdict = core.commit(response, isOwn: isOwn, changes, .load(self), service)
        if isOwn, verdict == .commits, response.content.isStale { follow(result.origin.identity) }
    }

    /// - Returns: Whether the load has ended.
    private func confirm(_ confirmation: ResourceExchange.Confirmation, _ places: CachePlaces?) -> Bool {
        let rules = options.configuration.freshness
        guard let verdict = core.confirm(confirmation, rules, places, .load(self), service) else { return false }
        if verdict == .commits, confirmation.origin.storedUse?.isStale == true { follow(confirmation.origin.identity) }
        return true
    }

    /// Passes a 304 response to a caller's own condition on to the tasks that wait for the load. The content that it
    /// confirms is unknown here, so nothing changes.
    private func handOver(_ confirmation: ResourceExchange.Confirmation) {
        core.dismiss(self, .failed(confirmation.failure))
    }

    /// Waits for the response cache to replace the stale response that is shown.
    private func follow(_ identity: ResponseIdentity?) {
        guard let identity else { return }
        service.followUpdate(of: core, since: number, after: identity.load, in: options.environment)
    }

    /// Replaces two unexpected statuses by their real reason: a 304 that the load did not request, and the 504 of a
    /// cache that has no stored response (RFC 9111, 5.2.1.7).
    private func explained(_ failure: RequestFailure) -> RequestFailure {
        guard failure.reason == .status else { return failure }
        if failure.status == .notModified { return Self.unconfirmed(failure) }
        guard failure.status == .gatewayTimeout, options.cacheControl == LoadOptions.onlyIfStored else {
            return failure
        }
        return failure.changed { content in
            content.reason = .notCached
            content.message = "The load accepts only a stored response, and there is none."
            content.remedy = "Load the resource without .onlyIfStored, so that the server is asked."
        }
    }

    /// The failure for a 304 response that confirms no content.
    ///
    /// - Parameter failure: A failure with the details of the response.
    private static func unconfirmed(_ failure: RequestFailure = .init(.protocolViolation, "")) -> RequestFailure {
        failure.changed { content in
            content.reason = .protocolViolation
            content.message = "The server answered 304 (Not Modified), and there is no content that it confirms."
            content.remedy = "Correct the server, or the cache in front of it."
        }
    }

    /// Measures the load, if its request or an observer has requested its progress.
    private func beginProgress() -> (source: ProgressSource, ticker: Task<Void, Never>?)? {
        guard measurement.decide(isAsked: options.progress != nil) else { return nil }
        let source: ProgressSource
        if let progress = options.progress {
            source = progress
        } else {
            let (method, body) = (options.request?.method ?? .get, options.request?.body ?? .none)
            source = ProgressSource(isGet: method == .get, hasBody: !body.isNone, service.clock)
        }
        // The options hold the source, so it must not hold the load.
        source.report { [weak self] progress in
            if let self { core.note(progress: progress, of: self) }
        }
        // A request with progress of its own also lets it grow with time.
        let ticker = options.progress == nil ? Task.counted { [self] in await source.tick { !hasEnded } } : nil
        return (source, ticker)
    }
}

/// The result of a load for the tasks that wait for it.
enum LoadOutcome: Sendable {
    /// The value, and its projections for the content types that were known.
    case loaded(LoadedValue, [any AnyProjection])
    /// The server has confirmed the existing content, with these header fields.
    case notModified([any AnyProjection], HTTPFields)
    /// The load has failed, or was cancelled.
    case failed(RequestFailure)

    /// Returns the content as a type.
    func content<Content: Sendable>(of type: Content.Type, _ codecs: CodecRegistry) throws(RequestFailure) -> Content {
        switch self {
        case .failed(let failure): throw failure
        case .loaded(let value, let projections):
            if let projection = projections.projection(of: type) { return try projection.result.get() }
            if let result = value.content(of: type, codecs) { return try result.get() }
        case .notModified(let projections, _):
            if let projection = projections.projection(of: type) { return try projection.result.get() }
        }
        throw .otherContent(than: type)
    }

    static let cancelledFailure = RequestFailure(.cancelled, "The load was cancelled.")
    static let cancelled = LoadOutcome.failed(cancelledFailure)
}

extension RequestFailure {
    /// The failure of foreign code: a `RequestFailure` as it is, a cancellation as `cancelled`, and any other error with
    /// this reason and message.
    init(thrown error: any Error, _ reason: Reason, _ message: String, host: String? = nil) {
        switch error {
        case let failure as RequestFailure: self = failure
        case is CancellationError: self = LoadOutcome.cancelledFailure
        default: self.init(reason, message, remedy: "See the underlying error.", host: host, underlying: error)
        }
    }
}

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

/// The options with which a load begins: its request, environment and configuration.
struct LoadOptions: Sendable {
    /// The environment in which the load began. A request never goes to the servers of another one.
    let environment: AdoptedEnvironment
    /// The configuration of the resource for GET, which the load uses until its end.
    let configuration: EffectiveConfiguration
    /// The value of `Cache-Control`; `nil` sends none.
    private(set) var cacheControl: String?
    /// The request to send; `nil` means GET with the resource's URL.
    private(set) var request: DataRequest?
    /// Whether the load reads the entity caches first.
    var usesCaches = false
    /// Whether the request may share the response to an equal request that the data-request service already runs.
    private(set) var joins = true
    /// The priority of the task that began the load; `nil` means that of the request.
    var priority: RequestPriority?
    /// Measures the progress; `nil` if it is not needed.
    var progress: ProgressSource?

    static let noCache = "no-cache"
    static let onlyIfStored = "only-if-cached"

    private init(
        _ cacheControl: String?, of core: ResourceCore, _ service: HTTPResourceService,
        in environment: AdoptedEnvironment
    ) {
        (self.cacheControl, self.environment) = (cacheControl, environment)
        configuration = service.effective(for: core)
    }

    /// The options for a call of `load`.
    init(
        _ mode: LoadMode, of core: ResourceCore, _ service: HTTPResourceService, in environment: AdoptedEnvironment
    ) {
        self.init(Self.cacheControl(of: mode), of: core, service, in: environment)
        usesCaches = !configuration.caches.isEmpty && !service.isClosed
        joins = false
    }

    /// The options for a call of `loadIfNeeded`.
    ///
    /// - Parameter maximumAge: The maximum age of a stored response (RFC 9111, 5.2.1.1). `nil` leaves that to the
    ///   caches.
    init(
        maximumAge: Duration?, of core: ResourceCore, _ service: HTTPResourceService, in environment: AdoptedEnvironment
    ) {
        let limit = maximumAge.map { "max-age=\(min(max($0.bounded.components.seconds, 0), 1 << 31))" }
        self.init(limit, of: core, service, in: environment)
        usesCaches = maximumAge == nil && !configuration.caches.isEmpty && !service.isClosed
    }

    /// The options for a load that nobody has called, such as a regular one, which reads no entity caches.
    ///
    /// - Parameter validates: Whether caches may only use a response that they validate.
    init(
        backgroundOf core: ResourceCore, validates: Bool, _ service: HTTPResourceService,
        in environment: AdoptedEnvironment
    ) { self.init(validates ? "max-age=0" : nil, of: core, service, in: environment) }

    /// The options to send a caller's own request. A request without a base of its own is sent only in the environment
    /// in which the load began.
    init(
        _ request: DataRequest, of core: ResourceCore, _ service: HTTPResourceService,
        in environment: AdoptedEnvironment
    ) {
        self.init(nil, of: core, service, in: environment)
        let isUnpinned = request.base.isEnvironment && (try? request.base.url) == nil
        self.request = isUnpinned ? request.pinned(to: environment.snapshot) : request
        usesCaches = !configuration.caches.isEmpty && !service.isClosed
        joins = false
    }

    /// The value of `Cache-Control` for a mode.
    static func cacheControl(of mode: LoadMode) -> String {
        switch mode {
        case .current: noCache
        case .onlyIfStored: onlyIfStored
        }
    }

    /// The options for an invalid resource, for which a stored response is not enough unless the caller wants it.
    var bypassingStored: LoadOptions {
        guard joins else { return self }
        var options = self
        options.cacheControl = Self.noCache
        return options
    }

    /// Whether only a stored response is accepted, so that no server is contacted.
    var acceptsOnlyStored: Bool {
        guard let request else { return cacheControl == Self.onlyIfStored }
        return CacheDirectives(of: request.headerFields).requiresStored
    }

    /// Whether a task that needs current content may wait for the load. A load that accepts only a stored response may
    /// fail without contacting the server, and a 304 to a caller's condition is meant for that caller alone.
    var isJoinable: Bool { !acceptsOnlyStored && request?.isConditional != true }
}

/// The progress of a load in four bytes, in units of 2⁻³¹. Every resource stores one.
struct LoadProgress: Sendable, Equatable {
    let bits: UInt32

    /// There is no progress.
    static let none = LoadProgress(bits: .max)
    /// The load has ended.
    static let complete = LoadProgress(1)

    fileprivate init(bits: UInt32) { self.bits = bits }

    /// Rounds a progress from 0 to 1 down, so that it stays less than 1 until the end.
    init(_ value: Double) { bits = UInt32(min(max(value.isNaN ? 0 : value, 0), 1) * 0x1p31) }

    /// The progress from 0 to 1; `nil` if there is none.
    var value: Double? { self == .none ? nil : Double(bits) * 0x1p-31 }
}

/// Whether the progress of a load is measured, and its current value.
///
/// This is decided when the request is sent. An observer that is added later does not change a request in progress.
struct LoadMeasurement: ~Copyable, Sendable {
    /// The request was not sent, and no progress was requested. Progress is at most 2³¹, so these numbers are free.
    private static let open = UInt32.max
    /// No progress was requested before the request was sent.
    private static let declined = UInt32.max - 1

    private let bits = Atomic<UInt32>(open)

    /// The progress; `nil` if it is not measured.
    var progress: LoadProgress {
        let bits = bits.load(ordering: .acquiring)
        return bits < Self.declined ? LoadProgress(bits: bits) : .none
    }

    /// Requests the progress. This has an effect only before the request is sent.
    func ask() {
        _ = bits.compareExchange(expected: Self.open, desired: 0, ordering: .acquiringAndReleasing)
    }

    /// Decides whether the request that is about to be sent is measured.
    ///
    /// - Parameter isAsked: Whether its sender needs the progress.
    func decide(isAsked: Bool) -> Bool {
        let desired = isAsked ? 0 : Self.declined
        let (isOpen, found) = bits.compareExchange(
            expected: Self.open, desired: desired, ordering: .acquiringAndReleasing)
        return (isOpen ? desired : found) < Self.declined
    }

    /// Raises the progress. It is called under the lock of the resource.
    ///
    /// - Returns: Whether it is greater than before.
    func raise(to progress: LoadProgress) -> Bool {
        let old = bits.load(ordering: .relaxed)
        guard old < progress.bits, progress != .none else { return false }
        bits.store(progress.bits, ordering: .releasing)
        return true
    }
}
