import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@testable import EssentialsObservability

@Suite("The recorder of exchanges", .timeLimit(.minutes(5)))
struct HARRecorderTests {
    /// A server with a redirect, a form, a failure, a long body and a slow response.
    private static func respond(_ request: ServerRequest) -> ServerReply {
        switch request.path {
        case "/v1/moved": .response(status: 302, headers: [("Location", "/v1/users?token=s3cret&n=1")])
        case "/v1/users":
            .response(
                headers: [("Content-Type", "application/json"), ("Set-Cookie", "sid=s3cret")],
                body: #"{"name":"Ada","access_token":"s3cret"}"#)
        case "/v1/missing": .response(status: 404, headers: [("Content-Type", "text/plain")], body: "no")
        case "/v1/long": .response(body: String(repeating: "é", count: 100_000))
        case "/v1/bytes": .response(headers: [("Content-Type", "application/octet-stream")], body: [0xff, 0, 1])
        default: .response(body: "ok")
        }
    }

    private func withService(
        _ recorder: HARRecorder, _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in },
        _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(handler: Self.respond)
        defer { server.stop() }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [recorder]
        configuration.redaction.query = .hidden([])
        change(&configuration)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1/"),
            transport: try CurlTransport(), configuration: configuration)
        try await body(service, server)
        await service.close()
    }

    @Test("Each hop is an exchange with its fields, bodies and times, and without secrets")
    func exchanges() async throws {
        let recorder = HARRecorder(bodyLimit: 1 << 20)
        try await withService(recorder) { service, server in
            var request = DataRequest(
                .post, "/moved", body: .parameters(["a": "b c", "password": "s3cret"], as: .form))
            request.headerFields[.authorization] = "Bearer s3cret"
            _ = try await service.send(request)
            _ = try? await service.send(DataRequest(.get, "missing"))
            let har = recorder.har
            try #require(har.entries.map(\.response.status) == [302, 200, 404])
            #expect(har.entries.map(\.request.method) == ["POST", "GET", "GET"])
            #expect(har.entries.map(\.attempt) == [1, 2, 1])
            #expect(Set(har.entries.map(\.call)).count == 2)
            let (moved, users, missing) = (har.entries[0], har.entries[1], har.entries[2])
            #expect(moved.request.url == server.url + "/v1/moved")
            #expect(moved.response.redirectURL == server.url + "/v1/users?token=…&n=1")
            #expect(moved.request.body?.text == "a=b%20c&password=…" || moved.request.body?.text == "a=b+c&password=…")
            #expect(moved.request.body?.mimeType.hasPrefix("application/x-www-form-urlencoded") == true)
            #expect(moved.request.headers.first { $0.name == "Authorization" }?.value == "…")
            #expect(moved.serverAddress == "127.0.0.1")
            #expect(users.request.query == [.init(name: "token", value: "…"), .init(name: "n", value: "1")])
            #expect(users.response.body.text == #"{"name":"Ada","access_token":"…"}"#)
            #expect(users.response.contentSize == 38)
            #expect(users.response.headers.contains(.init(name: "Set-Cookie", value: "…")))
            #expect(users.response.httpVersion == "HTTP/1.1")
            #expect(missing.failure?.reason == "status")
            #expect(moved.timings.connect >= 0 && moved.timings.ssl == -1)
            // The connection was reused.
            #expect(users.timings.connect == -1 && users.timings.dns == -1)
            for entry in har.entries {
                #expect(entry.timings.wait > 0 && entry.timings.receive >= 0 && entry.time < 60_000)
                #expect(abs(entry.started.timeIntervalSinceNow) < 120)
            }
            #expect(!String(decoding: har.data, as: UTF8.self).contains("s3cret"))
            #expect(try HAR(parsing: har.data).data == har.data)
        }
    }

    @Test("Bodies are cut off at a character, and bytes that are no text are in Base64")
    func bodies() async throws {
        let recorder = HARRecorder(bodyLimit: 1_001)
        try await withService(recorder) { service, _ in
            _ = try await service.send(DataRequest(.get, "long"))
            let response = try await service.stream(of: RequestBuilder(.get, "long"))
            for try await _ in response.body {}
            _ = try await service.send(DataRequest(.get, "bytes"))
            let responses = recorder.har.entries.map(\.response)
            for response in responses.prefix(2) {
                #expect(response.body.text == String(repeating: "é", count: 500))
                #expect(response.body.isTruncated)
            }
            #expect(responses[1].contentSize == 200_000)
            #expect(responses[2].body.bytes == Data([0xff, 0, 1]))
            #expect(responses[2].body.isBase64)
        }
        let silent = HARRecorder()
        try await withService(silent) { service, _ in
            _ = try await service.send(DataRequest(.post, "users", body: .text("body")))
            let entry = try #require(silent.har.entries.first)
            #expect(entry.request.body == nil && entry.response.body.text == nil)
            #expect(entry.request.bodySize == 4 && entry.response.bodySize == 38)
        }
    }

    @Test("What was not sent is an exchange too: refused, failed, and from the cache")
    func unsent() async throws {
        let recorder = HARRecorder()
        try await withService(recorder, { $0.cache = ResponseCache(memory: .bytes(1 << 20)) }) { service, _ in
            var refused = DataRequest(.get, "users")
            refused.expectedStatus = []
            _ = try? await service.send(refused)
            var unreachable = DataRequest(.get, "users")
            unreachable.base = "http://127.0.0.1:1/"
            _ = try? await service.send(unreachable)
            let entries = recorder.har.entries
            #expect(entries.map(\.response.status) == [0, 0])
            #expect(entries.map(\.failure?.reason) == ["invalidRequest", "connection"])
            #expect(entries.map(\.attempt) == [nil, 1])
        }
        let transport = ScriptedTransport()
        transport.on(.get, "/cached").answer(text: "x", headerFields: [.cacheControl: "max-age=60"])
        var configuration = HTTPDataRequestService.Configuration()
        let cached = HARRecorder()
        configuration.observers = [cached]
        configuration.cache = ResponseCache(memory: .bytes(1 << 20))
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
        for _ in 0..<2 { _ = try await service.send(DataRequest(.get, "cached")) }
        let entries = cached.har.entries
        #expect(entries.map(\.source) == [nil, "cache"])
        #expect(entries.map(\.response.status) == [200, 200])
        #expect(entries.last?.cacheStatus?.hasPrefix("hit") == true)
    }

    @Test("A redirect to a stored response is two exchanges, and a retry ends the exchange before it")
    func hops() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/stored").answer(text: "x", headerFields: [.cacheControl: "max-age=60"])
        transport.on(.get, "/moved").answer(.found, headerFields: [.location: "/stored"])
        transport.on(.get, "/busy").answer(.serviceUnavailable).thenAnswer(text: "ok")
        let recorder = HARRecorder()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [recorder]
        configuration.cache = ResponseCache(memory: .bytes(1 << 20))
        configuration.retry = .attempts(2)
        configuration.clock = transport.clock.requestClock
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
        for path in ["stored", "moved"] { _ = try await service.send(DataRequest(.get, path)) }
        var entries = recorder.har.entries
        #expect(entries.map(\.response.status) == [200, 302, 200])
        #expect(entries.map(\.source) == [nil, nil, "cache"])
        #expect(entries.map(\.request.url) == ["https://h/stored", "https://h/moved", "https://h/stored"])
        recorder.removeAll()
        let task = Task { try await service.send(DataRequest(.get, "busy")) }
        // The clock stands still while an attempt runs, whose times are those of the clock.
        await transport.clock.waitForSleepers(count: 1)
        transport.clock.advanceToNextDeadline()
        _ = try await task.value
        entries = recorder.har.entries
        #expect(entries.map(\.response.status) == [503, 200])
        #expect(entries.map(\.attempt) == [1, 2] && entries.map(\.failure?.reason) == ["status", nil])
        // The pause between the two is in neither.
        #expect(
            entries[0].started.addingTimeInterval(entries[0].time / 1_000)
                <= entries[1].started.addingTimeInterval(0.002))
    }

    @Test("The oldest exchanges are dropped, and the record says how many")
    func limits() async throws {
        let recorder = HARRecorder(limit: 10)
        let fixture = try Self.scripted(recorder)
        for index in 0..<25 { _ = try await fixture.send(DataRequest(.get, "\(index)")) }
        #expect(recorder.har.entries.map { $0.request.url.suffix(2) } == (15..<25).map { "\($0)" })
        #expect(recorder.har.comment == "15 earlier exchanges were dropped.")
        recorder.removeAll()
        #expect(recorder.har == HAR())
        let large = HARRecorder(bodyLimit: .max)
        #expect(large.bodyLimit == HARRecorder.maximumBodySize)
        let service = try Self.scripted(large)
        let body = Data(repeating: 65, count: 100_000)
        for index in 0..<700 { _ = try await service.send(DataRequest(.post, "\(index)", body: .data(body))) }
        let kept = large.har.entries
        #expect((400..<515).contains(kept.count))
        #expect(kept.last?.request.url == "https://h/699")
        #expect(large.har.data.count < HARRecorder.maximumBytes * 3 / 2)
    }

    private static func scripted(_ recorder: HARRecorder) throws -> HTTPDataRequestService {
        let transport = ScriptedTransport()
        _ = transport.on { _ in true }.answer(text: "x")
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = [recorder]
        return HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
    }

    @Test("Calls of several services at once are recorded each as a whole")
    func concurrent() async throws {
        let recorder = HARRecorder(limit: 5_000)
        let services = try (0..<3).map { _ in try Self.scripted(recorder) }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<1_500 {
                let service = services[index % 3]
                group.addTask { _ = try? await service.send(DataRequest(.get, "\(index)")) }
            }
        }
        let entries = recorder.har.entries
        #expect(Set(entries.map(\.request.url)).count == 1_500)
        #expect(entries.allSatisfy { $0.response.status == 200 && $0.attempt == 1 })
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.started <= $1.started })
    }
}
