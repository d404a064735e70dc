import EssentialsHTTP
import EssentialsRequests

/// Sends the request of a load, reads the response, and hands the result to the core.
struct LoadTask: Sendable {
    let service: HTTPResourceService
    let core: ResourceCore
    let run: LoadRun
    let wish: LoadWish

    /// Performs the load in the current task.
    func perform() async {
        if run.awaitsCache {
            await service.readCaches(of: core, in: wish.environment)
            // Fresh content from a cache may have ended the load.
            guard core.request(run) else { return }
        }
        let places = service.cachePlaces(of: core, in: wish.environment)
        let progress = beginProgress()
        defer { progress?.ticker?.cancel() }
        do throws(RequestFailure) {
            // A caller's own request has its own conditions, or none.
            let hasResponseCache = service.responseCache(of: core) != nil
            if wish.request == nil, let known = core.knownContent(hasResponseCache: hasResponseCache) {
                switch try await send(known, places, progress?.source) {
                case .loaded(let response): return commit(response, places)
                case .notModified(let confirmation):
                    guard confirmation.answers(known) else { return handOver(confirmation) }
                    if confirm(confirmation, places) { return }
                // The content has changed meanwhile, or a new view has no content, so the body is needed after all.
                }
            }
            guard !run.hasEnded else { return }
            switch try await send(nil, places, progress?.source) {
            case .loaded(let response): commit(response, places)
            case .notModified(let confirmation):
                guard confirmation.subject != nil else { throw Self.unconfirmed() }
                handOver(confirmation)
            }
        } catch {
            let failure = explained(error)
            let isMissing = failure.reason == .notCached && wish.request == nil
            if isMissing, places != nil, core.endWithStoredContent(run) { return }
            service.loadLog.note(failure, core)
            core.fail(failure, run, service)
        }
    }

    /// Replaces two unexpected statuses by their real reason: a 304 that the load did not request, and the 504 of a
    /// cache that has no stored response (RFC 9111, 5.2.1.7).
    private func explained(_ failure: RequestFailure) -> RequestFailure {
        guard failure.reason == .status else { return failure }
        if failure.status == .notModified { return Self.unconfirmed(failure) }
        guard failure.status == .gatewayTimeout, wish.cacheControl == LoadWish.onlyIfStored else { return failure }
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

    private func commit(_ response: LoadedResponse, _ places: CachePlaces?) {
        let isOwn = wish.request == nil
        // The response to a caller's own request is not stored for this URL, but it makes the stored entity outdated.
        let changes = isOwn ? places?.changes(for: response, service) : places?.removals
        let verdict = core.commit(response, isOwn: isOwn, changes, .load(run), service)
        if isOwn, verdict == .commits, response.content.isStale { follow(response.result.origin.identity) }
    }

    /// - Returns: Whether the load has ended.
    private func confirm(_ confirmation: ResourceExchange.Confirmation, _ places: CachePlaces?) -> Bool {
        guard let verdict = core.confirm(confirmation, places, .load(run), service) else { return false }
        if verdict == .commits, confirmation.origin.storedUse?.isStale == true { follow(confirmation.origin.identity) }
        return true
    }

    /// Passes a 304 response to a caller's own condition on to the tasks that wait for the load. The content that it
    /// confirms is unknown here, so nothing changes.
    private func handOver(_ confirmation: ResourceExchange.Confirmation) {
        core.dismiss(run, .failed(confirmation.failure))
    }

    /// Waits for the response cache to replace the stale response that is shown.
    private func follow(_ identity: ResponseIdentity?) {
        guard let identity else { return }
        service.followUpdate(of: core, since: run.number, after: identity.load, in: wish.environment)
    }

    /// Measures the load, if its request or an observer has requested its progress.
    private func beginProgress() -> (source: ProgressSource, ticker: Task<Void, Never>?)? {
        guard run.measurement.decide(isAsked: wish.progress != nil) else { return nil }
        let source: ProgressSource
        if let progress = wish.progress {
            source = progress
        } else {
            let (method, body) = (wish.request?.method ?? .get, wish.request?.body ?? .none)
            source = ProgressSource(isGet: method == .get, hasBody: !body.isNone, service.clock)
        }
        source.report { [core, run] in core.note(progress: $0, of: run) }
        // A request with progress of its own also lets it grow with time.
        let ticker = wish.progress == nil ? Task.counted { [run] in await source.tick { !run.hasEnded } } : nil
        return (source, ticker)
    }

    private enum Reply {
        case loaded(LoadedResponse)
        case notModified(ResourceExchange.Confirmation)
    }

    private func send(
        _ known: KnownContent?, _ places: CachePlaces?, _ progress: ProgressSource?
    ) async throws(RequestFailure) -> Reply {
        var request = try service.request(wish, for: core, known?.condition)
        progress?.attach(to: &request)
        if let priority = wish.priority { request.options.priority = priority }
        request.raisablePriority = run.priority
        let reply = try await ResourceExchange(service: service, core: core, environment: wish.environment).reply(
            to: request, knownBody: known?.body, caches: places?.caches ?? [])
        // A change of the environment during the transfer cancels the load.
        service.adoptEnvironment()
        switch reply {
        case .notModified(let confirmation): return .notModified(confirmation)
        case .loaded(let result): return .loaded(LoadedResponse(result, of: core, service))
        }
    }
}

/// A response after the pipeline, with its times.
struct LoadedResponse: Sendable {
    let result: PipelineResult
    let entity: Entity
    /// The freshness of the response.
    let content: FreshnessRules.Content
    /// The monotonic time until which it is fresh; `nil` if it never is.
    let freshUntil: Duration?

    /// Describes a response that has been received now.
    init(_ result: PipelineResult, of core: ResourceCore, _ service: HTTPResourceService) {
        let (value, date) = (result.value, service.clock.date)
        self.result = result
        entity = Entity(
            mediaType: value.contentType.flatMap { MediaType(parsing: $0) }, headerFields: value.head.headerFields,
            date: date, byteCount: value.body?.count ?? 0)
        let rules = service.effective(for: core).freshness
        content = rules.content(with: value.head.headerFields, result.origin, at: service.time.now, date)
        freshUntil = rules.deadline(of: .content(content))
    }
}

extension ResourceExchange.Confirmation {
    /// Whether the response answers the condition of the resource or none, rather than a condition of the caller.
    fileprivate func answers(_ known: KnownContent) -> Bool {
        guard let sent = subject?.condition else { return true }
        return known.condition.map { $0 == sent } ?? false
    }
}

extension DataRequest {
    /// Whether the caller of the request has made it conditional.
    var isConditional: Bool { headerFields[.ifNoneMatch] != nil || headerFields[.ifModifiedSince] != nil }
}
