import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

extension ResourceCore {
    /// Whether a load is needed.
    enum Need: Sendable {
        /// The content is fresh.
        case nothing
        /// A load is running, and its response will be new enough.
        case running(LoadRun)
        /// A load has been created and must be started.
        case new(LoadRun, LoadWish)
    }

    /// Begins a load.
    ///
    /// - Parameters:
    ///   - wish: How it is sent; `nil` means a plain load of the resource from the server.
    ///   - isAwaited: Whether a task will wait for it.
    ///   - environment: The environment and the credentials of the load.
    ///   - usesCache: Whether the resource has caches.
    func beginLoad(
        _ wish: LoadWish? = nil, isAwaited: Bool, isStarted: Bool, in environment: AdoptedEnvironment, usesCache: Bool
    ) -> LoadRun {
        let isStoredEnough = wish.map { $0.request == nil && $0.acceptsOnlyStored } ?? false
        let need = isStoredEnough ? CacheNeed.stored : .current
        let isJoinable = wish?.isJoinable ?? true
        return changing { contents in
            beginLoad(
                &contents, isAwaited: isAwaited, isStarted: isStarted, in: environment, usesCache ? need : nil,
                isJoinable: isJoinable)
        }
    }

    /// Joins a running load, or begins one, if the resource is not fresh.
    ///
    /// A view is never fresh if its content is missing because it was too large to be kept.
    ///
    /// - Parameters:
    ///   - contentType: The type of the view; `nil` for all existing views.
    ///   - maximumAge: The age up to which content is fresh; `nil` means that the configuration decides.
    func beginLoadIfNeeded(
        of contentType: ObjectIdentifier?, isAwaited: Bool, isStarted: Bool, at now: Duration,
        in environment: AdoptedEnvironment, usesCache: Bool, maximumAge: Duration? = nil
    ) -> Need {
        changing { contents in
            if contents.facts.isFresh(at: now, maximumAge),
                contents.facts.failure != nil || contents.views.isHere(contentType)
            {
                return .nothing
            }
            if let run = contents.joinableRun(in: environment) {
                if isAwaited { contents.machine.join(run.number) }
                if isStarted { contents.machine.keep(run.number) }
                return .running(run)
            }
            let wish = LoadWish(isInvalid: contents.machine.isInvalid, maximumAge: maximumAge, in: environment)
            let need = usesCache ? CacheNeed.fresh : nil
            return .new(
                beginLoad(&contents, isAwaited: isAwaited, isStarted: isStarted, in: environment, need), wish)
        }
    }

    /// The content that a load needs from the caches.
    enum CacheNeed {
        /// Content to show until the server has responded.
        case current
        /// Content that is sufficient if it is fresh.
        case fresh
        /// Content that is sufficient at any age.
        case stored
    }

    func beginLoad(
        _ contents: inout Contents, isAwaited: Bool, isStarted: Bool, in environment: AdoptedEnvironment,
        _ need: CacheNeed? = nil, isJoinable: Bool = true
    ) -> LoadRun {
        let awaitsCache = need != nil && contents.mayReadCaches
        let number = contents.machine.beginLoad(
            waiting: isAwaited ? 1 : 0, isStarted: isStarted, endsWithFreshContent: awaitsCache && need != .current,
            isJoinable: isJoinable)
        let run = LoadRun(number: number, awaitsCache: awaitsCache, scope: environment.scope)
        contents.runs.append(run)
        if contents.observers.reportsProgress { run.measurement.ask() }
        // If the caches are read first, it is not known yet whether a request is needed.
        contents.changeFacts(awaitsCache ? nil : .requested) { _ in }
        return run
    }

    /// The priority of the resource's requests.
    var ownPriority: RequestPriority {
        guard case .success(let request) = contents.withLock({ $0.definition })?.request else { return .normal }
        return request.options.priority
    }

    /// Raises the priority of a load to that of a caller that joins it.
    ///
    /// - Parameter priority: The priority; `nil` means that of the resource's requests.
    func raise(_ run: LoadRun, to priority: RequestPriority?) { run.priority.raise(to: priority ?? ownPriority) }

    /// Raises the priority of all loads to that of the resource's requests. It is called when an observer is added,
    /// because an observer counts like a waiting task.
    func raiseLoads() {
        for run in contents.withLock({ $0.runs }) { raise(run, to: nil) }
    }

    /// Adds a task that waits for a load.
    func join(_ run: LoadRun) { contents.withLock { $0.machine.join(run.number) } }

    /// Removes a task that has stopped waiting. The load is cancelled if nothing else needs it.
    func leave(_ run: LoadRun) {
        let isUnwanted = changing { contents in
            guard contents.machine.leave(run.number, isObserved: contents.observers.count > 0) else { return false }
            remove(run, &contents)
            return true
        }
        if isUnwanted { run.cancel() }
    }

    /// Keeps a load running to its end, because a request by hand follows it.
    func keep(_ run: LoadRun) { changing { $0.machine.keep(run.number) } }

    /// Removes a cancelled request by hand. The load is cancelled if neither a task nor another request needs it.
    func release(_ run: LoadRun) {
        let isUnwanted = changing { contents in
            guard contents.machine.release(run.number) else { return false }
            remove(run, &contents)
            return true
        }
        if isUnwanted { run.cancel() }
    }

    /// Cancels a load for all tasks that wait for it.
    func cancel(_ run: LoadRun) {
        changing { contents in
            if contents.machine.cancel(run.number) { remove(run, &contents) }
        }
        run.cancel()
    }

    private func remove(_ run: LoadRun, _ contents: inout Contents) {
        contents.removeRuns { $0 === run }
        contents.changeFacts(.cancelled) { _ in }
    }

    /// Cancels the loads for which no task waits.
    func cancelLoads() {
        let ended = changing { $0.endLoads($0.machine.cancelUnawaited(includingStarted: true)) }
        for run in ended { run.cancel() }
    }

    /// Cancels the loads for which no task waits, if there is no observer.
    func cancelUnobservedLoads() {
        let ended = changing { contents -> [LoadRun] in
            guard contents.observers.count == 0 else { return [] }
            return contents.endLoads(contents.machine.cancelUnawaited(includingStarted: true))
        }
        for run in ended { run.cancel() }
    }

    /// Cancels all loads, even if tasks wait for them.
    func cancelAll() {
        let ended = changing { $0.endLoads($0.machine.cancelAll()) }
        for run in ended { run.cancel() }
    }

    /// The load that began last; `nil` if no load is running.
    var newestRun: LoadRun? { contents.withLock { $0.runs.last } }

    /// The kind of response that the views read. It is computed again after views were added.
    var responseKind: ResponseKind {
        let (known, types) = contents.withLock { contents -> (ResponseKind?, [Any.Type]) in
            if let known = contents.responseKind, Int(known.views) == contents.views.count { return (known.kind, []) }
            return (nil, contents.views.map(\.snapshot.type))
        }
        if let known { return known }
        let kind = ResponseKind(readingAll: types)
        contents.withLock { $0.responseKind = (Int32(clamping: types.count), kind) }
        return kind
    }

    /// Ends a load whose outcome is only for its waiting tasks. Neither the state nor the order changes.
    func dismiss(_ run: LoadRun, _ outcome: LoadOutcome) {
        changing { contents in
            guard contents.machine.cancel(run.number) else { return }
            contents.removeRuns { $0 === run }
            contents.changeFacts(.superseded) { _ in }
        }
        run.end(outcome)
    }

    /// Ends a load that accepts only stored content and has found no stored response. Its outcome is the server's
    /// content, if the resource has caches and such content, because the caches hold the same. Freshness and an
    /// invalidation stay.
    ///
    /// - Returns: Whether the load has ended.
    func endWithStoredContent(_ run: LoadRun) -> Bool {
        let stored = contents.withLock { contents -> LoadOutcome? in
            guard contents.isKnownToViews, let entity = contents.facts.entity else { return nil }
            let head = HTTPResponse(status: .ok, headerFields: entity.headerFields)
            return .loaded(contents.kept?.value ?? LoadedValue(head: head), contents.layered.server)
        }
        guard let stored else { return false }
        dismiss(run, stored)
        return true
    }

    // MARK: Failures

    /// Ends a load with a failure. A cancellation changes neither content nor failure. A missing stored response is a
    /// failure that says nothing about the server, so freshness and an invalidation stay.
    func fail(_ failure: RequestFailure, _ run: LoadRun, _ service: HTTPResourceService) {
        guard failure.reason != .cancelled else {
            cancel(run)
            return run.end(.failed(failure))
        }
        let now = service.time.now
        let retryAfter = failure.retryAfter(now: service.clock.date)
        let freshUntil = service.effective(for: self).freshness.deadline(
            of: .failure(time: now, retryAfter: retryAfter))
        changing { contents in
            let asked = failure.reason != .notCached
            let verdict = asked ? contents.machine.end(run.number) : contents.machine.miss(run.number)
            guard verdict != .unknown else { return }
            contents.removeRuns { $0 === run }
            let isInvalid = contents.machine.isInvalid
            contents.changeFacts(verdict == .commits ? .failed(failure) : .superseded) { facts in
                guard verdict == .commits else { return }
                facts.failure = failure
                facts.failureTime = now
                guard asked else { return }
                facts.isInvalid = isInvalid
                facts.freshUntil = isInvalid ? nil : freshUntil
            }
        }
        run.end(.failed(failure))
    }
}

extension ResourceCore.Contents {
    /// The newest load whose response would count, unless it has other credentials; `nil` without one.
    func joinableRun(in environment: AdoptedEnvironment) -> LoadRun? {
        guard let number = machine.joinable, let run = runs.last(where: { $0.number == number }) else { return nil }
        return run.scope === environment.scope ? run : nil
    }
}
