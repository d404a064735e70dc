import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Settings of requests and environments", .timeLimit(.minutes(5)))
struct RequestSettingsTests {
    private static func settings(_ change: (inout RequestSettings) -> Void) -> RequestSettings {
        var settings = RequestSettings()
        change(&settings)
        return settings
    }

    private static func response(_ status: Int = 200, _ fields: HTTPFields = [:]) -> TransportResponse {
        TransportResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: ResponseBody(Data("{}".utf8)))
    }

    private func environment(_ change: (inout RequestSettings) -> Void) throws -> ConstantEnvironment {
        try ConstantEnvironment("https://h/", settings: Self.settings(change))
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
            settings: Self.settings { $0.limits = OriginLimits(concurrency: 1) })
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
        let counts = try #require(fixture.service.settings.hops.standard.limits)
        await until { counts.state(of: other) == OriginLimits.State(permitsInUse: 2, waiting: 2) }
        #expect(counts.state(of: environment.baseURL.origin) == OriginLimits.State())
        gate.open()
        for request in requests { #expect(try await request.value.status == .ok) }
        #expect(fixture.service.limits?.state(of: other) == OriginLimits.State())
    }

    @Test("A service keeps the counts of 64 different limits, and those of equal limits are the same")
    func maximum() {
        let table = HopRulesTable(RequestSettings(), clock: .system)
        let first = table.counts(of: OriginLimits(concurrency: 1))
        #expect(first != nil && first === table.counts(of: OriginLimits(concurrency: 1)))
        for number in 2...HopRulesTable.maximum { _ = table.counts(of: OriginLimits(concurrency: number)) }
        #expect(first === table.counts(of: OriginLimits(concurrency: 1)))
        _ = table.counts(of: OriginLimits(concurrency: 1_000))
        #expect(first !== table.counts(of: OriginLimits(concurrency: 1)))
        #expect(table.counts(of: OriginLimits()) == nil)
        for _ in 0...HopRulesTable.maximum {
            _ = table.rules(Self.settings { $0.cookies = .storage(CookieJar()) }, isOfRequest: false)
        }
        #expect(table.usedCookies.count == HopRulesTable.maximum)
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
        request.cookies = .off
        #expect(try await fixture.sent(request).headerFields[.cookie] == nil)
    }

    @Test("A logout clears the cookies of the current environment, and a shutdown saves those of all")
    func logoutAndShutdown() async throws {
        let jars = [SavedCookies(), SavedCookies(), SavedCookies()]
        let snapshots = try jars.dropFirst().enumerated().map { number, jar in
            EnvironmentSnapshot(
                name: "\(number)", baseURL: try RequestURL("https://h\(number)/"),
                settings: Self.settings { $0.cookies = .storage(jar) })
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

    @Test("A logout clears the cookies that requests have chosen themselves")
    func logoutOfRequests() async throws {
        let (own, general) = (SavedCookies(), SavedCookies())
        let service = try ServiceFixture { $0.cookies = general }.service
        var request = DataRequest(.get, "a")
        request.cookies = .storage(own)
        try await service.send(request)
        await service.clearAuthorization()
        #expect(own.cleared == ["h"] && general.cleared == ["h"])
        await service.shutdown()
        #expect(own.flushes == 1)
    }

    // MARK: Levels

    /// Settings that say at which level they were set.
    private static func settings(of level: Int, _ jar: CookieJar, _ has: (Int) -> Bool) -> RequestSettings {
        settings {
            if has(0) {
                $0.retry = .attempts(level + 1)
                $0.retry?.backoff = .exponential(base: .zero)
            }
            if has(1) { $0.redirects = .limit(level + 1) }
            if has(2) { $0.cookies = .storage(jar) }
            if has(3) { $0.idempotencyKey = .text("\(level)") }
            if has(4) { $0.isIdempotent = level.isMultiple(of: 2) }
            if has(5) { $0.limits = OriginLimits(concurrency: level + 1) }
        }
    }

    @Test("Of request, definition, environment and service, the first that has a setting decides", arguments: 0..<40)
    func levels(seed: Int) async throws {
        var random = SeededNumbers(state: UInt64(seed))
        let choices = (0..<4).map { _ in UInt64.random(in: 0..<64, using: &random) }
        let urls = [try RequestURL("https://h/"), try RequestURL("https://other/")]
        let jars = (0..<4).map { level in
            let jar = CookieJar()
            for url in urls { jar.store("level=\(level)", from: url) }
            return jar
        }
        let levels = (0..<4).map { level in
            Self.settings(of: level, jars[level]) { choices[level] & (1 << UInt64($0)) != 0 }
        }
        let transport = StubTransport { request throws(RequestFailure) in
            let isAway = request.url.path.hasPrefix("/away")
            return request.url.path.hasPrefix("/fails")
                ? Self.response(503) : Self.response(307, [.location: isAway ? "https://other/fails" : "/fails"])
        }
        let environment = try ConstantEnvironment("https://h/", settings: levels[2])
        let fixture = ServiceFixture(transport, environment: environment) { $0.settings = levels[3] }
        for path in ["here", "away"] {
            var definition = APIRequest<DataResponse>(.put, RequestPath(path))
            definition.configuration.settings = levels[1]
            var request = try definition.build()
            request.settings = levels[0].merging(over: request.settings)
            let before = transport.requests.count
            _ = try? await fixture.service.send(request)
            let sent = transport.requests.dropFirst(before)
            let first = try #require(sent.first)
            let last = try #require(sent.last)

            /// The first of the levels that apply and have a setting.
            func level(_ setting: Int, _ applying: [Int]) -> Int? {
                applying.first { choices[$0] & (1 << UInt64(setting)) != 0 }
            }
            let everywhere = [0, 1, 2, 3]
            let elsewhere = path == "away" ? [0, 1, 3] : everywhere
            #expect(first.headerFields[.cookie] == level(2, everywhere).map { "level=\($0)" })
            #expect(last.headerFields[.cookie] == level(2, elsewhere).map { "level=\($0)" })
            let key = try #require(HTTPField.Name("Idempotency-Key"))
            #expect(first.headerFields[key] == level(3, everywhere).map { "\($0)" })
            let isIdempotent = level(4, everywhere).map { $0.isMultiple(of: 2) }
            #expect(first.isIdempotent == isIdempotent ?? (level(3, everywhere) == nil ? nil : true))
            let attempts = isIdempotent == false ? 1 : level(0, elsewhere).map { $0 + 1 } ?? 1
            #expect(sent.count == 1 + attempts, "\(path) \(choices)")
        }
        #expect(fixture.service.limits?.settings.concurrency == level5(choices))
    }

    /// The limits that the service shows: those of the environment, or its own.
    private func level5(_ choices: [UInt64]) -> Int? {
        [2, 3].first { choices[$0] & (1 << 5) != 0 }.map { $0 + 1 }
    }

    @Test("A key of an environment or a service is sent with unsafe methods alone")
    func keysOfUnsafeMethods() async throws {
        let key = try #require(HTTPField.Name("Idempotency-Key"))
        let fixtures = [
            try ServiceFixture(environment: environment { $0.idempotencyKey = .automatic }),
            try ServiceFixture { $0.idempotencyKey = .automatic },
        ]
        for fixture in fixtures {
            #expect(try await fixture.sent(DataRequest(.get, "a")).headerFields[key] == nil)
            let first = try await fixture.sent(DataRequest(.post, "a")).headerFields[key]
            let second = try await fixture.sent(DataRequest(.post, "a")).headerFields[key]
            #expect(first != nil && second != nil && first != second)
        }
    }

    @Test("Limits of a definition count its requests apart from all others")
    func limitsOfDefinitions() async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { _ throws(RequestFailure) in
            await gate.opened()
            return Self.response()
        }
        let service = try ServiceFixture(transport).service
        var search = APIRequest<DataResponse>(.get, "search")
        search.configuration.limits = OriginLimits(concurrency: 1)
        let limited = try search.build()
        let tasks = (0..<3).map { _ in Task { try await service.send(limited) } }
        await until { transport.requests.count == 1 }
        let others = (0..<3).map { _ in Task { try await service.send(DataRequest(.get, "other")) } }
        await until { transport.requests.count == 4 }
        #expect(transport.requests.filter { $0.url.path == "/v1/search" }.count == 1)
        gate.open()
        for task in tasks + others { #expect(try await task.value.status == .ok) }
        #expect(transport.requests.count == 6)
    }

    @Test(
        "A graceful shutdown waits for a request as the first level says that has the setting",
        arguments: [
            (nil, nil, nil, true), (nil, nil, false, false), (nil, nil, true, true), (nil, true, false, true),
            (nil, false, true, false),
            (true, false, false, true), (false, true, true, false),
        ] as [(Bool?, Bool?, Bool?, Bool)])
    func finishing(ofRequest: Bool?, ofEnvironment: Bool?, ofService: Bool?, finishes: Bool) async throws {
        let gate = LoopbackGate()
        let transport = StubTransport { _ throws(RequestFailure) in
            await gate.opened()
            guard gate.isOpen else { throw RequestFailure(.cancelled, "The request was cancelled.") }
            return Self.response()
        }
        let environment = try ConstantEnvironment(
            "https://h/", settings: Self.settings { $0.finishesOnShutdown = ofEnvironment })
        let fixture = ServiceFixture(transport, environment: environment) { $0.finishesOnShutdown = ofService }
        var request = DataRequest(.get, "a")
        request.finishesOnShutdown = ofRequest
        let task = Task { [request] in try await fixture.service.send(request) }
        await until { transport.requests.count == 1 }
        let shutdown = Task { await fixture.service.shutdown(grace: .seconds(30)) }
        if finishes {
            await until { fixture.service.isClosed }
            gate.open()
            #expect(try await task.value.status == .ok)
        } else {
            let failure = await #expect(throws: RequestFailure.self) { try await task.value }
            #expect(failure?.reason == .cancelled)
        }
        await shutdown.value
    }

    // MARK: Values

    @Test("Merged settings have each setting of the more specific level, and otherwise that of the general one")
    func merging() {
        let specific = Self.settings {
            $0.retry = .attempts(2)
            $0.joins = false
        }
        let general = Self.settings {
            $0.retry = .attempts(3)
            $0.finishesOnShutdown = true
        }
        let expected = Self.settings {
            $0.retry = .attempts(2)
            $0.joins = false
            $0.finishesOnShutdown = true
        }
        #expect(specific.merging(over: general) == expected)
        #expect(specific.merging(over: RequestSettings()) == specific)
        #expect(RequestSettings().merging(over: general) == general)
        #expect(general.merging(over: specific) != expected)
    }

    @Test("Redirect policies with a closure are equal only in copies of one value")
    func redirectPolicies() {
        let one = Self.settings { $0.redirects = .deciding { _ in .follow } }
        let other = Self.settings { $0.redirects = .deciding { _ in .follow } }
        let copy = one
        #expect(one == copy && one != other && one.hashValue == copy.hashValue)
        #expect(Self.settings { $0.redirects = .limit(3) } == Self.settings { $0.redirects = .limit(3) })
        #expect(Self.settings { $0.redirects = .limit(3) } != Self.settings { $0.redirects = .limit(4) })
    }

    @Test("Settings are equal if their cookies are the same object, and the default of each property is no setting")
    func equality() {
        let (jar, other) = (CookieJar(), CookieJar())
        func choosing(_ choice: CookieChoice?) -> RequestSettings { Self.settings { $0.cookies = choice } }
        #expect(choosing(.storage(jar)) == choosing(.storage(jar)))
        #expect(choosing(.storage(jar)) != choosing(.storage(other)))
        #expect(choosing(.storage(jar)) != choosing(.off))
        #expect(choosing(.off) == choosing(CookieChoice.off) && choosing(.off) != RequestSettings())
        #expect(choosing(nil) == RequestSettings() && choosing(nil).isEmpty)
        #expect(Set([choosing(.storage(jar)), choosing(.storage(jar)), choosing(.off)]).count == 2)
        #expect(Self.settings { $0.limits = OriginLimits() } != RequestSettings())
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
