import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

@testable import EssentialsRequests

/// A server in memory that counts its requests. Each path has a content, an entity tag and header fields.
final class CacheOrigin: Sendable {
    struct Reply: Sendable {
        var status = HTTPResponse.Status.ok
        var fields: HTTPFields = [:]
        var body = ""
        var failure: RequestFailure?
    }

    typealias Handler = @Sendable (TransportRequest) async -> Reply

    let clock = ManualClock()
    private let handler: Mutex<Handler>
    private let sent = Mutex<[TransportRequest]>([])

    init(_ handler: @escaping Handler) { self.handler = Mutex(handler) }

    /// Responds to each request with the same fields, and a body that counts the requests.
    convenience init(_ fields: HTTPFields) {
        let count = Mutex(0)
        self.init { _ in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            return Reply(fields: fields, body: "\(number)")
        }
    }

    var requests: [TransportRequest] { sent.withLock { $0 } }
    var count: Int { requests.count }

    /// Replaces the handler.
    func answer(_ new: @escaping Handler) { handler.withLock { $0 = new } }

    /// Responds to conditional requests with 304 if the tag is the present one.
    static func reply(to request: TransportRequest, tag: String, _ fields: HTTPFields, body: String) -> Reply {
        var fields = fields
        fields[.eTag] = tag
        if request.headerFields[.ifNoneMatch] == tag { return Reply(status: .notModified, fields: fields) }
        return Reply(fields: fields, body: body)
    }

    /// A transport to the server.
    func transport() -> StubTransport {
        StubTransport { [self] request throws(RequestFailure) in
            sent.withLock { $0.append(request) }
            let handler = handler.withLock { $0 }
            let reply = await handler(request)
            if Task.isCancelled { throw RequestFailure(.cancelled, "The request was cancelled.") }
            if let failure = reply.failure { throw failure }
            var fields = reply.fields
            if fields[.date] == nil { fields[.date] = HTTPDate.text(of: clock.date) }
            let body = request.method == .head ? "" : reply.body
            return TransportResponse(
                HTTPResponse(status: reply.status, headerFields: fields), body: ResponseBody(Data(body.utf8)))
        }
    }

    /// A service over the server.
    func service(
        _ cache: ResponseCache?, over transport: (any Transport)? = nil,
        environment: (any EnvironmentService)? = nil,
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = "test/1"
        configuration.clock = clock.requestClock
        configuration.cache = cache
        change(&configuration)
        let standard = try environment ?? ConstantEnvironment("https://h/")
        return HTTPDataRequestService(
            environment: standard, transport: transport ?? self.transport(), configuration: configuration)
    }
}

extension DataResponse {
    /// The body as text.
    var text: String { String(decoding: body.data ?? Data(), as: UTF8.self) }
}

extension HTTPDataRequestService {
    /// Sends a GET and returns the body.
    func text(_ path: String, _ policy: CachePolicy? = nil, fields: HTTPFields = [:]) async throws -> String {
        try await response(path, policy, fields: fields).text
    }

    /// Sends a GET and returns the response, whatever its status is.
    func response(
        _ path: String, _ policy: CachePolicy? = nil, fields: HTTPFields = [:]
    ) async throws -> DataResponse {
        var request = DataRequest(.get, path, headerFields: fields)
        request.expectedStatus = .any
        request.cachePolicy = policy
        return try await send(request)
    }
}
