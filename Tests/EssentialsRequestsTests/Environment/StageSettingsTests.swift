import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Settings of an environment for the stages", .timeLimit(.minutes(1)))
struct StageSettingsTests {
    private static func stages(_ change: (inout StageSettings) -> Void) -> StageSettings {
        var stages = StageSettings()
        change(&stages)
        return stages
    }

    private static func response(_ status: Int = 200, _ fields: HTTPFields = [:]) -> TransportResponse {
        TransportResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: ResponseBody(Data("{}".utf8)))
    }

    private func environment(_ change: (inout StageSettings) -> Void) throws -> ConstantEnvironment {
        try ConstantEnvironment("https://h/", stages: Self.stages(change))
    }

    // MARK: Limits

    @Test("A switch brings the limits of the new environment, and requests of the old one keep theirs")
    func switchOfLimits() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { _ throws(RequestFailure) in
            await gate.opened()
            return Self.response()
        }
        let limited = EnvironmentSnapshot(
            name: "limited", baseURL: try RequestURL("https://h/"),
            stages: Self.stages { $0.limits = OriginLimits(concurrency: 1) })
        let open = EnvironmentSnapshot(name: "open", baseURL: try RequestURL("https://h/"))
        let environment = try SwitchableEnvironment([limited, open])
        let service = ServiceFixture(transport, environment: environment).service
        let origin = limited.baseURL.origin
        let counts = try #require(service.limits)
        var requests = (0..<3).map { number in Task { try await service.send(DataRequest(.get, "old\(number)")) } }
        await until { counts.state(of: origin) == OriginLimits.State(permitsInUse: 1, waiting: 2) }
        try environment.select("open")
        #expect(service.limits == nil)
        requests += (0..<3).map { number in Task { try await service.send(DataRequest(.get, "new\(number)")) } }
        await until { transport.requests.count == 4 }
        #expect(counts.state(of: origin) == OriginLimits.State(permitsInUse: 1, waiting: 2))
        try environment.select("limited")
        #expect(service.limits === counts)
        gate.open()
        for request in requests { #expect(try await request.value.status == .ok) }
        #expect(counts.state(of: origin) == OriginLimits.State())
    }

    @Test("An environment without limits overrides those of the service")
    func noLimits() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { _ throws(RequestFailure) in
            await gate.opened()
            return Self.response()
        }
        let fixture = try ServiceFixture(transport, environment: environment { $0.limits = OriginLimits() }) {
            $0.limits.concurrency = 1
        }
        let requests = (0..<3).map { _ in Task { try await fixture.service.send(DataRequest(.get, "a")) } }
        await until { transport.requests.count == 3 }
        gate.open()
        for request in requests { #expect(try await request.value.status == .ok) }
    }

    @Test("A redirect to another origin has the limits of the service, not those of the environment")
    func limitsOfRedirects() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { request throws(RequestFailure) in
            if request.url.path == "/a" { return Self.response(302, [.location: "https://other/b"]) }
            await gate.opened()
            return Self.response()
        }
        let environment = try environment { $0.limits = OriginLimits(concurrency: 1) }
        let fixture = ServiceFixture(transport, environment: environment) { $0.limits.concurrency = 2 }
        let requests = (0..<4).map { _ in Task { try await fixture.service.send(DataRequest(.get, "a")) } }
        let other = try RequestURL("https://other/").origin
        let counts = try #require(fixture.service.settings.limits)
        await until { counts.state(of: other) == OriginLimits.State(permitsInUse: 2, waiting: 2) }
        #expect(counts.state(of: environment.baseURL.origin) == OriginLimits.State())
        gate.open()
        for request in requests { #expect(try await request.value.status == .ok) }
        #expect(fixture.service.limits?.state(of: other) == OriginLimits.State())
    }

    @Test("A service keeps the counts of 64 different limits, and those of equal limits are the same")
    func maximum() {
        let stages = EnvironmentStages(clock: .system)
        let first = stages.counts(of: OriginLimits(concurrency: 1))
        #expect(first != nil && first === stages.counts(of: OriginLimits(concurrency: 1)))
        for number in 2...EnvironmentStages.maximum { _ = stages.counts(of: OriginLimits(concurrency: number)) }
        #expect(first === stages.counts(of: OriginLimits(concurrency: 1)))
        _ = stages.counts(of: OriginLimits(concurrency: 1_000))
        #expect(first !== stages.counts(of: OriginLimits(concurrency: 1)))
        #expect(stages.counts(of: OriginLimits()) == nil)
        for _ in 0...EnvironmentStages.maximum { _ = stages.storage(of: .storage(CookieJar())) }
        #expect(stages.cookies.count == EnvironmentStages.maximum)
    }

    // MARK: Retries

    @Test("The retry policy of an environment applies to its origin, and that of the request everywhere")
    func retries() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            switch request.url.path {
            case "/away": Self.response(302, [.location: "https://other/b"])
            case "/here": Self.response(302, [.location: "/b"])
            default: Self.response(503)
            }
        }
        var policy = RetryPolicy.attempts(3)
        policy.backoff = .exponential(base: .zero)
        let fixture = try ServiceFixture(transport, environment: environment { $0.retry = policy })
        func attempts(_ path: String, _ retry: RetryPolicy? = nil, base: RequestBase = .environment) async -> Int {
            let before = transport.requests.count
            var request = DataRequest(.get, path)
            request.retry = retry
            request.base = base
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
            #expect(failure?.status?.code == 503)
            return transport.requests.count - before
        }
        #expect(await attempts("b") == 3)
        #expect(await attempts("here") == 1 + 3)
        #expect(await attempts("away") == 1 + 1)
        #expect(await attempts("b", base: "https://other/") == 1)
        #expect(await attempts("b", .never) == 1)
        #expect(await attempts("away", policy) == 1 + 3)
    }

    // MARK: Cookies

    @Test("An environment has its own cookies, also after a redirect back, and other origins have the service's")
    func cookies() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            let cookie = "from=\(request.url.origin.host); Path=/"
            switch request.url.path {
            case "/a": return Self.response(302, [.location: "https://other/b", .setCookie: cookie])
            case "/b": return Self.response(302, [.location: "https://h/c", .setCookie: cookie])
            default: return Self.response()
            }
        }
        let (own, general) = (CookieJar(), CookieJar())
        let fixture = try ServiceFixture(transport, environment: environment { $0.cookies = .storage(own) }) {
            $0.cookies = general
        }
        for _ in 0..<2 { try await fixture.service.send(DataRequest(.get, "a")) }
        #expect(own.cookies().map { "\($0.domain) \($0.value)" } == ["h h"])
        #expect(general.cookies().map { "\($0.domain) \($0.value)" } == ["other other"])
        let sent = transport.requests.map { $0.headerFields[.cookie] }
        #expect(sent == [nil, nil, "from=h", "from=h", "from=other", "from=h"])
    }

    @Test("An environment can do without the cookies of its service")
    func cookiesOff() async throws {
        let jar = CookieJar()
        jar.store("a=1", from: try RequestURL("https://h/"))
        let transport = StubTransport { _ throws(RequestFailure) in Self.response(200, [.setCookie: "b=2"]) }
        let fixture = try ServiceFixture(transport, environment: environment { $0.cookies = .off }) {
            $0.cookies = jar
        }
        #expect(try await fixture.sent(DataRequest(.get, "a")).headerFields[.cookie] == nil)
        #expect(jar.count == 1)
    }

    @Test("A request without cookies uses none of its environment either")
    func requestWithoutCookies() async throws {
        let jar = CookieJar()
        jar.store("a=1", from: try RequestURL("https://h/"))
        let fixture = try ServiceFixture(environment: environment { $0.cookies = .storage(jar) })
        var request = DataRequest(.get, "a")
        #expect(try await fixture.sent(request).headerFields[.cookie] == "a=1")
        request.usesCookies = false
        #expect(try await fixture.sent(request).headerFields[.cookie] == nil)
    }

    @Test("A logout clears the cookies of the current environment, and a shutdown saves those of all")
    func logoutAndShutdown() async throws {
        let jars = [SavedCookies(), SavedCookies(), SavedCookies()]
        let snapshots = try jars.dropFirst().enumerated().map { number, jar in
            EnvironmentSnapshot(
                name: "\(number)", baseURL: try RequestURL("https://h\(number)/"),
                stages: Self.stages { $0.cookies = .storage(jar) })
        }
        let environment = try SwitchableEnvironment(snapshots)
        let service = ServiceFixture(environment: environment) { $0.cookies = jars[0] }.service
        try await service.send(DataRequest(.get, "a"))
        try environment.select("1")
        try await service.send(DataRequest(.get, "a"))
        await service.clearAuthorization()
        #expect(jars.map(\.cleared) == [["h1"], [], ["h1"]])
        await service.shutdown()
        #expect(jars.map(\.flushes) == [1, 1, 1])
    }

    // MARK: Values

    @Test("Settings are equal if their cookies are the same object, and the default of each property is no setting")
    func equality() {
        let (jar, other) = (CookieJar(), CookieJar())
        func choosing(_ choice: CookieChoice?) -> StageSettings { Self.stages { $0.cookies = choice } }
        #expect(choosing(.storage(jar)) == choosing(.storage(jar)))
        #expect(choosing(.storage(jar)) != choosing(.storage(other)))
        #expect(choosing(.storage(jar)) != choosing(.off))
        #expect(choosing(.off) == choosing(CookieChoice.off) && choosing(.off) != StageSettings())
        #expect(choosing(nil) == StageSettings() && choosing(nil).isEmpty)
        #expect(Set([choosing(.storage(jar)), choosing(.storage(jar)), choosing(.off)]).count == 2)
        #expect(Self.stages { $0.limits = OriginLimits() } != StageSettings())
        #expect(CookieChoice.storage(jar).storage as? CookieJar === jar)
        #expect(CookieChoice.off.storage == nil)
        var text = ""
        dump(CookieChoice.storage(jar), to: &text)
        #expect(text.contains("hasStorage: true"))
    }
}

/// Cookies that count what is done with them.
private final class SavedCookies: CookieStorage {
    private struct State {
        var cleared: [String] = []
        var flushes = 0
    }

    private let state = Mutex(State())

    var cleared: [String] { state.withLock { $0.cleared } }
    var flushes: Int { state.withLock { $0.flushes } }

    func hasCookies(for url: RequestURL) -> Bool { false }
    func field(for url: RequestURL, countsAsUse: Bool) -> CookieField? { nil }
    func store(_ headerFields: HTTPFields, from url: RequestURL) -> [CookieRefusal] { [] }
    func removeCookies(visibleTo host: HostName) { state.withLock { $0.cleared.append(host.text) } }
    func flush() async throws(RequestFailure) { state.withLock { $0.flushes += 1 } }
}
