import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Logging
import Testing

@Suite("Request log")
struct RequestLogTests {
    private func fixture(
        _ level: Logger.Level, status: Int = 200,
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws -> (ServiceFixture, LogLines) {
        let lines = LogLines()
        let fixture = try ServiceFixture(StubTransport(status: status)) { configuration in
            configuration.logger = lines.logger(level)
            change(&configuration)
        }
        return (fixture, lines)
    }

    private var request: DataRequest {
        var request = DataRequest(
            .post, "a/b?path=s3cret", query: [("q", "s3cret")],
            headerFields: [.cookie: "s3cret", .acceptLanguage: "en"], body: .text("s3cret"))
        request.headerFields.append(HTTPField(name: .authorization, value: "Bearer s3cret"))
        return request
    }

    @Test("The log at the level debug contains a request's number, method, URL and end")
    func debug() async throws {
        let (fixture, lines) = try fixture(.debug)
        _ = try await fixture.service.send(request)
        #expect(lines.messages == ["request", "response"])
        let (first, last) = (lines.metadata(of: "request"), lines.metadata(of: "response"))
        #expect(first?["method"] == "POST")
        #expect(first?["url"] == "https://h/v1/a/b?…")
        #expect(last?["status"] == "200")
        #expect(last?["attempt"] == "1")
        #expect(first?["request-id"] != nil)
        #expect(first?["request-id"] == last?["request-id"])
        _ = try await fixture.service.send(request)
        #expect(lines.metadata(of: "request")?["request-id"] != first?["request-id"])
    }

    @Test("The log contains the reason, phase and status of a failure")
    func failure() async throws {
        let (fixture, lines) = try fixture(.debug, status: 404)
        await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        let failure = lines.metadata(of: "request failed")
        #expect(failure?["reason"] == "status")
        #expect(failure?["phase"] == "receiving")
        #expect(failure?["status"] == "404")
        #expect(failure?["attempt"] == "1")
        #expect(failure?["method"] == "POST")
        #expect(failure?["url"] == "https://h/v1/a/b?…")
        #expect(failure?["request-id"] == lines.metadata(of: "request")?["request-id"])
        await #expect(throws: RequestFailure.self) { try await fixture.service.send(DataRequest(.get, "../x")) }
        #expect(lines.metadata(of: "request failed")?["reason"] == "invalidRequest")
        #expect(lines.metadata(of: "request failed")?["method"] == "GET")
    }

    @Test("The log contains no secrets unless configured", arguments: [Logger.Level.info, .debug, .trace])
    func secrets(level: Logger.Level) async throws {
        let (fixture, lines) = try fixture(level) { $0.logsCommands = true }
        _ = try await fixture.service.send(request)
        #expect(!lines.text.contains("s3cret"))
        #expect(lines.messages.isEmpty == (level == .info))
    }

    @Test("The log contains unsafe requests, including invalid ones")
    func unsafe() async throws {
        let lines = LogLines()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.logger = lines.logger(.trace)
        configuration.logsCommands = true
        let service = HTTPDataRequestService.forAnyServer(
            over: StubTransport(status: 404), configuration: configuration)
        await #expect(throws: RequestFailure.self) {
            try await service.get("https://any.test/a?s3cret", parameters: ["b": "s3cret"])
        }
        #expect(lines.messages == ["request", "request as a command", "request failed"])
        #expect(lines.metadata(of: "request failed")?["url"] == "https://any.test/a?…")
        #expect(lines.metadata(of: "request failed")?["reason"] == "status")
        await #expect(throws: RequestFailure.self) { try await service.get("s3cret@h") }
        #expect(lines.metadata(of: "request failed")?["reason"] == "invalidRequest")
        #expect(lines.metadata(of: "request failed")?["method"] == "GET")
        #expect(!lines.text.contains("s3cret"))
    }

    @Test("The log at the level trace contains a curl command if configured")
    func command() async throws {
        let (fixture, lines) = try fixture(.trace) { configuration in
            configuration.logsCommands = true
            configuration.redaction.query = .hidden(["PATH"])
            if let name = HTTPField.Name("Accept-Language") { configuration.redaction.hiddenFields = [name] }
        }
        var request = request
        request.headerFields.append(HTTPField(name: .userAgent, value: "it's"))
        _ = try await fixture.service.send(request)
        let command = try #require(lines.metadata(of: "request as a command")?["command"])
        #expect(
            command == #"""
                curl -X 'POST' -H 'Cookie: …' -H 'Accept-Language: …' -H 'Authorization: …' -H 'User-Agent: it'\''s' \#
                -H 'Content-Type: text/plain; charset=utf-8' -H 'Accept: */*' -H 'Expect:' --data-binary @- \#
                --globoff 'https://h/v1/a/b?path=…&q=s3cret' <body-of-6-bytes
                """#)
        let (silent, none) = try self.fixture(.debug) { $0.logsCommands = true }
        _ = try await silent.service.send(request)
        #expect(!none.messages.contains("request as a command"))
    }

    @Test(
        "The log hides the configured query items in any spelling, and those with names of secrets",
        arguments: [
            ("Pin=s3cret&q=1", "Pin=…&q=1"), ("p%69n=s3cret", "p%69n=…"),
            ("pin[]=s3cret&pin[a]=s3cret", "pin[]=…&pin[a]=…"),
            ("pin%5B%5D=s3cret", "pin%5B%5D=…"), ("api_key=s3cret&access_token=s3cret", "api_key=…&access_token=…"),
            ("X-Amz-Signature=s3cret", "X-Amz-Signature=…"), ("=s3cret", "=…"), ("spin=1&a&pin", "spin=1&a&pin"),
            ("%ff=s3cret&%2525=s3cret", "%ff=…&%2525=…"),
        ])
    func queryItems(query: String, shown: String) async throws {
        let (fixture, lines) = try fixture(.debug) { $0.redaction.query = .hidden(["pIN"]) }
        _ = try await fixture.service.send(DataRequest(.get, "a?\(query)"))
        #expect(lines.metadata(of: "request")?["url"] == "https://h/v1/a?\(shown)")
    }

    @Test("The log contains a valid curl command for a HEAD request")
    func headCommand() async throws {
        let (fixture, lines) = try fixture(.trace) { $0.logsCommands = true }
        _ = try await fixture.service.head("a")
        let command = try #require(lines.metadata(of: "request as a command")?["command"])
        #expect(command == "curl --head -H 'Accept: */*' -H 'User-Agent: test/1' --globoff 'https://h/v1/a'")
    }

    @Test("The log names header fields that were ignored")
    func passedOver() async throws {
        let (fixture, lines) = try fixture(.debug) {
            $0.interceptors = [Intercepting { try $0.add(HTTPField(name: .acceptLanguage, value: "de")) }]
        }
        _ = try await fixture.service.send(request)
        #expect(lines.metadata(of: "header fields passed over")?["fields"] == "Accept-Language")
    }
}
