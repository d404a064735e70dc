import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import TestTools

/// A response cache in front of a server with one resource. The validations in the background wait at the server.
protocol TestedCache: DataRequestService, ResponseCaching {
    /// Whether a response is stored.
    var isStored: Bool { get async }

    /// Makes the stored response have an age. It is stale after a minute, and then served while it is validated.
    func use(age: Duration)
    /// Lets the server respond to the validation of the stale response that was served.
    func update()
    /// Removes the stored response.
    func clear() async
}

/// A response cache in front of a server with one resource, which records its requests and can hold them: either the
/// double, or the cache itself in a data-request service whose clock is not that of the resources.
final class CacheUnderTest: DataRequestDecorator, ResponseCaching {
    enum Kind: CaseIterable, Sendable {
        case double, cache
    }

    private struct State {
        var requests: [DataRequest] = []
        var delay: Latch?
        var hold: Latch?
        var hasHeld = false
        var isUpdatedWhileServing = false
    }

    let storesResponses = true
    private let server = CachedServer()
    private let cache: any TestedCache
    private let state = Mutex(State())

    /// - Parameter missesWithStatus: Whether the double responds to a request for a missing response with the status 504.
    init(_ kind: Kind, missesWithStatus: Bool = false) throws {
        server.send([.cacheControl: "max-age=60, stale-while-revalidate=100000"])
        switch kind {
        case .double: cache = ResponseCacheDouble(server, missesWithStatus: missesWithStatus)
        case .cache: cache = try CachingService(server)
        }
    }

    deinit { server.releaseAllValidations() }

    var next: any DataRequestService { cache }

    /// The requests that have reached the cache.
    var requests: [DataRequest] { state.withLock { $0.requests } }
    /// The number of requests that the cache has sent to the server, apart from writes.
    var fetches: Int { server.fetches }
    /// Whether a response is or was waiting.
    var hasHeld: Bool { state.withLock { $0.hasHeld } }
    /// Whether a response is stored.
    var isStored: Bool { get async { await cache.isStored } }

    /// Changes the content of the server.
    func change(_ name: String) { server.change(name) }
    /// Makes the server send these fields.
    func send(_ fields: HTTPFields) { server.send(fields) }
    /// Makes the server respond with a status.
    func answer(_ status: HTTPResponse.Status) { server.answer(status) }
    /// Makes the server respond to writes with a status.
    func answerWrites(_ status: HTTPResponse.Status) { server.answerWrites(status) }
    /// Makes the stored response have an age. It is stale after a minute, and then served while it is validated.
    func use(age: Duration) { cache.use(age: age) }
    /// Lets the server respond to the validation of the stale response that was served.
    func update() { cache.update() }
    /// Removes the stored response.
    func clear() async { await cache.clear() }
    /// Makes the next request wait before the cache handles it.
    func delay(_ latch: Latch) { state.withLock { $0.delay = latch } }
    /// Makes the next response wait.
    func hold(_ latch: Latch) { state.withLock { $0.hold = latch } }
    /// Lets the next stored response be replaced before it has reached its caller.
    func updateWhileServing() { state.withLock { $0.isUpdatedWhileServing = true } }

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let delay = state.withLock { state in
            state.requests.append(request)
            return state.delay.take()
        }
        await delay?.wait()
        let response = try await cache.send(request)
        let (hold, isUpdated) = state.withLock { state in
            if state.hold != nil { state.hasHeld = true }
            defer { state.isUpdatedWhileServing = false }
            return (state.hold.take(), state.isUpdatedWhileServing)
        }
        await hold?.wait()
        if isUpdated, let load = response.identity?.load, let url = try? RequestURL("https://h/v1/item") {
            update()
            for await _ in cache.updates(of: url, after: load) { break }
        }
        return response
    }

    func updates(of url: RequestURL, after load: UInt64) -> AsyncStream<DataResponse> {
        cache.updates(of: url, after: load)
    }
}

/// The response cache of a data-request service.
private struct CachingService: TestedCache, DataRequestDecorator {
    private let server: CachedServer
    private let service: HTTPDataRequestService

    init(_ server: CachedServer) throws {
        (self.server, service) = (server, try server.requestService())
        server.holdValidations()
    }

    var next: any DataRequestService { service }
    var storesResponses: Bool { service.storesResponses }
    var isStored: Bool { get async { await server.cache.usage.responses > 0 } }

    func use(age: Duration) { server.advance(toAge: age) }
    func update() { server.releaseValidation() }
    func clear() async { await server.cache.removeAll() }

    func updates(of url: RequestURL, after load: UInt64) -> AsyncStream<DataResponse> {
        service.updates(of: url, after: load)
    }
}
