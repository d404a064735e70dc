import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import TestTools

@testable import EssentialsResources

/// Plays the part of a response cache in front of a server with one resource: it serves what it has stored, validates it
/// by itself, and names loads and bodies.
final class ResponseCacheDouble: DataRequestService, ResponseCaching {
    private struct State {
        /// What the server would send.
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
        /// Whether a missing response is the status 504, as between caches, instead of a failure of its own.
        var missesWithStatus = false
        /// How the server responds to writes.
        var writeStatus = HTTPResponse.Status.noContent
        var readers: [(after: UInt64, continuation: AsyncStream<DataResponse>.Continuation)] = []

        /// Fetches the resource, or confirms what is stored.
        mutating func fetch() -> DataResponse {
            lastLoad += 1
            if stored?.name != name { lastBody += 1 }
            stored = (name, ResponseIdentity(load: lastLoad, body: lastBody))
            return response
        }

        /// What is stored.
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
    /// Whether a response waits.
    var hasHeld: Bool { state.withLock { $0.hasHeld } }
    /// The number of readers of updates.
    var readerCount: Int { state.withLock { $0.readers.count } }

    /// Lets the server have other content.
    func change(_ name: String) { state.withLock { $0.name = name } }
    /// Lets the server send these fields.
    func send(_ fields: HTTPFields) { state.withLock { $0.fields = fields } }
    /// Lets the server respond with a status.
    func answer(_ status: HTTPResponse.Status) { state.withLock { $0.status = status } }
    /// Says how stored responses are used from now on.
    func use(age: Duration, isStale: Bool = false) {
        state.withLock { $0.use = StoredResponseUse(age: age, isStale: isStale) }
    }
    /// Lets the next request wait before the cache looks at it.
    func delay(_ latch: Latch) { state.withLock { $0.delay = latch } }
    /// Lets the next response wait.
    func hold(_ latch: Latch) { state.withLock { $0.hold = latch } }
    /// Lets the server respond to writes with a status.
    func answerWrites(_ status: HTTPResponse.Status) { state.withLock { $0.writeStatus = status } }
    /// Whether a response is stored.
    var isStored: Bool { state.withLock { $0.stored != nil } }
    /// Lets a missing response be the status 504.
    func missWithStatus() { state.withLock { $0.missesWithStatus = true } }
    /// Forgets what is stored.
    func clear() { state.withLock { $0.stored = nil } }
    /// Lets the next stored response be replaced before it has reached its caller.
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

    /// Sends a write to the server. One that has not failed invalidates what is stored (RFC 9111, 4.4). The content of the
    /// server is that of ``change(_:)``.
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

    /// The failure of a request that accepts only a stored response; `nil` if there is one.
    private func missing(_ request: DataRequest) -> RequestFailure? {
        guard request.headerFields[.cacheControl] == "only-if-cached" else { return nil }
        let (isStored, missesWithStatus) = state.withLock { ($0.stored != nil, $0.missesWithStatus) }
        if isStored { return nil }
        guard missesWithStatus else { return RequestFailure(.notCached, "Nothing is stored.") }
        let head = HTTPResponse(status: .gatewayTimeout)
        return RequestFailure(.status, "Nothing is stored.", response: FailedResponse(head: head, body: Data()))
    }

    /// Validates what is stored in the background.
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
