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
        /// The body as a stream; `nil` if it comes as a whole.
        var stream: PiecesSource?
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
                HTTPResponse(status: reply.status, headerFields: fields),
                body: Self.body(reply.stream, body, request))
        }
    }

    /// The body of a response, in two pieces if the request is streamed.
    private static func body(_ stream: PiecesSource?, _ text: String, _ request: TransportRequest) -> ResponseBody {
        if let stream { return ResponseBody(source: stream) }
        guard case .streamed = request.options.delivery else { return ResponseBody(Data(text.utf8)) }
        let half = text.index(text.startIndex, offsetBy: text.count / 2)
        let pieces = [text[..<half], text[half...]].filter { !$0.isEmpty }
        return ResponseBody(source: PiecesSource(pieces.map { String($0) }))
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

/// A body in pieces, whose end is a failure if there is one.
final class PiecesSource: ResponseBody.Source {
    private struct State {
        var pieces: [String]
        var isCancelled = false
        var readers = 0
        var hadTwoReaders = false
    }

    private let failure: RequestFailure?
    private let state: Mutex<State>

    init(_ pieces: [String], failure: RequestFailure? = nil) {
        self.failure = failure
        state = Mutex(State(pieces: pieces))
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var hadTwoReaders: Bool { state.withLock { $0.hadTwoReaders } }
    var piecesLeft: Int { state.withLock { $0.pieces.count } }

    func next() async throws(RequestFailure) -> BodyChunk? {
        state.withLock { state in
            state.readers += 1
            if state.readers > 1 { state.hadTwoReaders = true }
        }
        defer { state.withLock { $0.readers -= 1 } }
        await Task.yield()
        let (piece, isCancelled) = state.withLock { state in
            (state.pieces.isEmpty ? nil : state.pieces.removeFirst(), state.isCancelled)
        }
        if isCancelled { throw RequestFailure(.cancelled, "The body was cancelled.") }
        if let piece { return BodyChunk(Array(piece.utf8)) }
        if let failure { throw failure }
        return nil
    }

    func cancel() { state.withLock { $0.isCancelled = true } }
}

/// A transport with a policy, so that services over it share what they store.
struct TrustedStub: TrustBearing {
    let transport: StubTransport
    let trustPolicy: TrustPolicy
    let route: String

    init(_ transport: StubTransport, policy: TrustPolicy = .system, route: String = "") {
        (self.transport, trustPolicy, self.route) = (transport, policy, route)
    }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try await transport.send(request)
    }
    func shutdown() async {}
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

    /// Sends a GET and returns the response, whatever its status is. A streamed one is read to its end.
    func response(
        _ path: String, _ policy: CachePolicy? = nil, fields: HTTPFields = [:], isStreamed: Bool = false
    ) async throws -> DataResponse {
        var request = DataRequest(.get, path, headerFields: fields)
        request.expectedStatus = .any
        request.cachePolicy = policy
        if isStreamed { request.options.delivery = .streamed }
        var response = try await send(request)
        if isStreamed { response.body = ResponseBody(try await response.body.collect(upTo: 1 << 20)) }
        return response
    }
}
