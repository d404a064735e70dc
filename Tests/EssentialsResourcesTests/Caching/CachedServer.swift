import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools

@testable import EssentialsRequests
@testable import EssentialsResources

/// A server with one resource, behind a response cache.
final class CachedServer: Sendable {
    private struct State {
        var name = "Ada"
        /// The number of the content, which is its entity tag.
        var version = 1
        var fields: HTTPFields = [:]
        var status = HTTPResponse.Status.ok
        /// How the server responds to writes.
        var writeStatus = HTTPResponse.Status.noContent
        var requests: [TransportRequest] = []
        /// The number of responses with the resource, and when the last one was sent.
        var fetches = 0
        var fetched = ManualClock.Instant(elapsed: .zero)
        var failure: RequestFailure?
        var hold: Latch?
        var validations: HeldValidations?
    }

    /// The validations in the background that wait, and how many further ones need not wait.
    private struct HeldValidations {
        var waiting: [OneShot<Void>] = []
        var released = 0

        /// What a validation that has come waits for; `nil` if it does not wait.
        mutating func arrive() -> OneShot<Void>? {
            guard released == 0 else {
                released -= 1
                return nil
            }
            waiting.append(OneShot())
            return waiting.last
        }

        /// The validation that waits no longer; `nil` if none was waiting, so that the next one does not wait.
        mutating func release() -> OneShot<Void>? {
            if !waiting.isEmpty { return waiting.removeFirst() }
            released += 1
            return nil
        }
    }

    let clock = ManualClock()
    let cache = ResponseCache()
    private let state = Mutex(State())
    private let shared = Mutex<HTTPDataRequestService?>(nil)

    /// The requests that have reached the server.
    var requests: [TransportRequest] { state.withLock { $0.requests } }
    var count: Int { requests.count }
    /// The number of responses with the resource, including those with 304.
    var fetches: Int { state.withLock { $0.fetches } }

    /// Makes the server send these fields.
    func send(_ fields: HTTPFields) { state.withLock { $0.fields = fields } }
    /// Changes the content.
    func change(_ name: String) {
        state.withLock { state in
            state.name = name
            state.version += 1
        }
    }
    /// Makes the server respond with a status.
    func answer(_ status: HTTPResponse.Status) { state.withLock { $0.status = status } }
    /// Makes the server respond to writes with a status.
    func answerWrites(_ status: HTTPResponse.Status) { state.withLock { $0.writeStatus = status } }
    /// Makes every request fail; `nil` lets them succeed again.
    func fail(_ failure: RequestFailure?) { state.withLock { $0.failure = failure } }
    /// Makes the next response wait.
    func hold(_ latch: Latch) { state.withLock { $0.hold = latch } }

    /// Advances the clock until the last response has an age.
    func advance(toAge age: Duration) {
        let fetched = state.withLock { state in
            state.fetched.advanced(by: .zero - .seconds(Freshness.ageField(of: state.fields)))
        }
        clock.advance(to: fetched.advanced(by: age))
    }

    // MARK: Validations in the background

    /// Makes the validations in the background wait until they are released one by one.
    func holdValidations() { state.withLock { $0.validations = HeldValidations() } }

    /// Releases the validation that waits, or the next one.
    func releaseValidation() { state.withLock { $0.validations?.release() }?.provide(()) }

    /// Releases all validations in the background, also later ones.
    func releaseAllValidations() {
        for waiting in state.withLock({ $0.validations.take()?.waiting ?? [] }) { waiting.provide(()) }
    }

    /// Waits until a validation in the background is released.
    private func waitForRelease() async throws(RequestFailure) {
        guard let release = state.withLock({ $0.validations?.arrive() }),
            await release.valueUnlessCancelled() == nil
        else { return }
        state.withLock { $0.validations?.waiting.removeAll { $0 === release } }
        throw RequestFailure(.cancelled, "The validation was cancelled.")
    }

    // MARK: Services

    /// The data-request service with the cache.
    func requestService() throws -> HTTPDataRequestService {
        try shared.withLock { known in
            if let known { return known }
            var configuration = HTTPDataRequestService.Configuration()
            configuration.clock = clock.requestClock
            configuration.cache = cache
            let service = HTTPDataRequestService(
                environment: try ConstantEnvironment("https://h/v1/"), transport: transport,
                configuration: configuration)
            known = service
            return service
        }
    }

    /// A resource service over the data-request service with the cache.
    func service(
        cache: (any EntityCache)? = nil, _ change: (inout HTTPResourceService.Configuration) -> Void = { _ in }
    ) throws -> HTTPResourceService {
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        change(&configuration)
        return try HTTPResourceService(
            requests: requestService(), environment: ConstantEnvironment("https://h/v1/"), cache: cache,
            configuration: configuration)
    }

    private var transport: Connection { Connection(server: self) }

    // MARK: Responses

    /// The response to a request of the transport.
    fileprivate func respond(to request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        state.withLock { $0.requests.append(request) }
        let tag = request.headerFields[.ifNoneMatch]
        // A resource says in Cache-Control that it wants the newest response.
        if tag != nil, request.headerFields[.cacheControl] == nil { try await waitForRelease() }
        let (failure, hold) = state.withLock { ($0.failure, $0.hold.take()) }
        let response = response(to: request.method, ifNoneMatch: tag)
        await hold?.wait()
        if let failure { throw failure }
        return response
    }

    /// The response to a GET or a write.
    func response(to method: HTTPRequest.Method, ifNoneMatch tag: String?) -> TransportResponse {
        state.withLock { state in
            guard method == .get else {
                return TransportResponse(HTTPResponse(status: state.writeStatus), body: ResponseBody(Data()))
            }
            state.fetches += 1
            state.fetched = clock.now
            var head = HTTPResponse(status: state.status, headerFields: state.fields)
            head.headerFields[.contentType] = "application/json"
            head.headerFields[.date] = HTTPDate.text(of: clock.date)
            if state.status == .ok { head.headerFields[.eTag] = "\"\(state.version)\"" }
            if let tag, tag == head.headerFields[.eTag] {
                head.status = .notModified
                return TransportResponse(head, body: ResponseBody(Data()))
            }
            return TransportResponse(head, body: ResponseBody(Data(#"{"name":"\#(state.name)"}"#.utf8)))
        }
    }
}

/// A transport to the server.
private struct Connection: Transport {
    let server: CachedServer

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await server.respond(to: request)
    }

    func shutdown() async {}
}
