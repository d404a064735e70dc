import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@Suite("Pinned requests")
struct PinnedRequestTests {
    private static let policy = TrustPolicy(minimumTLS: .tls13)

    private final class Spy: RequestInterceptor {
        let calls = Mutex<[String]>([])
        func prepare(_ draft: inout RequestDraft) async throws {
            calls.withLock { $0.append(draft.environment.name) }
            draft.headerFields["X-Intercepted"] = draft.environment.name
        }
    }

    private static func snapshot(_ name: String, path: String = "/v1") throws -> EnvironmentSnapshot {
        var settings = RequestSettings()
        settings.retry = .attempts(2)
        return EnvironmentSnapshot(
            name: name, baseURL: try RequestURL("https://\(name).test\(path)"),
            headerFields: try headerFields(["X-Env": name]), trust: policy, settings: settings)
    }

    private static func change(_ environment: MutableEnvironment, to name: String) throws {
        environment.set(try snapshot(name))
    }

    @Test("A pinned request has the base, the fields, the trust, the credentials and the settings of the environment")
    func current() async throws {
        let spy = Spy()
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let clock = ManualClock()
        let isFirst = Mutex(true)
        let transport = StubTransport { _ throws(RequestFailure) in
            guard isFirst.withLock({ exchange(&$0, with: false) }) else {
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))
            }
            throw RequestFailure(.connection, "The attempt failed.")
        }
        let fixture = ServiceFixture(transport, environment: environment) {
            $0.interceptors = [spy]
            $0.clock = clock.requestClock
        }
        fixture.service.setAuthorization(try .bearer("t"))
        var request = DataRequest(.get, "users", query: ["page": "2"])
        request.base = .pinned(to: environment.snapshot)
        let running = Task { [request] in try await fixture.sent(request) }
        // The wait between the two attempts, which only the settings of the environment allow.
        await clock.waitForSleepers(count: 1)
        clock.advanceToNextDeadline()
        let sent = try await running.value
        #expect(transport.requests.count == 2)
        #expect(sent.url.description == "https://one.test/v1/users?page=2")
        #expect(sent.headerFields["X-Env"] == "one")
        #expect(sent.headerFields["X-Intercepted"] == "one")
        #expect(sent.headerFields[.authorization] == "Bearer t")
        #expect(sent.options.trust == Self.policy)
        #expect(request.base.isEnvironment)
        #expect(try request.base.url?.description == "https://one.test/v1")
    }

    @Test(
        "A pinned request may name a whole URL below the base, whose query is complete",
        arguments: [
            ("https://one.test/v1", "https://one.test/v1"),
            ("https://one.test/v1/users/7", "https://one.test/v1/users/7"),
            ("https://ONE.test:443/v1/a%2Fb?x=1&y", "https://one.test/v1/a%2Fb?x=1&y"),
            ("https://one.test/v1/a%20b", "https://one.test/v1/a%20b"),
        ])
    func whole(url: String, expected: String) async throws {
        let environment = MutableEnvironment(try Self.snapshot("one", path: "/v1?key=k"))
        let fixture = ServiceFixture(environment: environment)
        let url = try RequestURL(url)
        let request = DataRequest(.get, "other").pinned(to: environment.snapshot, at: url)
        #expect(try await fixture.sent(request).url.description == expected)
        #expect(try fixture.last().headerFields["X-Env"] == "one")
        // The request of a definition has the query of its base, unless it names a whole URL.
        let pinned = RequestBase.pinned(to: environment.snapshot)
        let defined: DataRequest = try definition("n", base: pinned).build()
        #expect(try await fixture.sent(defined).url.description == "https://one.test/v1/n?key=k")
        let moved = defined.pinned(to: environment.snapshot, at: url)
        #expect(try await fixture.sent(moved).url.description == expected)
    }

    @Test("A path that is set after a request was pinned to a whole URL wins")
    func changedPath() async throws {
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let fixture = ServiceFixture(environment: environment)
        let url = try RequestURL("https://one.test/v1/users")
        var request = DataRequest(.get, "").pinned(to: environment.snapshot, at: url)
        request.path = "orders"
        #expect(try await fixture.sent(request).url.description == "https://one.test/v1/orders")
        request.path = "../v2/orders"
        let outside = request
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(outside) }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("A pinned whole URL may leave the base's path if the service resolves paths as RFC 3986, not the origin")
    func resolution() async throws {
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let fixture = ServiceFixture(environment: environment) { $0.pathResolution = .rfc3986 }
        let urls = try ["https://one.test/v2/users", "https://two.test/v1/users"].map { try RequestURL($0) }
        let requests = urls.map { DataRequest(.get, "").pinned(to: environment.snapshot, at: $0) }
        #expect(try await fixture.sent(requests[0]).url == urls[0])
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(requests[1]) }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test(
        "A pinned request to a URL that is not below the base is refused before it is sent",
        arguments: [
            "https://two.test/v1/users", "http://one.test/v1/users", "https://one.test:8443/v1/users",
            "https://one.test/v2/users", "https://one.test/v10", "https://one.test/v1/..%2fv2",
            "https://one.test/v1/%252e%252e/v2", "https://one.test/",
        ])
    func outside(url: String) async throws {
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let fixture = ServiceFixture(environment: environment)
        let request = DataRequest(.get, "").pinned(to: environment.snapshot, at: try RequestURL(url))
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(failure?.reason == .invalidRequest)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test(
        "A pinned request fails as cancelled at once after a change of the environment, whatever the service's policy",
        arguments: [HTTPDataRequestService.EnvironmentChange.finishRequests, .cancelRequests])
    func stale(policy: HTTPDataRequestService.EnvironmentChange) async throws {
        let spy = Spy()
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let fixture = ServiceFixture(environment: environment) {
            $0.interceptors = [spy]
            $0.onEnvironmentChange = policy
        }
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let url = try RequestURL("https://one.test/v1/users")
        let requests = [
            DataRequest(.get, "users").pinned(to: environment.snapshot),
            DataRequest(.get, "").pinned(to: environment.snapshot, at: url),
        ]
        try Self.change(environment, to: "two")
        for request in requests {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
            #expect(failure?.reason == .cancelled)
            #expect(failure?.request?.hasSuffix("users") == true)
            let saving = await #expect(throws: RequestFailure.self) {
                try await fixture.service.download(request, to: path)
            }
            #expect(saving?.reason == .cancelled)
        }
        #expect(fixture.transport.requests.isEmpty)
        #expect(spy.calls.withLock { $0 }.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(fixture.service.requestsInFlight == 0)
        try Self.change(environment, to: "one")
        for request in requests {
            #expect(try await fixture.sent(request).url.description == "https://one.test/v1/users")
        }
    }

    @Test("A request that is pinned to an equal base URL with other fields is stale too")
    func fields() async throws {
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let fixture = ServiceFixture(environment: environment)
        let request = DataRequest(.get, "users").pinned(to: environment.snapshot)
        var changed = environment.snapshot
        changed.headerFields = try headerFields(["X-Env": "changed"])
        environment.set(changed)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
        #expect(failure?.reason == .cancelled)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test(
        "A change cancels a running pinned request if the service's policy says so",
        arguments: [HTTPDataRequestService.EnvironmentChange.finishRequests, .cancelRequests])
    func running(policy: HTTPDataRequestService.EnvironmentChange) async throws {
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let gate = LoopbackGate()
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users").answer { _ in
            await gate.opened()
            return ScriptedAnswer(text: "one")
        }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.onEnvironmentChange = policy
        let service = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        let request = DataRequest(.get, "users").pinned(to: environment.snapshot)
        let running = Task { try await service.send(request) }
        _ = try await transport.request(number: 1)
        try Self.change(environment, to: "two")
        if policy == .finishRequests {
            gate.open()
            #expect(try await running.value.status == .ok)
        } else {
            let failure = await #expect(throws: RequestFailure.self) { try await running.value }
            #expect(failure?.reason == .cancelled)
            gate.open()
        }
        await service.shutdown()
    }

    @Test("Pinned requests never mix two environments while the environment changes")
    func races() async throws {
        let environment = MutableEnvironment(try Self.snapshot("one"))
        let fixture = ServiceFixture(environment: environment) { $0.interceptors = [Spy()] }
        let outcomes = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { @concurrent in
                for round in 0..<Rounds.racing(600) {
                    try Self.change(environment, to: round.isMultiple(of: 2) ? "two" : "one")
                    await Task.yield()
                }
                return 0
            }
            for _ in 0..<2 {
                group.addTask { @concurrent in
                    var failures = 0
                    for round in 0..<Rounds.racing(600) {
                        let current = environment.snapshot
                        let url = try RequestURL("https://\(current.name).test/v1/\(current.name)")
                        if round.isMultiple(of: 3) { await Task.yield() }
                        do throws(RequestFailure) {
                            try await fixture.service.send(DataRequest(.get, "").pinned(to: current, at: url))
                        } catch {
                            #expect(error.reason == .cancelled)
                            failures += 1
                        }
                    }
                    return failures
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(fixture.transport.requests.count == 2 * Rounds.racing(600) - outcomes)
        for sent in fixture.transport.requests {
            let name = String(sent.url.path.dropFirst("/v1/".count))
            #expect(sent.url.origin.host.text == "\(name).test")
            #expect(sent.headerFields["X-Env"] == name)
            #expect(sent.headerFields["X-Intercepted"] == name)
        }
    }

    @Test("A description of a pinned request shows no query and no field values")
    func description() throws {
        let environment = try Self.snapshot("one", path: "/v1?key=s3cret")
        let url = try RequestURL("https://one.test/v1/users?token=s3cret")
        let request = DataRequest(.get, "").pinned(to: environment, at: url)
        var text = "\(request.base)"
        dump(request, to: &text)
        #expect(text.contains("https://one.test/v1"))
        #expect(!text.contains("s3cret"))
    }
}
