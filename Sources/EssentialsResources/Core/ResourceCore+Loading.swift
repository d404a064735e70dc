public import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The loads of a resource, and its other requests.
extension ResourceCore {
    /// Whether a load is needed.
    enum Need: Sendable {
        /// The content is fresh.
        case nothing
        /// A load is running, and its response will be new enough.
        case running(Load)
        /// A load has been created.
        case new(Load)

        /// The load; `nil` if none is needed.
        var load: Load? {
            switch self {
            case .nothing: nil
            case .running(let load), .new(let load): load
            }
        }
    }

    // MARK: Beginning

    /// Begins a load, which the caller starts.
    ///
    /// - Parameters:
    ///   - isAwaited: Whether a task will wait for it.
    ///   - isStarted: Whether it runs to its end even if no task waits.
    ///   - reason: Why it begins.
    func beginLoad(
        _ options: LoadOptions, _ service: HTTPResourceService, isAwaited: Bool = false, isStarted: Bool = false,
        because reason: LoadEvent.Reason = .requested
    ) -> Load {
        changing { $0.beginLoad(options, of: self, service, reason, isAwaited: isAwaited, isStarted: isStarted) }
    }

    /// Joins a running load, or begins one, if the resource is not fresh.
    ///
    /// A view is never fresh if its content is missing because it was too large to be kept.
    ///
    /// - Parameters:
    ///   - contentType: The type of the view; `nil` for all existing views.
    ///   - maximumAge: The age up to which content is fresh; `nil` means that the configuration decides.
    func beginLoadIfNeeded(
        of contentType: ObjectIdentifier?, _ options: LoadOptions, _ service: HTTPResourceService, isAwaited: Bool,
        isStarted: Bool, at now: Duration, maximumAge: Duration?
    ) -> Need {
        changing { state in
            let isHere = state.views.isHere(contentType)
            if state.facts.isFresh(at: now, maximumAge), state.facts.failure != nil || isHere {
                state.reportSkip(at: now, maximumAge)
                return .nothing
            }
            if let load = state.joinableLoad(in: options.environment) {
                state.report(.joined, load: load.number)
                if isAwaited { state.machine.join(load.number) }
                if isStarted { state.machine.keep(load.number) }
                return .running(load)
            }
            return .new(
                state.beginLoad(
                    options, of: self, service, state.reason(isHere: isHere, maximumAge), isAwaited: isAwaited,
                    isStarted: isStarted, isEnoughIfFresh: true))
        }
    }

    /// Begins a regular load, unless a load is running or the resource has no observers.
    func beginPolledLoad(_ options: LoadOptions, _ service: HTTPResourceService) -> Load? {
        changing { state in
            guard state.observers.count > 0, state.machine.loads.isEmpty else { return nil }
            return state.beginLoad(options, of: self, service, .regular)
        }
    }

    /// Resumes the regular loads, because the server is reachable again. Begins a load if the network caused the last
    /// failure, the resource is observed, and no load asks the server.
    func beginReachableLoad(_ options: LoadOptions, _ service: HTTPResourceService) -> Load? {
        changing { state in
            state.polling?.note(.reachable(true))
            guard state.observers.count > 0, state.facts.isFailedByNetwork, !state.machine.asksServer else {
                return nil
            }
            return state.beginLoad(options, of: self, service, .reachable)
        }
    }

    /// Whether the resource is observed, and waits for its server to become reachable.
    var waitsForReachability: Bool {
        reading { $0.observers.count > 0 && ($0.facts.isFailedByNetwork || $0.polling != nil) }
    }

    /// Begins the request of a load that has waited for the caches.
    ///
    /// - Returns: Whether the load is still needed.
    func request(_ load: Load) -> Bool {
        changing { state in
            guard state.machine.request(load.number) else { return false }
            state.report(.requested, load: load.number)
            state.change(.requested)
            return true
        }
    }

    /// The content that the next request may name in a condition; see ``CoreState/knownContent(hasResponseCache:)``.
    func knownContent(hasResponseCache: Bool) -> KnownContent? {
        reading { $0.knownContent(hasResponseCache: hasResponseCache) }
    }

    /// The kind of response that the views read. It is computed again after views were added.
    var responseKind: ResponseKind {
        let (known, types) = reading { state -> (ResponseKind?, [Any.Type]) in
            if let known = state.responseKind, Int(known.views) == state.views.count { return (known.kind, []) }
            return (nil, state.views.map(\.snapshot.type))
        }
        if let known { return known }
        let kind = ResponseKind(readingAll: types)
        reading { $0.responseKind = (Int32(clamping: types.count), kind) }
        return kind
    }

    // MARK: Interest

    /// The load that began last; `nil` if no load is running.
    var newestLoad: Load? { reading { $0.loads.last } }

    /// Whether a load or another request runs.
    var isBusy: Bool { reading { !$0.loads.isEmpty || !$0.requests.isEmpty } }

    /// Whether a load runs.
    func isRunning(_ load: Load) -> Bool { reading { $0.loads.contains { $0 === load } } }

    /// The priority of the resource's requests.
    private var ownPriority: RequestPriority {
        guard case .success(let request) = reading({ $0.definition })?.request else { return .normal }
        return request.options.priority
    }

    /// Raises the priority of a load to that of a caller that joins it.
    ///
    /// - Parameter priority: The priority; `nil` means that of the resource's requests.
    func raise(_ load: Load, to priority: RequestPriority?) { load.priority.raise(to: priority ?? ownPriority) }

    /// Raises the priority of all loads to that of the resource's requests. It is called when an observer is added,
    /// because an observer counts like a waiting task.
    func raiseLoads() {
        for load in reading({ $0.loads }) { raise(load, to: nil) }
    }

    /// Adds a task that waits for a load.
    func join(_ load: Load) { reading { $0.machine.join(load.number) } }

    /// Removes a task that has stopped waiting. The load is cancelled if nothing else needs it.
    func leave(_ load: Load) {
        cancel(load) { $0.machine.leave(load.number, isObserved: $0.observers.count > 0) }
    }

    /// Keeps a load running to its end, because a request by hand follows it.
    func keep(_ load: Load) { changing { $0.machine.keep(load.number) } }

    /// Removes a cancelled request by hand. The load is cancelled if neither a task nor another request needs it.
    func release(_ load: Load) { cancel(load) { $0.machine.release(load.number) } }

    /// Cancels a load for all tasks that wait for it.
    func cancel(_ load: Load) {
        cancel(load) { $0.machine.cancel(load.number) }
        load.cancel()
    }

    private func cancel(_ load: Load, if isUnwanted: (inout CoreState) -> Bool) {
        let isCancelled = changing { state in
            guard isUnwanted(&state) else { return false }
            state.remove(load)
            return true
        }
        if isCancelled { load.cancel() }
    }

    /// Cancels the loads for which no task waits.
    func cancelLoads() { cancelLoads { $0.machine.cancelUnawaited(includingStarted: true) } }

    /// Cancels the loads for which no task waits, if there is no observer.
    func cancelUnobservedLoads() {
        sweep()
        cancelLoads { $0.observers.count == 0 ? $0.machine.cancelUnawaited(includingStarted: true) : [] }
    }

    /// Cancels all loads, even if tasks wait for them.
    func cancelAll() { cancelLoads { $0.machine.cancelAll() } }

    private func cancelLoads(_ choose: (inout CoreState) -> [UInt64]) {
        let ended = changing { $0.endLoads(choose(&$0)) }
        for load in ended { load.cancel() }
    }

    /// Records the progress of a load, and notifies the observers that have requested it.
    func note(progress: Double, of load: Load) { changing { $0.note(LoadProgress(progress), of: load) } }

    // MARK: Outcomes

    /// Makes a response the content, unless something newer has changed it, and ends its load. The projections are made
    /// first, outside the lock. If the views cannot read the response, its load fails and nothing is replaced, neither
    /// here nor in the caches; see ``ReadingRules``.
    ///
    /// - Parameters:
    ///   - isOwn: Whether the request was a GET of this resource, and not a caller's own request.
    ///   - changes: The changes of the caches if the response becomes the content.
    @discardableResult
    func commit(
        _ response: LoadedResponse, isOwn: Bool, _ changes: CacheChanges?, _ arrival: ResponseArrival,
        _ service: HTTPResourceService
    ) -> ResourceMachine.Verdict {
        typealias Committed = (ResourceMachine.Verdict, RequestFailure?, [any AnyProjection])
        let value = response.result.value
        let (verdict, refusal, projections) = replacing(with: value, service.codecs) {
            state, content, shown -> Committed in
            if let refusal = ReadingRules.refusal(of: content.server, by: state.views) {
                return (.superseded, refusal, [])
            }
            return (state.commit(response, content, shown, isOwn: isOwn, changes, arrival), nil, content.server)
        }
        if let refusal {
            // An unreadable response that came in the background changes nothing. The next load reports the failure.
            if let load = arrival.load { fail(refusal, load) }
            return verdict
        }
        changes?.work()
        service.table.recount(self)
        arrival.load?.end(.loaded(value, projections))
        return verdict
    }

    /// Records a response that says that the content has not changed, and ends its load.
    ///
    /// - Parameter places: The places of the entity in the caches.
    /// - Returns: The verdict; `nil` if the response confirms something other than the current content, so that the
    ///   load continues.
    @discardableResult
    func confirm(
        _ confirmation: ResourceExchange.Confirmation, _ rules: FreshnessRules, _ places: CachePlaces?,
        _ arrival: ResponseArrival, _ service: HTTPResourceService
    ) -> ResourceMachine.Verdict? {
        let (now, date) = (service.time.now, service.clock.date)
        typealias Confirmed = (verdict: ResourceMachine.Verdict, projections: [any AnyProjection])
        let confirmed = changing { state -> Confirmed? in
            let projections = state.layered.server
            return state.confirm(confirmation, rules, at: now, date, places, arrival).map { ($0, projections) }
        }
        guard let confirmed else { return nil }
        places?.work()
        arrival.load?.end(.notModified(confirmed.projections, confirmation.headerFields))
        return confirmed.verdict
    }

    /// Ends a load with a failure. A cancellation changes neither content nor failure.
    func fail(_ failure: RequestFailure, _ load: Load) {
        if failure.reason == .cancelled {
            cancel(load)
        } else {
            let now = load.service.time.now
            let retryAfter = failure.retryAfter(now: load.service.clock.date)
            let freshUntil = load.options.configuration.freshness.deadline(
                of: .failure(time: now, retryAfter: retryAfter))
            changing { $0.fail(load, failure, at: now, freshUntil: freshUntil) }
        }
        load.end(.failed(failure))
    }

    /// Ends a load whose outcome is only for its waiting tasks. Neither the state nor the order changes.
    func dismiss(_ load: Load, _ outcome: LoadOutcome) {
        changing { state in
            guard state.machine.cancel(load.number) else { return }
            state.removeLoads(as: .answered) { $0 === load }
            state.change(.superseded)
        }
        load.end(outcome)
    }

    /// Ends a load that accepts only stored content and has found no stored response. Its outcome is the server's
    /// content, if the resource has caches and such content, because the caches hold the same. Freshness and an
    /// invalidation stay.
    ///
    /// - Returns: Whether the load has ended.
    func endWithStoredContent(_ load: Load) -> Bool {
        guard let stored = reading({ $0.storedOutcome }) else { return false }
        dismiss(load, stored)
        return true
    }

    // MARK: Requests that are not loads

    /// The number of the last started request of all resources.
    private static let lastRequest = Atomic<UInt64>(0)

    /// Records a request that was started.
    ///
    /// - Returns: Its number.
    func add(_ method: HTTPRequest.Method, _ cancel: @escaping @Sendable () -> Void) -> UInt64 {
        // Numbers are never used again, because a request can be removed twice.
        let number = Self.lastRequest.wrappingAdd(1, ordering: .relaxed).newValue
        add(RunningRequest(method: method, isLoad: false, number: number, load: 0, end: cancel))
        return number
    }

    private func add(_ request: RunningRequest) {
        let isAdded = reading { state in
            guard state.forward == nil else { return false }
            var request = request
            request.load = state.machine.last
            state.requests.append(request)
            return true
        }
        if !isAdded { current.add(request) }
    }

    /// Records the end of a request.
    func remove(request number: UInt64) {
        // The last reference to the request may be released here, outside the lock.
        let (_, forward) = reading { state -> (RunningRequest?, ForwardedResource?) in
            guard let index = state.requests.firstIndex(where: { $0.number == number }) else {
                return (nil, state.forward)
            }
            let request = state.requests.remove(at: index)
            // An idle resource has no memory for requests.
            if state.requests.isEmpty { state.requests = [] }
            return (request, nil)
        }
        forward?.next.remove(request: number)
    }

    /// The running loads and requests, in the order of their start.
    var runningRequests: [RunningRequest] {
        let (loads, requests) = reading { ($0.loads, $0.requests) }
        var merged: [RunningRequest] = []
        var rest = requests[...]
        for load in loads {
            while let request = rest.first, request.load < load.number {
                merged.append(request)
                rest = rest.dropFirst()
            }
            merged.append(
                RunningRequest(method: .get, isLoad: true, number: 0, load: load.number) { [self] in cancel(load) })
        }
        return merged + rest
    }

    /// Cancels the requests that are not loads.
    func cancelRequests() {
        // The newest first: a write that waits for an earlier one must not be sent because that one has just ended.
        for request in reading({ $0.requests }).reversed() { request.cancel() }
    }
}

/// A running load or request.
///
/// ```swift
/// for request in cart.runningRequests where request.method != .get { request.cancel() }
/// ```
public struct RunningRequest: Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// Whether it is a load, which can change the state of the resource.
    public let isLoad: Bool
    /// The number of a request that is not a load.
    let number: UInt64
    /// The number of the load, or of the newest load when the request was started.
    var load: UInt64
    fileprivate let end: @Sendable () -> Void

    /// Cancels it for all tasks that wait for it.
    public func cancel() { end() }
}

extension AnyResource {
    /// The running loads and requests, in the order of their start.
    public var runningRequests: [RunningRequest] { core.runningRequests }
}
