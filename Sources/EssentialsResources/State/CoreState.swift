import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// The state that a ``ResourceCore`` protects, as a value without lock, clock or task.
///
/// Its methods are called under the lock of the core. What must happen without the lock is returned to the caller, such
/// as loads to cancel.
struct CoreState: Sendable {
    var machine = ResourceMachine()
    var facts = ResourceFacts()
    /// The snapshots by content type. Most resources have one. Views are added and never removed.
    var views: [ResourceView] = []
    /// The content as it was loaded or set, for content types that are requested later.
    var kept: KeptValue?
    /// The body of the content; `nil` unless a response cache has sent it.
    var knownBody: KnownBody?
    /// The running loads, in the order of the machine's.
    var loads: [Load] = []
    var observers = ObserverList()
    /// The service of the observers, which is kept alive here; `nil` without observers that keep a service alive.
    var observingService: HTTPResourceService?
    /// The changes that wait for their delivery.
    var pending = Fifo<PendingChange>()
    /// The running read of the caches.
    var cacheRead: CacheRead?
    /// The address, which changes with the environment's base URL.
    var address: ResourceURL
    // The following six fill the space after the address.
    /// The number of observers that keep the service alive.
    var keepers: Int32 = 0
    /// Whether a thread is delivering changes.
    var isDelivering = false
    /// Whether there are load observers.
    let isReported: Bool
    /// Whether a thread is telling the load observers.
    var isReporting = false
    /// Whether content was removed because other credentials were set. It is then loaded again for observers when an
    /// account is entered.
    var isWithdrawn = false
    /// Whether the caches were read since the content was removed.
    var cacheReading = CacheReading.notBegun
    /// The kind of response that the views read, and the number of views for which it was computed.
    var responseKind: (views: Int32, kind: ResponseKind)?
    /// The definition from which the resource was obtained; `nil` if its loads are plain ones.
    var definition: ResourceDefinition?
    /// The configuration for each method that was needed, in the version that was current then.
    var configurations: [EffectiveConfiguration] = []
    /// The running requests that are not loads, in the order of their start.
    var requests: [RunningRequest] = []
    /// The regular loads; `nil` if the resource was never polled.
    var polling: ResourcePolling?
    /// The optimistic layers and the waiting writes; `nil` if there are neither.
    var writing: WritingBox?
    /// The events that the load observers have not been told yet.
    var reports: [LoadEvent] = []
    /// The actions that follow the delivery of the changes up to a version.
    var followers: [(version: UInt64, action: @Sendable () -> Void)] = []
    /// The resource to which this one leads, if it was merged with another one; see ``ForwardedResource``.
    var forward: ForwardedResource?

    /// The maximum number of waiting changes. Beyond it only the newest one is kept, which counts the missed ones.
    static let maximumPending = 1_024

    init(address: ResourceURL, isReported: Bool = false) { (self.address, self.isReported) = (address, isReported) }

    /// The parts of the state that are read without the lock.
    var bits: ResourceFlags.Bits {
        guard forward == nil else { return .isForwarded }
        var bits = ResourceFlags.Bits()
        if facts.loads > 0 { bits.insert(.isLoading) }
        if facts.isInvalid { bits.insert(.isInvalid) }
        if facts.failure != nil { bits.insert(.hasFailure) }
        if observers.count > Int(keepers) { bits.insert(.hasEndingObservers) }
        return bits
    }

    /// Whether the resource was loaded, or was withdrawn after it had been loaded.
    var wasLoaded: Bool { facts.wasLoaded || isWithdrawn }

    /// The service that loads the resource again after a change of the environment or the account; `nil` without
    /// observers, or if they have outlived the service.
    var reloadingService: HTTPResourceService? { observingService ?? observers.livingService }

    // MARK: Changes

    /// Changes the state. Its version grows by one.
    ///
    /// - Parameters:
    ///   - event: The event for the observers; `nil` if they see the change with the next event.
    ///   - content: The change of the content, which stays by default.
    ///   - change: Changes the facts that all views share.
    mutating func change(
        _ event: ResourceEvent?, content: ContentChange = .keep, _ change: (inout ResourceFacts) -> Void = { _ in }
    ) {
        change(&facts)
        facts.version += 1
        facts.loads = loads.count
        facts.progress = shownProgress
        if case .keep = content {} else { facts.contentVersion = facts.version }
        for index in views.indices {
            var facts = facts
            if writing != nil { facts.pendingLayers = pendingLayers(of: views[index].contentType) }
            views[index].snapshot = views[index].snapshot.next(facts, content)
        }
        guard let event else { return }
        if isReported, let change = event.reported { report(.changed(change)) }
        enqueue(event)
    }

    /// Marks the content as outdated.
    mutating func invalidate() {
        machine.invalidate()
        change(.invalidated) { $0.expire() }
    }

    /// Removes content and failure.
    ///
    /// - Returns: The loads, which have all ended. They must be cancelled without the lock.
    mutating func wipe(_ reason: WipeReason) -> [Load] {
        _ = machine.wipe()
        let ended = takeLoads()
        kept = nil
        // Reading the caches again would undo the wipe, unless their keys have changed.
        cacheRead = nil
        cacheReading = reason.changesKeys ? .notBegun : .ended
        removeLayers()
        if reason.endsSession { revokeWaitingWrites() }
        change(.wiped(reason), content: .remove) { facts in facts = ResourceFacts(version: facts.version) }
        return ended
    }

    // MARK: Loads

    /// The newest load whose response would count, unless it has other credentials; `nil` without one.
    func joinableLoad(in environment: AdoptedEnvironment) -> Load? {
        guard let number = machine.joinable, let load = loads.last(where: { $0.number == number }) else { return nil }
        return load.options.environment.scope === environment.scope ? load : nil
    }

    /// Begins a load.
    ///
    /// - Parameters:
    ///   - reason: Why it begins.
    ///   - isEnoughIfFresh: Whether the load ends without a request if the caches have fresh content.
    mutating func beginLoad(
        _ options: LoadOptions, of core: ResourceCore, _ service: HTTPResourceService,
        _ reason: LoadEvent.Reason = .requested, isAwaited: Bool = false, isStarted: Bool = false,
        isEnoughIfFresh: Bool = false
    ) -> Load {
        let awaitsCache = options.usesCaches && mayReadCaches
        let isStoredEnough = options.request == nil && options.acceptsOnlyStored
        let number = machine.beginLoad(
            waiting: isAwaited ? 1 : 0, isStarted: isStarted,
            endsWithFreshContent: awaitsCache && (isEnoughIfFresh || isStoredEnough), isJoinable: options.isJoinable)
        let load = Load(
            number, of: core, service, machine.isInvalid ? options.bypassingStored : options,
            awaitsCache: awaitsCache)
        loads.append(load)
        if observers.reportsProgress { load.measurement.ask() }
        report(.began(reason), load: number)
        if !awaitsCache { report(.requested, load: number) }
        // If the caches are read first, it is not known yet whether a request is needed.
        change(awaitsCache ? nil : .requested)
        return load
    }

    /// Removes a cancelled load that the machine has already ended.
    mutating func remove(_ load: Load) {
        removeLoads(as: .cancelled) { $0 === load }
        change(.cancelled)
    }

    /// Removes cancelled loads that the machine has already ended.
    ///
    /// - Returns: The loads, which must be cancelled without the lock.
    mutating func endLoads(_ numbers: [UInt64]) -> [Load] {
        guard !numbers.isEmpty else { return [] }
        let ended = loads.filter { numbers.contains($0.number) }
        removeLoads(as: .cancelled) { numbers.contains($0.number) }
        change(.cancelled)
        return ended
    }

    /// Removes all loads, which are cancelled.
    mutating func takeLoads() -> [Load] {
        let ended = loads
        removeLoads(as: .cancelled) { _ in true }
        return ended
    }

    /// Removes loads that have ended. If observers see the progress of such a load, it becomes 1 first.
    mutating func removeLoads(as outcome: LoadEvent.Outcome, where hasEnded: (Load) -> Bool) {
        if observers.reportsProgress, let newest = loads.last, hasEnded(newest),
            newest.measurement.raise(to: .complete), facts.progress != .none
        {
            change(.progress(1))
        }
        if isReported { for load in loads where hasEnded(load) { report(.ended(outcome.reported), load: load.number) } }
        loads.removeAll(where: hasEnded)
    }

    /// Whether the caches may still have an entity to show.
    var mayReadCaches: Bool { cacheReading != .ended && facts.entity == nil }

    // MARK: Progress

    /// The progress that observers see, which is that of the newest load.
    private var shownProgress: LoadProgress {
        guard observers.reportsProgress else { return .none }
        return loads.last?.measurement.progress ?? .none
    }

    /// Records the progress of a load, for the observers that have requested it.
    mutating func note(_ progress: LoadProgress, of load: Load) {
        guard load.measurement.raise(to: progress), observers.reportsProgress, loads.last === load,
            let shown = progress.value
        else { return }
        change(.progress(shown))
    }

    /// Shows the progress in the state if observers have requested it, and none otherwise. They see it with their next
    /// event.
    mutating func showProgress() {
        if observers.reportsProgress { for load in loads { load.measurement.ask() } }
        if facts.progress != shownProgress { change(nil) }
    }

    // MARK: Observers and delivery

    /// Adds an observer, which receives `attached`.
    ///
    /// - Returns: Its number.
    mutating func add(_ receiver: any ChangeReceiver, _ note: (inout CoreState, UInt64) -> Void) -> UInt64 {
        let number = observers.add(receiver, since: facts.version)
        if !receiver.endsByItself { keepers += 1 }
        if receiver.reportsProgress { showProgress() }
        note(&self, number)
        enqueue(.attached, target: number)
        return number
    }

    /// Removes an observer.
    ///
    /// - Returns: The observer; `nil` if it was removed before.
    mutating func removeObserver(_ number: UInt64) -> (any ChangeReceiver)? {
        guard let receiver = observers.remove(number) else { return nil }
        polling?.note(.left(number: number))
        if receiver.reportsProgress { showProgress() }
        if !receiver.endsByItself { keepers -= 1 }
        return receiver
    }

    /// Adds an event for the observers, if there are any. Newer progress replaces progress that waits, which does not
    /// count as missed.
    mutating func enqueue(_ event: ResourceEvent, target: UInt64? = nil) {
        guard observers.count > 0 else { return }
        var change = PendingChange(event: event, views: views, version: facts.version, target: target)
        if change.isProgress {
            guard observers.reportsProgress else { return }
            if let last = pending.last, last.isProgress { return pending[pending.count - 1] = change }
            if pending.count >= Self.maximumPending { return }
        }
        if pending.count >= Self.maximumPending, target == nil, let last = pending.last, last.target == nil {
            change.missed = last.isProgress ? last.missed : last.missed + 1
            pending[pending.count - 1] = change
        } else {
            pending.append(change)
        }
    }

    /// Removes and returns the actions that precede the delivery of a change with this version.
    mutating func takeFollowers(before version: UInt64) -> [@Sendable () -> Void] {
        guard !followers.isEmpty else { return [] }
        let due = followers.filter { $0.version < version }.map(\.action)
        followers.removeAll { $0.version < version }
        return due
    }

    // MARK: Regular loads

    /// Records a new observer for the regular loads; see ``ResourcePolling``.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - refresh: Its own interval.
    ///   - configuration: The configuration of the resource.
    mutating func noteObserver(
        _ number: UInt64, _ refresh: ResourceRefresh?, _ configuration: EffectiveConfiguration,
        _ service: HTTPResourceService
    ) {
        if polling == nil {
            guard refresh != nil || configuration.values.refresh != nil else { return }
            beginPolling(service, observers: observers.count - 1)
        }
        polling?.note(.configured(configuration.values.refresh, version: configuration.version))
        polling?.note(.joined(refresh, number: number))
    }

    /// Records another configuration, if the resource has observers.
    mutating func noteConfiguration(_ configuration: EffectiveConfiguration, _ service: HTTPResourceService) {
        guard observers.count > 0 else { return }
        if polling == nil {
            guard configuration.values.refresh != nil else { return }
            beginPolling(service, observers: observers.count)
        }
        polling?.note(.configured(configuration.values.refresh, version: configuration.version))
    }

    /// Begins to record the events of a resource that has this many observers.
    private mutating func beginPolling(_ service: HTTPResourceService, observers: Int) {
        service.polling.attach(service)
        let polling = ResourcePolling(facts, service.polling)
        for _ in 0..<observers { polling.note(.joined(nil, number: 0)) }
        self.polling = polling
    }

    // MARK: Merging

    /// Takes the views, the definition and the requests of a resource that is forwarded to this one. Both were just
    /// wiped.
    mutating func take(from other: inout CoreState) {
        // The observers find a snapshot of their content type here, still without content.
        for view in other.views where views.object(of: view.contentType) == nil {
            views.append(ResourceView(view.snapshot.next(facts, .remove)))
        }
        // Without views the other resource is never found fresh, and its handles find their snapshot by a slower path.
        other.views = []
        if definition == nil { definition = other.definition }
        requests = (requests + other.requests).sorted { $0.number < $1.number }
        other.requests = []
    }

    /// Receives the observers of another resource.
    ///
    /// - Returns: `false` if this resource is forwarded itself. Nothing has happened then.
    mutating func receive(
        _ members: [ObserverList.Member], _ old: ResourcePolling?, _ service: HTTPResourceService?
    ) -> Bool {
        guard forward == nil else { return false }
        let intervals = members.map { old?.refresh(of: $0.number) }
        if polling == nil, intervals.contains(where: { $0 != nil }), let service {
            beginPolling(service, observers: observers.count)
        }
        for (member, interval) in zip(members, intervals) {
            old?.note(.left(number: member.number))
            polling?.note(.joined(interval, number: member.number))
        }
        observers.insert(members, since: facts.version)
        keepers += Int32(truncatingIfNeeded: members.count { !$0.receiver.endsByItself })
        if observingService == nil, keepers > 0 { observingService = service }
        showProgress()
        for member in members { enqueue(.attached, target: member.number) }
        return true
    }
}

/// The values that a change of a resource replaces. They are released after the lock, because contents, layers and the
/// models of failures may run foreign code when they are released. That code may use the resource and so take the lock
/// again.
///
/// The values are taken before the change instead of at each place that replaces one, so that no place is forgotten.
/// Most resources have one view and no layer, so this retains two objects and allocates nothing.
struct Displaced: Sendable {
    /// The content and the failure.
    private let snapshot: (any AnySnapshot)?
    /// All views, if there are several. Their array is copied by the change.
    private let views: [ResourceView]
    private let kept: KeptValue?
    private let writing: WritingBox?
    /// The waiting change that a newer one replaces if too many wait.
    private let waiting: PendingChange?

    init(_ state: CoreState) {
        snapshot = state.views.first?.snapshot
        views = state.views.count > 1 ? state.views : []
        kept = state.kept
        writing = state.writing
        waiting = state.pending.last
    }
}

/// The part of a resource's state that does not depend on the type of its content.
struct ResourceFacts: Sendable {
    /// Counts the changes of the resource, from 0.
    var version: UInt64
    /// The version at which the content was last replaced or removed.
    var contentVersion: UInt64 = 0
    /// The metadata of the content; `nil` without content.
    var entity: Entity?
    /// Where the content came from; `nil` without content.
    var provenance: Provenance?
    /// The monotonic time at which the content was received, confirmed or set.
    var contentTime: Duration? {
        get { contentTimeInNanoseconds.optionalDuration }
        set { contentTimeInNanoseconds = newValue?.wholeNanoseconds ?? .min }
    }
    /// The failure of the last load; `nil` after a success, an override or a wipe.
    var failure: RequestFailure?
    /// The monotonic time of ``failure``.
    var failureTime: Duration? {
        get { failureTimeInNanoseconds.optionalDuration }
        set { failureTimeInNanoseconds = newValue?.wholeNanoseconds ?? .min }
    }
    /// The monotonic time until which the resource is fresh; `nil` if it is not.
    var freshUntil: Duration? {
        get { freshUntilInNanoseconds.optionalDuration }
        set { freshUntilInNanoseconds = newValue?.wholeNanoseconds ?? .min }
    }
    /// Whether an invalidation is in effect.
    var isInvalid = false
    /// Whether the content came from a GET request of this resource, so that its validator may be sent. This is `false`
    /// after an override, or after a load with another request.
    var isOfServer = false
    /// The number of optimistic layers in the content of one view. It is zero in the facts that all views share.
    var pendingLayers: UInt8 = 0
    /// The progress of the newest load, if an observer has requested it. It fills a gap in the layout.
    var progress = LoadProgress.none
    /// The number of running loads.
    var loads = 0

    // They have a third of the size of optional durations, because every resource has two copies of them.
    private var contentTimeInNanoseconds = Int64.min
    private var failureTimeInNanoseconds = Int64.min
    private var freshUntilInNanoseconds = Int64.min

    init(version: UInt64 = 0) { self.version = version }

    /// Whether no load is needed. After a failure, the retry time counts too.
    ///
    /// - Parameter maximumAge: The age up to which content is fresh; `nil` means that ``freshUntil`` decides.
    func isFresh(at now: Duration, _ maximumAge: Duration?) -> Bool {
        let isFresh = freshUntil.map { now <= $0 } ?? false
        guard let maximumAge else { return isFresh }
        guard !isInvalid else { return false }
        let isYoung = contentTime.map { now - $0 <= maximumAge } ?? false
        return isYoung || (failure != nil && isFresh)
    }

    /// Whether the resource was loaded or its content was set.
    var wasLoaded: Bool { entity != nil || failure != nil || loads > 0 }

    /// Whether the last load failed because of the network.
    var isFailedByNetwork: Bool { failure?.isOfNetwork ?? false }

    /// Records that the content was received, confirmed or set.
    ///
    /// - Parameters:
    ///   - time: The monotonic time since which the content has its age.
    ///   - freshUntil: The end of freshness, unless an invalidation is in effect.
    mutating func confirm(at time: Duration, _ freshUntil: Duration?, isInvalid: Bool) {
        (contentTime, failure, failureTime) = (time, nil, nil)
        self.isInvalid = isInvalid
        self.freshUntil = isInvalid ? nil : freshUntil
    }

    /// Marks the content as outdated.
    mutating func expire() {
        isInvalid = true
        freshUntil = nil
    }
}

extension Int64 {
    /// The duration of this many nanoseconds; `nil` for the smallest number.
    fileprivate var optionalDuration: Duration? { self == .min ? nil : .nanoseconds(self) }
}
