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
        var fields: HTTPFields = [:]
        var requests: [TransportRequest] = []
        var failure: RequestFailure?
        var hold: Latch?
    }

    let clock = ManualClock()
    let cache = ResponseCache()
    private let state = Mutex(State())
    private let shared = Mutex<HTTPDataRequestService?>(nil)

    /// The requests that have reached the server.
    var requests: [TransportRequest] { state.withLock { $0.requests } }
    var count: Int { requests.count }

    /// Makes the server send these fields.
    func send(_ fields: HTTPFields) { state.withLock { $0.fields = fields } }
    /// Changes the content.
    func change(_ name: String) { state.withLock { $0.name = name } }
    /// Makes every request fail; `nil` lets them succeed again.
    func fail(_ failure: RequestFailure?) { state.withLock { $0.failure = failure } }
    /// Makes the next response wait.
    func hold(_ latch: Latch) { state.withLock { $0.hold = latch } }

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

    /// The response to a request.
    fileprivate func respond(to request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        let (name, fields, failure, hold) = state.withLock { state in
            state.requests.append(request)
            return (state.name, state.fields, state.failure, state.hold.take())
        }
        await hold?.wait()
        if let failure { throw failure }
        guard request.method == .get else {
            return TransportResponse(HTTPResponse(status: .noContent), body: ResponseBody(Data()))
        }
        var head = HTTPResponse(status: .ok, headerFields: fields)
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.eTag] = "\"\(name)\""
        head.headerFields[.date] = HTTPDate.text(of: clock.date)
        if request.headerFields[.ifNoneMatch] == "\"\(name)\"" {
            head.status = .notModified
            return TransportResponse(head, body: ResponseBody(Data()))
        }
        return TransportResponse(head, body: ResponseBody(Data(#"{"name":"\#(name)"}"#.utf8)))
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
