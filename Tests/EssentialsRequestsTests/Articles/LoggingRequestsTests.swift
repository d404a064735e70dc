import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import Testing

@Suite("The article LoggingRequests")
struct LoggingRequestsTests {
    // Article begins
    struct LineHandler: LogHandler {
        let write: @Sendable (String) -> Void
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = metadata.merging(event.metadata ?? [:]) { $1 }
            let shown = ["status", "reason", "total-ms"].compactMap { key in
                facts[key].map { "\(key)=\($0)" }
            }
            let id = facts["request-id"] ?? "-"
            write("\(event.message) id=\(id) \(shown.joined(separator: " "))")
        }
    }
    // Article ends

    @Test("The article on logging shows a logger, what it hides, and a handler")
    func example() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users").answer(.ok).thenAnswer(.notFound)
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let lines = Mutex<[String]>([])
        let write: @Sendable (String) -> Void = { line in lines.withLock { $0.append(line) } }

        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.logger = Logger(label: "app.requests")
        configuration.logger.logLevel = .debug
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        // Article ends
        #expect(requests.requestsInFlight == 0)

        // Article begins
        // shows queries without the values of “mail” and of secrets
        configuration.redaction.query = .hidden(["mail"])
        // in addition to the fields that sound secret
        configuration.redaction.hiddenFields = [.userAgent]
        // curl -X 'GET' -H 'Authorization: …' --globoff 'https://h.example/a?…'
        configuration.logsCommands = true
        // Article ends

        // Article begins
        configuration.logger = Logger(label: "app.requests") { _ in
            LineHandler(write: write)
        }
        // identifiers are unique only in their process
        configuration.logger[metadataKey: "process"] = "4711"
        // Article ends

        let logged = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        try await logged.get("users", parameters: ["mail": "s3cret"])
        await #expect(throws: RequestFailure.self) { try await logged.get("users") }
        let written = lines.withLock { $0 }
        let messages = written.map { $0.prefix { $0 != "=" } }
        #expect(messages == ["request id", "response id", "request id", "request failed id"])
        #expect(written[1].contains(" status=200 total-ms="))
        #expect(written[3].contains(" status=404 reason=status total-ms="))
        #expect(configuration.logger[metadataKey: "process"] == "4711")
    }

    /// The call can be made once in a process, so no test makes it.
    private static func bootstrap() {
        // Article begins
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardOutput(label: label)
            handler.logLevel = .debug
            return handler
        }
        // Article ends
    }

    @Test("The article on logging shows a line as swift-log writes it")
    func line() async throws {
        struct Output: TextOutputStream, Sendable {
            let put: @Sendable (String) -> Void
            mutating func write(_ text: String) { put(text) }
        }
        let lines = Mutex<[String]>([])
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users").answer(.ok)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.logger = Logger(label: "app.requests") { label in
            StreamLogHandler(label: label, stream: Output { line in lines.withLock { $0.append(line) } })
        }
        configuration.logger.logLevel = .debug
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport,
            configuration: configuration)
        try await requests.get("users")
        let first = try #require(lines.withLock { $0.first })
        #expect(first.contains(" debug app.requests: method=GET request-id="))
        #expect(first.hasSuffix(" [EssentialsRequests] request\n"))
    }

    @Test("The article on logging lists exactly the messages and keys that are written")
    func tables() async throws {
        let lines = LogLines()
        var metrics = TransportMetrics()
        metrics.nameResolved = .milliseconds(1)
        metrics.connected = .milliseconds(3)
        metrics.secured = .milliseconds(7)
        metrics.requestBegan = .milliseconds(8)
        metrics.firstByte = .milliseconds(20)
        metrics.finished = .milliseconds(50)
        metrics.queued = .microseconds(1_234_567)
        metrics.sendings = 2
        var connection = ConnectionFacts()
        connection.protocolName = "HTTP/2"
        let transport = StubTransport { [metrics, connection] request in
            let isOK = request.url.path != "/v1/failing"
            let pieces = Pieces(fails: request.url.path == "/v1/stream-failing")
            let isStream = request.url.path.hasPrefix("/v1/stream")
            let body = isStream ? ResponseBody(source: pieces) : ResponseBody(Data())
            return TransportResponse(
                HTTPResponse(status: isOK ? .ok : .notFound), body: body, metrics: metrics, connection: connection)
        }
        let fixture = try ServiceFixture(transport, fields: [.acceptLanguage: "en"]) {
            $0.logger = lines.logger(.trace)
            $0.logsCommands = true
            $0.cache = ResponseCache()
        }
        _ = try await fixture.service.get("a", headerFields: [.acceptLanguage: "de"])
        let response = try #require(lines.metadata(of: "response"))
        let times = ["queued-ms", "name-ms", "connect-ms", "tls-ms", "first-byte-ms", "body-ms"]
        #expect(times.map { response[$0] } == ["1234.567", "1.000", "2.000", "4.000", "12.000", "30.000"])
        #expect(response["sendings"] == "2")
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("failing") }
        let unencodable = DataRequest(.post, "a", body: .model([Double.nan]))
        await #expect(throws: RequestFailure.self) { try await fixture.service.send(unencodable) }
        var streaming = DataRequest(.get, "stream")
        streaming.options.delivery = .streamed
        do { _ = try await fixture.service.send(streaming) }
        for path in ["stream", "stream-failing"] {
            streaming.path = path
            let body = try await fixture.service.send(streaming).body
            _ = try? await body.collect(upTo: 100)
        }

        let article = try ArticleText("LoggingRequests")
        func names(_ cell: String) -> [String] {
            cell.split(separator: ",").map { $0.filter { $0 != "`" }.drop { $0 == " " } }.map(String.init)
        }
        let keys = article.table(under: "| key | value |").flatMap { names($0[0]) }
        #expect(Set(keys) == Set(lines.all.flatMap(\.metadata.keys)))
        let messages = article.table(under: "| message | level | when |")
        #expect(Set(messages.map { names($0[0])[0] }) == Set(lines.messages))
        for line in lines.all {
            let levels = messages.filter { names($0[0])[0] == line.message }.map { $0[1] }
            #expect(levels == ["\(line.level)"])
        }
    }
}

/// A stream of one piece, which may fail afterwards.
private final class Pieces: ResponseBody.Source {
    private let isRead = Mutex(false)
    private let fails: Bool

    init(fails: Bool) { self.fails = fails }

    func next() async throws(RequestFailure) -> BodyChunk? {
        let isFirst = isRead.withLock { isRead in
            defer { isRead = true }
            return !isRead
        }
        if isFirst { return BodyChunk(Array("1234".utf8)) }
        if fails { throw RequestFailure(.interrupted, "It broke off.", phase: .receiving) }
        return nil
    }

    func cancel() {}
}
