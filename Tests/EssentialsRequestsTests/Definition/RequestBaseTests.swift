import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("RequestBase")
struct RequestBaseTests {
    /// Counts what it is asked for, and adds a field.
    private final class Spy: RequestInterceptor {
        let calls = Mutex<[String]>([])
        func prepare(_ draft: inout RequestDraft) async throws {
            calls.withLock { $0.append("prepare") }
            draft.headerFields["X-Intercepted"] = "1"
        }
        func sign(_ request: inout EncodedRequest) async throws { calls.withLock { $0.append("sign") } }
        func received(_ outcome: HopOutcome) async throws { calls.withLock { $0.append("received") } }
    }

    private static let policy = TrustPolicy(minimumTLS: .tls13)

    private struct Setting {
        let fixture: ServiceFixture
        let spy: Spy
    }

    private func setting() throws -> Setting {
        let spy = Spy()
        var environment = EnvironmentSnapshot(baseURL: try RequestURL("https://own.example/v1"))
        environment.headerFields = try headerFields(["X-Env": "secret"])
        environment.trust = Self.policy
        let fixture = ServiceFixture(environment: MutableEnvironment(environment)) { $0.interceptors = [spy] }
        fixture.service.setAuthorization(try Credentials.bearer("secret"))
        return Setting(fixture: fixture, spy: spy)
    }

    @Test(
        "A request to another origin carries nothing of the environment",
        arguments: [
            "https://other.example/v1", "http://own.example/v1", "https://own.example:8443/v1",
            "https://own.example.org",
        ])
    func foreign(_ base: String) async throws {
        let setting = try setting()
        _ = try await setting.fixture.service.data(of: definition("n", base: RequestBase(base)))
        let sent = try setting.fixture.last()
        #expect(sent.url.description == base + "/n")
        #expect(sent.headerFields["X-Env"] == nil)
        #expect(sent.headerFields["X-Intercepted"] == nil)
        #expect(sent.headerFields[.authorization] == nil)
        #expect(sent.options.trust == nil)
        #expect(setting.spy.calls.withLock { $0 }.isEmpty)
    }

    @Test(
        "A request to the environment's origin carries everything of it, whatever its path",
        arguments: ["https://own.example/other", "https://OWN.example:443/other"])
    func same(_ base: String) async throws {
        let setting = try setting()
        _ = try await setting.fixture.service.data(of: definition("n", base: RequestBase(base)))
        let sent = try setting.fixture.last()
        #expect(sent.url.description == "https://own.example/other/n")
        #expect(sent.headerFields["X-Env"] == "secret")
        #expect(sent.headerFields["X-Intercepted"] == "1")
        #expect(sent.headerFields[.authorization] == "Bearer secret")
        #expect(sent.options.trust == Self.policy)
        #expect(setting.spy.calls.withLock { $0 } == ["prepare", "sign", "received"])
    }

    @Test("A request that redirects from a foreign server to the environment's origin gains nothing of it")
    func redirected() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            let isFirst = request.url.origin.host.text == "other.example"
            return TransportResponse(
                HTTPResponse(
                    status: isFirst ? .found : .ok, headerFields: isFirst ? [.location: "https://own.example/x"] : [:]),
                body: ResponseBody(.init("{}".utf8)))
        }
        let spy = Spy()
        let fixture = ServiceFixture(
            transport,
            environment: try ConstantEnvironment("https://own.example/v1", headerFields: headerFields(["X-Env": "1"]))
        ) { $0.interceptors = [spy] }
        fixture.service.setAuthorization(try Credentials.bearer("secret"))
        _ = try await fixture.service.data(of: definition("n", base: "https://other.example/"))
        #expect(transport.requests.count == 2)
        for request in transport.requests {
            #expect(request.headerFields[.authorization] == nil)
            #expect(request.headerFields["X-Env"] == nil)
        }
        #expect(spy.calls.withLock { $0 }.isEmpty)
    }

    @Test("Invalid text fails when the request is sent, and names what to write")
    func invalid() async throws {
        let setting = try setting()
        let failure = await #expect(throws: RequestFailure.self) {
            try await setting.fixture.service.data(of: definition("n", base: "own.example/v1"))
        }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.remedy?.contains("https://") == true)
        #expect(failure?.request == "GET n")
        #expect(setting.fixture.transport.requests.isEmpty)
    }

    @Test("The environment of an environment service is read when the base is created, with its trust and fields")
    func environmentService() async throws {
        let environment = try MutableEnvironment("https://a.example/x")
        let base = RequestBase(environment)
        try environment.set(baseURL: "https://b.example/y")
        #expect(try base.url?.description == "https://a.example/x")
        #expect(try RequestBase(environment).url?.description == "https://b.example/y")
        let setting = try setting()
        var own = EnvironmentSnapshot(baseURL: try RequestURL("https://c.example/"))
        own.headerFields = try headerFields(["X-Own": "1"])
        own.trust = Self.policy
        _ = try await setting.fixture.service.data(of: definition("n", base: RequestBase(own)))
        let sent = try setting.fixture.last()
        #expect(sent.headerFields["X-Own"] == "1")
        #expect(sent.options.trust == Self.policy)
        #expect(sent.headerFields["X-Env"] == nil)
        #expect(sent.headerFields[.authorization] == nil)
    }

    @Test("A base of a request without a definition keeps its query too, and a description shows no query")
    func plain() async throws {
        let setting = try setting()
        var request = DataRequest(.get, "n", query: ["x": "1"])
        request.base = "https://other.example/v2?key=s3cret"
        try await setting.fixture.service.send(request)
        #expect(try setting.fixture.last().url.target == "/v2/n?key=s3cret&x=1")
        var text = "\(request.base) \(RequestBase.environment) \(RequestBase("nothing"))"
        dump(request, to: &text)
        #expect(!text.contains("s3cret"))
        #expect(RequestBase.environment.isEnvironment && !request.base.isEnvironment)
    }

    @Test("A change of the environment does not cancel a request with a base of its own")
    func change() async throws {
        let environment = try MutableEnvironment("https://own.example/")
        let transport = StubTransport { _ throws(RequestFailure) in
            try environment.set(baseURL: "https://new.example/")
            await Task.yield()
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(.init("{}".utf8)))
        }
        let fixture = ServiceFixture(transport, environment: environment) { $0.onEnvironmentChange = .cancelRequests }
        let data = try await fixture.service.data(of: definition("n", base: "https://other.example/"))
        #expect(data.count == 2)
    }
}
