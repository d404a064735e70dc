import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import TestTools

@testable import EssentialsResources

/// Acts as a response cache in front of a server with one resource: it serves stored responses, validates them by
/// itself, and numbers loads and bodies.
final class ResponseCacheDouble: DataRequestService, ResponseCaching {
    private struct State {
        /// The content of the server.
        var name = "Ada"
        var fields: HTTPFields = [:]
        var status = HTTPResponse.Status.ok
        var stored: (name: String, identity: ResponseIdentity)?
        var lastLoad: UInt64 = 0
        var lastBody: UInt64 = 0
        var use = StoredResponseUse(age: .zero)
        var requests: [DataRequest] = []
        var delay: Latch?
        var hold: Latch?
        var hasHeld = false
        var isUpdatedWhileServing = false
        /// Whether a missing response is the status 504, as between caches, instead of a failure.
        var missesWithStatus = false
        /// How the server responds to writes.
        var writeStatus = HTTPResponse.Status.noContent
        var readers: [(after: UInt64, continuation: AsyncStream<DataResponse>.Continuation)] = []

        /// Fetches the resource, or confirms the stored response.
        mutating func fetch() -> DataResponse {
            lastLoad += 1
            if stored?.name != name { lastBody += 1 }
            stored = (name, ResponseIdentity(load: lastLoad, body: lastBody))
            return response
        }

        /// The stored response.
        var response: DataResponse {
            var fields = fields
            fields[.contentType] = "application/json"
            fields[.eTag] = "\"\(stored?.identity.body ?? 0)\""
            var response = DataResponse(
                status, headerFields: fields, body: Data(#"{"name":"\#(stored?.name ?? "")"}"#.utf8))
            response.identity = stored?.identity
            return response
        }
    }

    let codecs = CodecRegistry.standard
    let storesResponses = true
    private let state = Mutex(State())

    /// The requests that have reached the cache.
    var requests: [DataRequest] { state.withLock { $0.requests } }
    /// The number of requests that the cache has sent to the server.
    var fetches: UInt64 { state.withLock { $0.lastLoad } }
    /// Whether a response is waiting.
    var hasHeld: Bool { state.withLock { $0.hasHeld } }
    /// The number of readers of updates.
    var readerCount: Int { state.withLock { $0.readers.count } }

    /// Changes the content of the server.
    func change(_ name: String) { state.withLock { $0.name = name } }
    /// Makes the server send these fields.
    func send(_ fields: HTTPFields) { state.withLock { $0.fields = fields } }
    /// Makes the server respond with a status.
    func answer(_ status: HTTPResponse.Status) { state.withLock { $0.status = status } }
    /// Sets how stored responses are used from now on.
    func use(age: Duration, isStale: Bool = false) {
        state.withLock { $0.use = StoredResponseUse(age: age, isStale: isStale) }
    }
    /// Makes the next request wait before the cache handles it.
    func delay(_ latch: Latch) { state.withLock { $0.delay = latch } }
    /// Makes the next response wait.
    func hold(_ latch: Latch) { state.withLock { $0.hold = latch } }
    /// Makes the server respond to writes with a status.
    func answerWrites(_ status: HTTPResponse.Status) { state.withLock { $0.writeStatus = status } }
    /// Whether a response is stored.
    var isStored: Bool { state.withLock { $0.stored != nil } }
    /// Makes a missing response be the status 504.
    func missWithStatus() { state.withLock { $0.missesWithStatus = true } }
    /// Forgets the stored response.
    func clear() { state.withLock { $0.stored = nil } }
    /// Replaces the next stored response before it has reached its caller.
    func updateWhileServing() { state.withLock { $0.isUpdatedWhileServing = true } }

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let delay = state.withLock { state in
            state.requests.append(request)
            return state.delay.take()
        }
        await delay?.wait()
        if request.method != .get { return try written() }
        if let failure = missing(request) { throw failure }
        let (response, hold) = state.withLock { state -> (DataResponse, Latch?) in
            let isStoredEnough = request.headerFields[.cacheControl].map { $0 == "only-if-cached" } ?? true
            let isServed = isStoredEnough && state.stored != nil
            var response = isServed ? state.response : state.fetch()
            if isServed { response.storedUse = state.use }
            if let tag = request.headerFields[.ifNoneMatch], tag == response.headerFields[.eTag] {
                var confirmation = DataResponse(.notModified, headerFields: response.headerFields)
                (confirmation.storedUse, confirmation.identity) = (response.storedUse, response.identity)
                response = confirmation
            }
            state.hasHeld = state.hold != nil
            return (response, state.hold.take())
        }
        await hold?.wait()
        if state.withLock({ $0.isUpdatedWhileServing }) { update() }
        return response
    }

    /// Sends a write to the server. A write that has not failed invalidates the stored response (RFC 9111, 4.4). The
    /// content of the server is set by ``change(_:)``.
    private func written() throws(RequestFailure) -> DataResponse {
        let status = state.withLock { state in
            if (200...399).contains(state.writeStatus.code) { state.stored = nil }
            return state.writeStatus
        }
        let head = HTTPResponse(status: status)
        guard status.kind == .successful else {
            throw RequestFailure(.status, "The write failed.", response: FailedResponse(head: head, body: Data()))
        }
        return DataResponse(status, headerFields: [:], body: Data())
    }

    /// The failure of a request that accepts only a stored response; `nil` if there is a stored response.
    private func missing(_ request: DataRequest) -> RequestFailure? {
        guard request.headerFields[.cacheControl] == "only-if-cached" else { return nil }
        let (isStored, missesWithStatus) = state.withLock { ($0.stored != nil, $0.missesWithStatus) }
        if isStored { return nil }
        guard missesWithStatus else { return RequestFailure(.notCached, "Nothing is stored.") }
        let head = HTTPResponse(status: .gatewayTimeout)
        return RequestFailure(.status, "Nothing is stored.", response: FailedResponse(head: head, body: Data()))
    }

    /// Validates the stored response in the background.
    func update() {
        let (readers, response) = state.withLock { state in
            state.isUpdatedWhileServing = false
            return (state.readers, state.fetch())
        }
        for reader in readers { reader.continuation.yield(response) }
    }

    func updates(of url: RequestURL, after load: UInt64) -> AsyncStream<DataResponse> {
        let (stream, continuation) = AsyncStream.makeStream(of: DataResponse.self)
        state.withLock { state in
            state.readers.append((load, continuation))
            if let stored = state.stored, stored.identity.load > load { continuation.yield(state.response) }
        }
        return stream
    }
}
