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
        let response = try await service.send(wish, for: core, condition)
        // A change of the environment during the transfer cancels the load.
        service.adoptEnvironment()
        if response.status == .notModified { return .notModified(response.headerFields) }
        let body = try await response.body.collect(upTo: service.configuration.maximumBody)
        let contentType = response.headerFields[.contentType]
        let entity = Entity(
            mediaType: contentType.flatMap { MediaType(parsing: $0) }, headerFields: response.headerFields,
            date: service.clock.date, byteCount: body.count)
        let value = LoadedValue(
            body: body, contentType: contentType, head: response.head, host: response.url?.origin.host.text)
        return .loaded(value, entity)
    }
}

extension DataRequest {
    /// Whether the request has a condition of its caller.
    var isConditional: Bool { headerFields[.ifNoneMatch] != nil || headerFields[.ifModifiedSince] != nil }
}
