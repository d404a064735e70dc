import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

@testable import EssentialsRequests

/// Acts as a response cache in front of a server with one resource: it serves stored responses, validates them by
/// itself, and numbers loads and bodies. Responses are fresh for a minute.
final class ResponseCacheDouble: TestedCache {
    private struct Stored {
        var fields: HTTPFields
        let status: HTTPResponse.Status
        let body: Data
        var identity: ResponseIdentity

        var response: DataResponse {
            var response = DataResponse(status, headerFields: fields, body: body)
            response.identity = identity
            return response
        }
    }

    private struct State {
        var stored: Stored?
        var age = Duration.zero
        var lastLoad: UInt64 = 0
        var lastBody: UInt64 = 0
        /// Whether a stale response was served, so that it is validated in the background.
        var isValidating = false
        var readers: [AsyncStream<DataResponse>.Continuation] = []

        var isStale: Bool { age > ResponseCacheDouble.lifetime }

        /// The stored response, if it answers a request with this `Cache-Control`.
        mutating func served(_ directive: String?) -> DataResponse? {
            guard directive != "no-cache", !(isStale && directive == "only-if-cached"), var response = stored?.response
            else { return nil }
            if isStale { isValidating = true }
            response.storedUse = StoredResponseUse(age: age, isStale: isStale)
            return response
        }

        /// Fetches the resource, or confirms the stored response. Server errors are not stored.
        mutating func fetch(from server: CachedServer) -> DataResponse {
            lastLoad += 1
            let response = server.response(to: .get, ifNoneMatch: stored?.fields[.eTag])
            guard response.statusCode < 500 else { return DataResponse(response) }
            age = .zero
            if response.status == .notModified {
                stored?.fields = response.headerFields
                stored?.identity.load = lastLoad
            } else {
                lastBody += 1
                stored = Stored(
                    fields: response.headerFields, status: response.status, body: response.body.data ?? Data(),
                    identity: ResponseIdentity(load: lastLoad, body: lastBody))
            }
            return stored?.response ?? DataResponse(response)
        }
    }

    static let lifetime = Duration.seconds(60)

    let codecs = CodecRegistry.standard
    let storesResponses = true
    private let server: CachedServer
    /// Whether a missing response is the status 504, as between caches, instead of a failure.
    private let missesWithStatus: Bool
    private let state = Mutex(State())

    init(_ server: CachedServer, missesWithStatus: Bool) {
        (self.server, self.missesWithStatus) = (server, missesWithStatus)
    }

    var isStored: Bool { state.withLock { $0.stored != nil } }

    func use(age: Duration) { state.withLock { $0.age = age } }

    func clear() { state.withLock { $0.stored = nil } }

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let directive = request.headerFields[.cacheControl]
        let response = state.withLock { state -> DataResponse? in
            guard request.method == .get else { return write(request.method, &state) }
            let found = state.served(directive) ?? (directive == "only-if-cached" ? nil : state.fetch(from: server))
            guard let found, let tag = request.headerFields[.ifNoneMatch], tag == found.headerFields[.eTag] else {
                return found
            }
            var confirmation = DataResponse(.notModified, headerFields: found.headerFields)
            (confirmation.storedUse, confirmation.identity) = (found.storedUse, found.identity)
            return confirmation
        }
        guard let response else {
            guard missesWithStatus else { throw RequestFailure(.notCached, "Nothing is stored.", remedy: "Load it.") }
            throw Self.failure(DataResponse(.gatewayTimeout))
        }
        guard request.expectedStatus.contains(response.status.code) else { throw Self.failure(response) }
        return response
    }

    private static func failure(_ response: DataResponse) -> RequestFailure {
        RequestFailure(
            .status, "The status was not expected.", response: FailedResponse(head: response.head, body: Data()))
    }

    /// Sends a write to the server. A write that has not failed invalidates the stored response (RFC 9111, 4.4). The
    /// content of the server is changed by the test.
    private func write(_ method: HTTPRequest.Method, _ state: inout State) -> DataResponse {
        let response = DataResponse(server.response(to: method, ifNoneMatch: nil))
        if (200...399).contains(response.status.code) { state.stored = nil }
        return response
    }

    func update() {
        let (readers, response) = state.withLock { state in
            let response = state.fetch(from: server)
            state.isValidating = false
            defer { state.readers = [] }
            return (state.readers, response)
        }
        for reader in readers {
            if response.identity != nil { reader.yield(response) }
            reader.finish()
        }
    }

    func updates(of url: RequestURL, after load: UInt64) -> AsyncStream<DataResponse> {
        let (stream, continuation) = AsyncStream.makeStream(of: DataResponse.self)
        let isValidating = state.withLock { state in
            if let stored = state.stored, stored.identity.load > load { continuation.yield(stored.response) }
            if state.isValidating { state.readers.append(continuation) }
            return state.isValidating
        }
        if !isValidating { continuation.finish() }
        return stream
    }
}
