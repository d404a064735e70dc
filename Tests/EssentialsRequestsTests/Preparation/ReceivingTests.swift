import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

/// An interceptor that receives outcomes with a closure.
private struct Receiving: RequestInterceptor {
    let receive: @Sendable (HopOutcome) async throws -> Void
    func received(_ outcome: HopOutcome) async throws { try await receive(outcome) }
}

/// Keeps the outcomes that it receives.
private final class Outcomes: RequestInterceptor {
    private let outcomes = Mutex<[HopOutcome]>([])
    var all: [HopOutcome] { outcomes.withLock { $0 } }
    var statuses: [Int?] { all.map { $0.status?.code } }
    func received(_ outcome: HopOutcome) async throws { outcomes.withLock { $0.append(outcome) } }
}

private struct Invalid: Error, Codable, Equatable { var field: String }

@Suite("Interceptors that receive outcomes")
struct ReceivingTests {
    /// Redirects the paths in the dictionary, and responds to the others with 200.
    private func redirecting(_ targets: [String: String]) -> StubTransport {
        StubTransport { request in
            let location = targets[request.url.origin.description + request.url.path]
            return TransportResponse(
                HTTPResponse(
                    status: location == nil ? .ok : .temporaryRedirect,
                    headerFields: location.map { [.location: $0] } ?? [.age: "1"]),
                body: ResponseBody(Data("ok".utf8)))
        }
    }

    private func withServer(
        _ interceptors: [any RequestInterceptor], _ handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(handler: handler)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = interceptors
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1"), transport: try CurlTransport(),
            configuration: configuration)
        do { try await body(service, server) } catch {
            await service.shutdown()
            throw error
        }
        await service.shutdown()
        server.stop()
    }

    // MARK: What an outcome shows

    @Test("An outcome shows the response of a real server with its fields, body, times and connection")
    func response() async throws {
        let seen = Outcomes()
        try await withServer([seen], { _ in .response(status: 200, headers: [("X-Total", "3")], body: "[1]") }) {
            service, server in
            _ = try await service.get("a", parameters: ["token": "s3cret"])
            _ = try await service.get("b")
            let (first, second) = (try #require(seen.all.first), try #require(seen.all.last))
            #expect(first.method == .get)
            #expect(first.url.description == server.url + "/v1/a?token=s3cret")
            #expect(first.environment == service.currentEnvironment)
            #expect((first.hop, first.attempt) == (1, 1))
            #expect(first.status == .ok)
            #expect(first.headerFields["X-Total"] == "3")
            #expect(first.body == Data("[1]".utf8))
            #expect(first.isExpected && !first.isRedirect && !first.isFromCache)
            #expect(first.failure == nil)
            #expect(first.metrics?.bodyBytesReceived == 3)
            #expect(first.metrics?.firstByte != nil)
            #expect((first.connection?.isReused, second.connection?.isReused) == (false, true))
            #expect(first.requestID != second.requestID)
            #expect(!first.requestID.isEmpty)
            var text = "\(first)" + String(reflecting: first)
            dump(first, to: &text)
            #expect(!text.contains("s3cret"))
        }
    }

    @Test("Interceptors receive outcomes in reverse order, and those called later receive the replaced outcome")
    func order() async throws {
        let calls = Mutex<[String]>([])
        func noting(_ name: String, _ error: (any Error)? = nil) -> Receiving {
            Receiving { outcome in
                calls.withLock { $0.append("\(name) \(outcome.failure?.reason.name ?? "response")") }
                if let error { throw error }
            }
        }
        let fixture = try ServiceFixture {
            $0.interceptors = [noting("first"), noting("second", Invalid(field: "a")), noting("third")]
        }
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.send(DataRequest(.get, "a"))
        }
        #expect(calls.withLock { $0 } == ["third response", "second response", "first status"])
        #expect(failure?.underlying as? Invalid == Invalid(field: "a"))
    }

    // MARK: Hops

    @Test("Each hop within the origin has an outcome, and no hop after the chain has left it")
    func redirects() async throws {
        let seen = Outcomes()
        let transport = redirecting([
            "https://h/v1/a": "https://h/b", "https://h/b": "https://other/c", "https://other/c": "https://h/d",
        ])
        let fixture = try ServiceFixture(transport) { $0.interceptors = [seen] }
        let response = try await fixture.service.send(DataRequest(.get, "a"))
        #expect(response.url?.description == "https://h/d")
        #expect(transport.requests.count == 4)
        #expect(seen.all.map { "\($0.hop) \($0.attempt) \($0.url)" } == ["1 1 https://h/v1/a", "2 2 https://h/b"])
        #expect(seen.all.allSatisfy { $0.isRedirect && $0.isExpected && $0.body == nil })
        seen.all.forEach { #expect($0.status == .temporaryRedirect) }
        // A later request is not affected.
        _ = try await fixture.service.send(DataRequest(.get, "d"))
        #expect(seen.all.count == 3)
    }

    @Test("An error for a redirect ends the request before the redirect is followed")
    func refusedRedirect() async throws {
        let transport = redirecting(["https://h/v1/a": "https://h/b"])
        let fixture = try ServiceFixture(transport) {
            $0.interceptors = [Receiving { _ in throw Invalid(field: "redirect") }]
        }
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.send(DataRequest(.get, "a"))
        }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.head.status == .temporaryRedirect)
        #expect(transport.requests.count == 1)
    }

    @Test("A redirect that is not followed is an unexpected response with a body")
    func unfollowedRedirect() async throws {
        let seen = Outcomes()
        try await withServer([seen], { _ in .response(status: 302, body: "moved") }) { service, _ in
            let failure = await #expect(throws: RequestFailure.self) { try await service.get("a") }
            #expect(failure?.response?.body == Data("moved".utf8))
            #expect(seen.all.map(\.isExpected) == [false])
            #expect(seen.all.first?.body == Data("moved".utf8))
        }
    }

    @Test("A challenge that Digest answers has no outcome of its own, and the last refusal has one with its body")
    func digest() async throws {
        for (password, statuses) in [(DigestServer.password, [200]), ("wrong", [401])] {
            let seen = Outcomes()
            var configuration = HTTPDataRequestService.Configuration()
            configuration.interceptors = [seen]
            try await withDigestService(password: password, configuration: configuration) { service, server in
                _ = try? await service.get("a")
                #expect(seen.statuses == statuses)
                #expect(seen.all.first?.attempt == 2)
                #expect(server.requestCount == 2)
                #expect(seen.all.first?.body != nil)
            }
        }
    }

    @Test("Requests to full URLs have no outcomes")
    func unsafe() async throws {
        let seen = Outcomes()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [seen]
        let service = HTTPDataRequestService.forAnyServer(over: StubTransport(), configuration: configuration)
        try await service.get("https://any.test/a")
        #expect(seen.all.isEmpty)
    }

    /// A stage that responds as the response cache does.
    private final class HitStage: Stage {
        func send(
            _ request: TransportRequest, _ record: ExchangeRecord
        ) async throws(RequestFailure) -> TransportResponse {
            record.isFromCache = request.url.path == "/a"
            let fields: HTTPFields = request.url.path == "/a" ? [.location: "/b"] : [:]
            return TransportResponse(
                HTTPResponse(status: fields.isEmpty ? .ok : .found, headerFields: fields), body: ResponseBody(Data()))
        }
    }

    @Test("A response from the cache is marked, and the mark ends with its hop")
    func cache() async throws {
        final class OnlyTheFirst: Stage {
            let hit = HitStage()
            func send(
                _ request: TransportRequest, _ record: ExchangeRecord
            ) async throws(RequestFailure) -> TransportResponse {
                if request.url.path == "/a" { return try await hit.send(request, record) }
                #expect(!record.isFromCache)
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
            }
        }
        for stage in [HitStage(), OnlyTheFirst()] as [any Stage] {
            let seen = Outcomes()
            let receiving = ReceivingStage(interceptors: [seen], next: RemainingStages(stage))
            let chain = RedirectStage(clock: ContinuousClock(), next: RemainingStages(receiving))
            let request = TransportRequest(.get, try RequestURL("https://h/a"))
            let record = ExchangeRecord(
                request, ExchangeRules(expectedStatus: .success, redirects: .standard),
                id: RequestID(service: 1, number: 2),
                environment: EnvironmentSnapshot(baseURL: try RequestURL("https://h/")), cancellation: Cancellation())
            let response = try await chain.send(request, record)
            #expect(response.status == .ok)
            #expect(seen.all.map(\.isFromCache) == [true, false])
            #expect(seen.all.map(\.attempt) == [0, 0])
            #expect(seen.all.map(\.requestID) == ["1-2", "1-2"])
        }
    }

    // MARK: Replacing outcomes

    @Test("An error replaces a response with 422 by a failure with its body, its error model and the error")
    func errorMapping() async throws {
        let mapping = Receiving { outcome in
            guard !outcome.isExpected, let body = outcome.body else { return }
            throw try JSONDecoder().decode(Invalid.self, from: body)
        }
        let reply = ServerReply.response(status: 422, body: #"{"field":"name"}"#)
        try await withServer([mapping], { _ in reply }) { service, server in
            var request = DataRequest(.post, "a?q=s3cret", body: .text("x"))
            request.errorModel = Invalid.self
            request.headerFields[.accept] = "application/json"
            for delivery in [TransportOptions.Delivery.collected(upTo: 1_000), .streamed] {
                request.options.delivery = delivery
                let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
                #expect(failure?.reason == .status)
                #expect(failure?.phase == .receiving)
                #expect(failure?.host == "127.0.0.1")
                #expect(failure?.underlying as? Invalid == Invalid(field: "name"))
                #expect(failure?.response?.head.status.code == 422)
                #expect(failure?.response?.body == Data(#"{"field":"name"}"#.utf8))
                #expect(failure?.errorModel(as: Invalid.self) == Invalid(field: "name"))
                #expect(failure?.message.contains("422") == true)
                #expect(failure.map { !"\($0)".contains("s3cret") } == true)
            }
            #expect(server.requestCount == 2)
        }
    }

    @Test("An error replaces an expected response, and the failure contains its body")
    func expectedResponse() async throws {
        let fixture = try ServiceFixture(StubTransport(status: 200, #"{"error":1}"#)) {
            $0.interceptors = [Receiving { _ in throw Invalid(field: "b") }]
        }
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.get("a", as: [String: Int].self)
        }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.head.status == .ok)
        #expect(failure?.response?.body == Data(#"{"error":1}"#.utf8))
        #expect(failure?.remedy == RequestFailure.Reason.status.remedy)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test("An error replaces a connection failure and keeps its reason, phase and texts")
    func connectionFailure() async throws {
        let server = try LoopbackServer { _ in .response(body: "") }
        let url = server.url
        server.stop()
        let seen = Outcomes()
        for throwing in [false, true] {
            var configuration = HTTPDataRequestService.Configuration()
            configuration.interceptors = [
                seen, Receiving { _ in if throwing { throw Invalid(field: "network") } },
            ]
            let service = HTTPDataRequestService(
                environment: try ConstantEnvironment(url), transport: try CurlTransport(), configuration: configuration)
            let failure = await #expect(throws: RequestFailure.self) { try await service.get("a") }
            #expect(failure?.reason == .connection)
            #expect(failure?.phase == .connect)
            #expect((failure?.underlying as? Invalid != nil) == throwing)
            let outcome = try #require(seen.all.last)
            #expect(outcome.failure?.message == failure?.message)
            #expect(outcome.failure?.remedy == failure?.remedy)
            #expect(outcome.status == nil && outcome.metrics == nil && outcome.body == nil && !outcome.isExpected)
            await service.shutdown()
        }
    }

    @Test("A thrown failure keeps its reason and texts, and gets the host, phase and response of the exchange")
    func thrownFailure() async throws {
        let thrown = RequestFailure(.authorization, "The session has expired.", remedy: "Log in again.", attempt: 3)
        let fixture = try ServiceFixture(StubTransport(status: 403, "no")) {
            $0.interceptors = [Receiving { _ in throw thrown }]
        }
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.reason == .authorization)
        #expect((failure?.message, failure?.remedy) == (thrown.message, thrown.remedy))
        #expect((failure?.host, failure?.phase, failure?.attempt) == ("h", .receiving, 3))
        #expect(failure?.response?.body == Data("no".utf8))
    }

    @Test("The failure of a signer has an outcome although nothing was sent")
    func signerFailure() async throws {
        struct Refusing: RequestInterceptor {
            func sign(_ request: inout EncodedRequest) async throws { throw Invalid(field: "key") }
        }
        let seen = Outcomes()
        let fixture = try ServiceFixture { $0.interceptors = [seen, Refusing()] }
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(seen.all.map(\.failure?.reason) == [.invalidRequest])
        #expect(seen.all.map(\.attempt) == [0])
    }

    // MARK: Streams and downloads

    @Test("A streamed response is not read by interceptors, and its stream is cancelled if they throw")
    func streams() async throws {
        let seen = Outcomes()
        let throwing = Mutex(false)
        let interceptors: [any RequestInterceptor] = [
            seen, Receiving { _ in if throwing.withLock({ $0 }) { throw Invalid(field: "stream") } },
        ]
        let reply: @Sendable (ServerRequest) -> ServerReply = { request in
            request.path == "/v1/endless"
                ? .raw([.head(headers: []), .repeatSend(Array("0123456789".utf8), count: 10_000_000), .close])
                : .response(body: String(repeating: "x", count: 300_000))
        }
        try await withServer(interceptors, reply) { service, _ in
            var request = DataRequest(.get, "a")
            request.options.delivery = .streamed
            let response = try await service.send(request)
            #expect(try await response.body.collect(upTo: 1_000_000).count == 300_000)
            #expect(seen.all.map(\.body) == [nil])
            #expect(seen.all.map(\.isExpected) == [true])
            throwing.withLock { $0 = true }
            request.path = "endless"
            let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
            #expect(failure?.response?.head.status == .ok)
            #expect(failure?.response?.body == Data())
            #expect(service.requestsInFlight == 0)
        }
    }

    @Test("A download has an outcome, and an error keeps its file from being written")
    func download() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let seen = Outcomes()
        let mapping = Receiving { outcome in
            guard outcome.status == .notFound, let body = outcome.body else { return }
            throw Invalid(field: String(decoding: body, as: UTF8.self))
        }
        let reply: @Sendable (ServerRequest) -> ServerReply = { request in
            request.path == "/v1/a" ? .response(body: "film") : .response(status: 404, body: "none")
        }
        try await withServer([mapping, seen], reply) { service, _ in
            _ = try await service.download("a", to: directory.path + "/a")
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.download("b", to: directory.path + "/b")
            }
            #expect(failure?.underlying as? Invalid == Invalid(field: "none"))
            #expect(failure?.response?.body == Data("none".utf8))
            #expect(seen.statuses == [200, 404])
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a"])
        }
    }

    // MARK: Cancellation

    @Test("A cancelled request has no outcome")
    func cancelledBefore() async throws {
        let seen = Outcomes()
        let fixture = try ServiceFixture(
            StubTransport { _ throws(RequestFailure) in throw RequestFailure(.cancelled, "Cancelled.") }
        ) { $0.interceptors = [seen] }
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.reason == .cancelled)
        #expect(seen.all.isEmpty)
    }

    @Test("Cancelling while an outcome is received ends the request at once as cancelled, whatever is thrown")
    func cancelledDuring() async throws {
        enum Way: CaseIterable { case token, shutdown }
        for way in Way.allCases {
            for swallows in [false, true] {
                let seen = Outcomes()
                let running = LoopbackGate()
                let waiting = Receiving { _ in
                    running.open()
                    do { try await Task.sleep(for: .seconds(600)) } catch {
                        guard swallows else { throw Invalid(field: "cancelled") }
                    }
                }
                let fixture = try ServiceFixture { $0.interceptors = [seen, waiting] }
                let result = Mutex<Result<DataResponse, RequestFailure>?>(nil)
                let ended = LoopbackGate()
                let token = fixture.service.send(DataRequest(.get, "a")) { ending in
                    result.withLock { $0 = ending }
                    ended.open()
                }
                await running.opened()
                switch way {
                case .token: token.cancel()
                case .shutdown: await fixture.service.shutdown()
                }
                await ended.opened()
                let failure = #expect(throws: RequestFailure.self) { try result.withLock { $0 }?.get() }
                #expect(failure?.reason == .cancelled, "\(way)")
                #expect(fixture.service.requestsInFlight == 0)
            }
        }
    }

    @Test("An interceptor can end a request as cancelled, which no other interceptor receives")
    func cancelling() async throws {
        for error in [CancellationError(), RequestFailure(.cancelled, "Not now.")] as [any Error] {
            let seen = Outcomes()
            let fixture = try ServiceFixture { $0.interceptors = [seen, Receiving { _ in throw error }] }
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
            #expect(failure?.reason == .cancelled)
            #expect(seen.all.isEmpty)
        }
    }

    // MARK: Use

    /// The total number of elements of a paged response.
    private final class Total: Sendable {
        @TaskLocal static var current: Total?
        let value = Mutex<Int?>(nil)
    }

    private struct Totals: RequestInterceptor {
        func received(_ outcome: HopOutcome) async throws {
            guard let total = outcome.headerFields["X-Total-Count"].flatMap({ Int($0) }) else { return }
            Total.current?.value.withLock { $0 = total }
        }
    }

    @Test("The total of a paged response reaches the task that requested it, without a decorator")
    func paging() async throws {
        let transport = StubTransport { request in
            let isFirst = request.url.path == "/v1/films"
            return TransportResponse(
                HTTPResponse(status: .ok, headerFields: HTTPFields(["X-Total-Count": isFirst ? "41" : "7"])),
                body: ResponseBody(Data("[1]".utf8)))
        }
        let fixture = try ServiceFixture(transport) { $0.interceptors = [Totals()] }
        try await withThrowingTaskGroup(of: (String, Int?).self) { group in
            for path in ["films", "actors"] {
                group.addTask {
                    let total = Total()
                    let page: [Int] = try await Total.$current.withValue(total) { try await fixture.service.get(path) }
                    #expect(page == [1])
                    return (path, total.value.withLock { $0 })
                }
            }
            for try await (path, total) in group { #expect(total == (path == "films" ? 41 : 7)) }
        }
    }

    @Test("An interceptor can be tested with outcomes that the test creates")
    func created() async throws {
        let url = try RequestURL("https://h/a")
        let environment = EnvironmentSnapshot(baseURL: url)
        let total = Total()
        let response = DataResponse(headerFields: HTTPFields(["X-Total-Count": "5"]), body: Data("x".utf8))
        let outcome = HopOutcome(.get, url, environment: environment, response: response)
        try await Total.$current.withValue(total) { try await Totals().received(outcome) }
        #expect(total.value.withLock { $0 } == 5)
        #expect(outcome.body == Data("x".utf8))
        let failed = HopOutcome(.get, url, environment: environment, failure: RequestFailure(.timeout, "Late."))
        #expect(failed.failure?.reason == .timeout && failed.status == nil && !failed.isExpected)
    }

    @Test("A service without interceptors has no stage for outcomes")
    func noStage() throws {
        func chain(_ interceptors: [any RequestInterceptor]) -> String {
            var configuration = HTTPDataRequestService.Configuration()
            configuration.interceptors = interceptors
            var text = ""
            dump(Chain(over: StubTransport(), ServiceSettings(configuration), AuthorizationStore()), to: &text)
            return text
        }
        #expect(!chain([]).contains("ReceivingStage"))
        #expect(chain([Totals()]).contains("ReceivingStage"))
    }
}
