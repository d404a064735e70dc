import EssentialsHTTP
import EssentialsRequests

/// Sends the request of a load, reads the response, and hands the result to the core.
struct LoadTask: Sendable {
    let service: HTTPResourceService
    let core: ResourceCore
    let run: LoadRun
    let wish: LoadWish

    /// Performs the load in the present task.
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
            // A request of the caller's has its own conditions, or none.
            if wish.request == nil, let condition = core.condition {
                switch try await send(condition, places, progress?.source) {
                case .loaded(let result, let entity):
                    let changes = places?.changes(for: result, at: entity.date, service)
                    return core.commit(result, entity, isOwn: true, changes, run, service)
                case .notModified(let confirmation):
                    if core.confirm(confirmation, places, run, service) { return }
                // A view was added whose content is not there, so the body is needed after all.
                }
            }
            guard !run.hasEnded else { return }
            switch try await send(nil, places, progress?.source) {
            case .loaded(let result, let entity):
                let isOwn = wish.request == nil
                // The response to another request is no entity of this URL, but the one in the caches is older.
                let changes = isOwn ? places?.changes(for: result, at: entity.date, service) : places?.removals
                core.commit(result, entity, isOwn: isOwn, changes, run, service)
            case .notModified(let confirmation):
                guard wish.request != nil, core.confirm(confirmation, nil, run, service) else {
                    throw RequestFailure(
                        .protocolViolation, "The server answered 304 to a request without a condition.",
                        remedy: "Correct the server, or the cache in front of it.")
                }
            }
        } catch {
            core.fail(error, run, service)
        }
    }

    /// Measures the load, if its request or an observer has asked for its progress.
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
        // The request that has asked lets its progress grow with time itself.
        let ticker = wish.progress == nil ? Task { [run] in await source.tick { !run.hasEnded } } : nil
        return (source, ticker)
    }

    private enum Reply {
        case loaded(PipelineResult, Entity)
        case notModified(ResourceExchange.Confirmation)
    }

    private func send(
        _ condition: (name: HTTPField.Name, value: String)?, _ places: CachePlaces?, _ progress: ProgressSource?
    ) async throws(RequestFailure) -> Reply {
        var request = try service.request(wish, for: core, condition)
        progress?.attach(to: &request)
        if let priority = wish.priority { request.options.priority = priority }
        request.raisablePriority = run.priority
        let reply = try await ResourceExchange(service: service, core: core).reply(
            to: request, caches: places?.caches ?? [])
        // A change of the environment during the transfer cancels the load.
        service.adoptEnvironment()
        switch reply {
        case .notModified(let confirmation): return .notModified(confirmation)
        case .loaded(let result):
            let value = result.value
            let entity = Entity(
                mediaType: value.contentType.flatMap { MediaType(parsing: $0) }, headerFields: value.head.headerFields,
                date: service.clock.date, byteCount: value.body?.count ?? 0)
            return .loaded(result, entity)
        }
    }
}

extension DataRequest {
    /// Whether the request has a condition of its caller.
    var isConditional: Bool { headerFields[.ifNoneMatch] != nil || headerFields[.ifModifiedSince] != nil }
}
