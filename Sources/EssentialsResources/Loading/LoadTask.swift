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
        do throws(RequestFailure) {
            // A request of the caller's has its own conditions, or none.
            if wish.request == nil, let condition = core.condition {
                switch try await send(condition) {
                case .loaded(let value, let entity):
                    return core.commit(value, entity, isOwn: true, run, service)
                case .notModified(let fields):
                    if core.confirm(fields, run, service) { return }
                // A view was added whose content is not there, so the body is needed after all.
                }
            }
            guard !run.hasEnded else { return }
            switch try await send(nil) {
            case .loaded(let value, let entity): core.commit(value, entity, isOwn: wish.request == nil, run, service)
            case .notModified(let fields):
                guard wish.request != nil, core.confirm(fields, run, service) else {
                    throw RequestFailure(
                        .protocolViolation, "The server answered 304 to a request without a condition.",
                        remedy: "Correct the server, or the cache in front of it.")
                }
            }
        } catch {
            core.fail(error, run, service)
        }
    }

    private enum Reply {
        case loaded(LoadedValue, Entity)
        case notModified(HTTPFields)
    }

    private func send(_ condition: (name: HTTPField.Name, value: String)?) async throws(RequestFailure) -> Reply {
        var request = try service.request(wish, for: core, condition)
        wish.progress?.attach(to: &request)
        if let priority = wish.priority { request.options.priority = priority }
        request.raisablePriority = run.priority
        let reply = try await ResourceExchange(service: service, core: core).reply(to: request)
        // A change of the environment during the transfer cancels the load.
        service.adoptEnvironment()
        switch reply {
        case .notModified(let fields): return .notModified(fields)
        case .loaded(let value):
            let entity = Entity(
                mediaType: value.contentType.flatMap { MediaType(parsing: $0) }, headerFields: value.head.headerFields,
                date: service.clock.date, byteCount: value.body?.count ?? 0)
            return .loaded(value, entity)
        }
    }
}

extension DataRequest {
    /// Whether the request has a condition of its caller.
    var isConditional: Bool { headerFields[.ifNoneMatch] != nil || headerFields[.ifModifiedSince] != nil }
}
