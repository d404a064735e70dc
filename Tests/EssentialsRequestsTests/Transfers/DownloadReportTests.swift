import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Progress of a collected response", .timeLimit(.minutes(5)))
struct DownloadReportTests {
    /// Keeps the values of a report.
    private final class Values: Sendable {
        private let values = Mutex<[TransferProgress]>([])
        var all: [TransferProgress] { values.withLock { $0 } }
        var bytes: [Int64] { all.map(\.bytes) }

        func report(every interval: Duration = .zero) -> ProgressReport {
            ProgressReport(every: interval) { [self] value in values.withLock { $0.append(value) } }
        }
    }

    private let clock = ManualClock()
    private let transport: ScriptedTransport
    private let values = Values()

    init() { transport = ScriptedTransport(clock: clock) }

    private func service(
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        change(&configuration)
        return HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
    }

    /// Retries at once.
    private static let retries: RetryPolicy = {
        var policy = RetryPolicy.attempts(3)
        policy.backoff = .exponential(base: .zero)
        return policy
    }()

    private func request(_ path: String = "a") -> DataRequest {
        var request = DataRequest(.get, path)
        request.downloadProgress = values.report()
        return request
    }

    @Test("Each piece of a body is reported, and the response is complete like one without a report")
    func pieces() async throws {
        transport.on(.get, "/a").answer(pieces: ["12345", "678", "90"], headerFields: [.contentLength: "10"])
        let response = try await service().send(request())
        #expect(response.body.data == Data("1234567890".utf8))
        #expect(values.bytes == [0, 5, 8, 10])
        #expect(values.all.map(\.expected) == [10, 10, 10, 10])
        #expect(values.all.map(\.bytesSinceLast) == [0, 5, 3, 2])
    }

    @Test("Between the first and the last value, the interval limits their number")
    func interval() async throws {
        transport.on(.get, "/a").answer(pieces: ["12345", "678", "90"])
        var request = request()
        request.downloadProgress = values.report(every: .seconds(600))
        let text = try await service().model(of: request, as: Data.self)
        #expect(text.count == 10)
        #expect(values.bytes == [0, 10])
    }

    @Test(
        "The total is not known without Content-Length or with a content coding",
        arguments: [[:], [.contentLength: "7", .contentEncoding: "gzip"]] as [HTTPFields])
    func unknownTotal(fields: HTTPFields) async throws {
        transport.on(.get, "/a").answer(pieces: ["12345"], headerFields: fields)
        try await service().send(request())
        #expect(values.all.map(\.expected) == [nil, nil])
    }

    @Test("A response without a body reports one value, whose total is 0", arguments: [HTTPRequest.Method.get, .head])
    func noBody(method: HTTPRequest.Method) async throws {
        transport.on(method, "/a").answer(
            method == .get ? .noContent : .ok, headerFields: method == .get ? [:] : [.contentLength: "10"])
        var request = request()
        request.method = method
        try await service().send(request)
        #expect(values.all.map(\.fraction) == [1])
    }

    @Test("A body over the limit fails as too large, at its announced length or at the piece that exceeds it")
    func tooLarge() async throws {
        for fields in [[:], [.contentLength: "10"]] as [HTTPFields] {
            transport.on(.get, "/a").answer(pieces: ["12345", "678", "90"], headerFields: fields)
            var request = request()
            request.options.delivery = .collected(upTo: 8)
            let service = try service()
            let limited = request
            let failure = await #expect(throws: RequestFailure.self) { try await service.send(limited) }
            #expect(failure?.reason == .tooLarge)
            #expect(failure?.host == "h" && failure?.phase == .receiving)
        }
        #expect(values.bytes == [0, 5, 8, 0])
    }

    @Test("An attempt whose body breaks off is retried as without a report, and each attempt begins at 0")
    func retries() async throws {
        transport.on(.get, "/a").answer(pieces: ["12345", .failure(.interrupted)]).thenAnswer(pieces: ["12", "34"])
        let service = try service { $0.retry = Self.retries }
        let response = try await service.send(request())
        #expect(response.body.data == Data("1234".utf8) && response.attempts == 2)
        #expect(values.bytes == [0, 5, 0, 2, 4])
    }

    @Test("The bodies of redirects and of refused attempts are not reported")
    func unwanted() async throws {
        transport.on(.get, "/a").answer(.found, pieces: ["moved"], headerFields: [.location: "/b"])
        transport.on(.get, "/b").answer(.serviceUnavailable, pieces: ["later"]).thenAnswer(pieces: ["ok"])
        let service = try service { $0.retry = Self.retries }
        #expect(try await service.send(request()).body.data == Data("ok".utf8))
        #expect(values.bytes == [0, 2])
    }

    @Test("The body of an unexpected response is reported, and the failure contains it", arguments: [404, 503])
    func unexpected(code: Int) async throws {
        transport.on(.get, "/a").answer(.init(code: code), pieces: ["sor", "ry"])
        let service = try service()
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(request()) }
        #expect(failure?.response?.body == Data("sorry".utf8))
        #expect(values.bytes == [0, 3, 5])
    }

    @Test("A request with a report does not share the response of another one")
    func joining() async throws {
        transport.on(.get, "/a").answer(text: "same", after: .seconds(1))
        let service = try service { $0.joins = true }
        async let first = service.send(request())
        async let second = service.send(DataRequest(.get, "a"))
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))
        _ = try await (first, second)
        #expect(transport.requestCount == 2)
        #expect(values.bytes == [0, 4])
    }

    @Test("The transport collects the body of a request without a report, or streams it if the request says so")
    func deliveries() async throws {
        let stub = StubTransport()
        let fixture = try ServiceFixture(stub)
        try await fixture.service.send(DataRequest(.get, "a"))
        var streamed = request()
        streamed.options.delivery = .streamed
        try await fixture.service.send(streamed)
        try await fixture.service.send(request())
        #expect(stub.requests.map(\.options.delivery) == [.collected(upTo: 64 << 20), .streamed, .streamed])
        // Only the last one: the reader of a stream counts its bytes.
        #expect(values.bytes == [0, 2])
    }

    @Test("A cancelled request ends its report with the bytes that arrived")
    func cancelled() async throws {
        transport.on(.get, "/a").answer(pieces: ["12345", .pause(.seconds(1)), "67"])
        let service = try service()
        let sent = Task { [request = request()] in try await service.send(request) }
        await clock.waitForSleepers(count: 1)
        sent.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await sent.value }
        #expect(failure?.reason == .cancelled)
        #expect(values.bytes == [0, 5])
    }

    @Test("Over the network the values grow to the length of the body, and trailers and metrics are kept")
    func network() async throws {
        let size = 1 << 20
        let server = try LoopbackServer { _ in .response(body: String(repeating: "x", count: size)) }
        let transport = try CurlTransport()
        let service = HTTPDataRequestService(environment: try ConstantEnvironment(server.url), transport: transport)
        let response = try await service.send(request())
        #expect(response.body.data?.count == size)
        #expect(response.metrics.bodyBytesReceived == Int64(size))
        #expect(values.bytes.first == 0 && values.bytes.last == Int64(size))
        #expect(values.bytes == values.bytes.sorted() && values.all.last?.fraction == 1)
        await service.shutdown()
    }
}
