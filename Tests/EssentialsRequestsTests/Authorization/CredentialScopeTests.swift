import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("For whom a request is sent", .timeLimit(.minutes(5))) struct CredentialScopeTests {
    /// A service whose interceptor waits for a gate, so that credentials can change meanwhile.
    private struct Waiting {
        let begun = LoopbackGate()
        let gate = LoopbackGate()
        let fixture: ServiceFixture
        var service: HTTPDataRequestService { fixture.service }

        init(_ transport: StubTransport = StubTransport()) throws {
            fixture = try ServiceFixture(transport) { [begun, gate] configuration in
                configuration.interceptors = [
                    Intercepting { _ in
                        begun.open()
                        await gate.opened()
                    }
                ]
            }
        }

        /// Sends a request, and changes something while its interceptor waits.
        func send(_ request: DataRequest, meanwhile change: () async throws -> Void) async throws -> RequestFailure? {
            async let result = service.sending(request)
            await begun.opened()
            try await change()
            gate.open()
            return await result
        }
    }

    private let ada: Credentials
    private let bob: Credentials

    init() throws { (ada, bob) = (try .bearer("ada"), try .bearer("bob")) }

    private static func response(
        _ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:]
    ) -> TransportResponse {
        TransportResponse(HTTPResponse(status: status, headerFields: fields), body: ResponseBody(Data("{}".utf8)))
    }

    @Test("A request whose interceptor waits while one user leaves and another comes is not sent")
    func replacedWhilePreparing() async throws {
        let waiting = try Waiting()
        waiting.service.setAuthorization(ada)
        let failure = try await waiting.send(DataRequest(.put, "profile")) {
            await waiting.service.clearAuthorization()
            waiting.service.setAuthorization(bob)
        }
        #expect(failure?.reason == .authorization)
        #expect(failure?.transmission == .unsent)
        #expect(waiting.fixture.transport.requests.isEmpty)
    }

    @Test("So it is if the credentials are only replaced, or only cleared", arguments: [true, false])
    func replacedOnly(isReplaced: Bool) async throws {
        let waiting = try Waiting()
        waiting.service.setAuthorization(ada)
        let failure = try await waiting.send(DataRequest(.put, "profile")) {
            if isReplaced {
                waiting.service.setAuthorization(bob)
            } else {
                await waiting.service.clearAuthorization()
            }
        }
        #expect(failure?.reason == .authorization)
        #expect(waiting.fixture.transport.requests.isEmpty)
    }

    @Test("An interceptor can log in: a request without credentials takes those that are there when it is prepared")
    func loggedInMeanwhile() async throws {
        let waiting = try Waiting()
        let failure = try await waiting.send(DataRequest(.get, "profile")) { waiting.service.setAuthorization(ada) }
        #expect(failure == nil)
        #expect(try waiting.fixture.last().headerFields[.authorization] == "Bearer ada")
    }

    @Test("A retry of a request without credentials has no cookies after a login, because they are of the new session")
    func cookiesOfLogin() async throws {
        let (clock, jar) = (ManualClock(), CookieJar())
        let fixture = try ServiceFixture(StubTransport(status: 503)) { configuration in
            configuration.clock = clock.requestClock
            configuration.retry = .standard
            configuration.cookies = jar
        }
        let url = try RequestURL("https://h/v1/x")
        jar.store("visitor=1; Path=/", from: url)
        async let result = fixture.service.sending(DataRequest(.get, "x"))
        await clock.waitForSleepers(count: 1)
        fixture.service.setAuthorization(ada)
        jar.store("session=ada; Path=/", from: url)
        clock.advance(by: .seconds(60))
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(60))
        #expect(await result?.reason == .status)
        let cookies = fixture.transport.requests.map { $0.headerFields[.cookie] }
        #expect(cookies.first == "visitor=1")
        #expect(cookies.count > 1 && cookies.dropFirst().allSatisfy { $0 == nil })
        #expect(fixture.transport.requests.allSatisfy { $0.headerFields[.authorization] == nil })
    }

    @Test("A request without credentials is not sent after a logout, because its cookies would be another user's")
    func clearedWithoutCredentials() async throws {
        let waiting = try Waiting()
        let failure = try await waiting.send(DataRequest(.put, "profile")) {
            await waiting.service.clearAuthorization()
        }
        #expect(failure?.reason == .authorization)
        #expect(waiting.fixture.transport.requests.isEmpty)
    }

    @Test("Equal credentials, and a change of the environment, end nothing")
    func equalCredentials() async throws {
        let waiting = try Waiting()
        waiting.service.setAuthorization(ada)
        let failure = try await waiting.send(DataRequest(.get, "profile")) { waiting.service.setAuthorization(ada) }
        #expect(failure == nil)
        #expect(try waiting.fixture.last().headerFields[.authorization] == "Bearer ada")
    }

    @Test("Credentials of another origin end nothing")
    func otherOrigin() async throws {
        let environment = try MutableEnvironment("https://a/")
        let begun = LoopbackGate()
        let gate = LoopbackGate()
        let fixture = ServiceFixture(environment: environment) { configuration in
            configuration.interceptors = [
                Intercepting { _ in
                    begun.open()
                    await gate.opened()
                }
            ]
        }
        fixture.service.setAuthorization(ada)
        async let result = fixture.service.sending(DataRequest(.get, "x"))
        await begun.opened()
        try environment.set(baseURL: "https://b/")
        fixture.service.setAuthorization(bob)
        await fixture.service.clearAuthorization()
        gate.open()
        #expect(await result == nil)
        #expect(try fixture.last().headerFields[.authorization] == "Bearer ada")
        #expect(try fixture.last().url.origin.host.text == "a")
    }

    @Test("Credentials of an environment that is not current are sent after a switch, and cleared without one")
    func otherEnvironment() async throws {
        let environment = try MutableEnvironment("https://a/")
        let fixture = ServiceFixture(environment: environment) { _ in }
        let other = EnvironmentSnapshot(name: "b", baseURL: try RequestURL("https://b/v1/"))
        fixture.service.setAuthorization(ada)
        fixture.service.setAuthorization(bob, for: other)
        #expect(await fixture.service.sending(DataRequest(.get, "x")) == nil)
        #expect(try fixture.last().headerFields[.authorization] == "Bearer ada")
        environment.set(other)
        #expect(await fixture.service.sending(DataRequest(.get, "x")) == nil)
        #expect(try fixture.last().headerFields[.authorization] == "Bearer bob")
        try environment.set(baseURL: "https://a/")
        await fixture.service.clearAuthorization(for: other)
        #expect(await fixture.service.sending(DataRequest(.get, "x")) == nil)
        #expect(try fixture.last().headerFields[.authorization] == "Bearer ada")
        environment.set(other)
        #expect(await fixture.service.sending(DataRequest(.get, "x")) == nil)
        #expect(try fixture.last().headerFields[.authorization] == nil)
    }

    @Test("A retry that waits is not sent after a logout")
    func retry() async throws {
        let clock = ManualClock()
        let fixture = try ServiceFixture(StubTransport(status: 503)) { configuration in
            configuration.clock = clock.requestClock
            configuration.retry = .standard
        }
        fixture.service.setAuthorization(ada)
        async let result = fixture.service.sending(DataRequest(.get, "x"))
        await clock.waitForSleepers(count: 1)
        await fixture.service.clearAuthorization()
        fixture.service.setAuthorization(bob)
        clock.advance(by: .seconds(60))
        #expect(await result?.reason == .authorization)
        #expect(fixture.transport.requests.map { $0.headerFields[.authorization] } == ["Bearer ada"])
    }

    @Test("A redirect is not followed after the credentials were replaced")
    func redirect() async throws {
        let box = Mutex<HTTPDataRequestService?>(nil)
        let transport = StubTransport { [bob] request throws(RequestFailure) in
            guard request.url.path.hasSuffix("/a") else { return Self.response() }
            box.withLock { $0 }?.setAuthorization(bob)
            return Self.response(.found, [.location: "b"])
        }
        let fixture = try ServiceFixture(transport)
        box.withLock { $0 = fixture.service }
        fixture.service.setAuthorization(ada)
        #expect(await fixture.service.sending(DataRequest(.get, "a"))?.reason == .authorization)
        #expect(transport.requests.count == 1)
        box.withLock { $0 = nil }
    }

    @Test("The pages of a list are requested for one user, and the list ends when that one leaves")
    func pages() async throws {
        let next = HTTPField(name: try #require(.init("Link")), value: "<https://h/v1/list?page=2>; rel=\"next\"")
        let transport = StubTransport { _ throws(RequestFailure) in
            TransportResponse(
                HTTPResponse(status: .ok, headerFields: HTTPFields([next])), body: ResponseBody(Data("[1]".utf8)))
        }
        let fixture = try ServiceFixture(transport)
        fixture.service.setAuthorization(ada)
        var pages = fixture.service.pages(of: DataRequest(.get, "list"), as: [Int].self)
            .makeAsyncIterator()
        #expect(try await pages.next()?.model == [1])
        fixture.service.setAuthorization(bob)
        await #expect { try await pages.next() } throws: { ($0 as? RequestFailure)?.reason == .authorization }
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer ada"])
    }

    @Test("A request that waits for a token fails if the token source is replaced by another one")
    func tokens() async throws {
        let gate = LoopbackGate()
        let begun = LoopbackGate()
        let slow = Credentials.tokens(GatedProvider(begun, gate))
        let fixture = try ServiceFixture()
        fixture.service.setAuthorization(slow)
        async let result = fixture.service.sending(DataRequest(.get, "x"))
        await begun.opened()
        fixture.service.setAuthorization(bob)
        #expect(await result?.reason == .authorization)
        gate.open()
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("Setting the same token source again lets waiting requests go on")
    func sameTokens() async throws {
        let gate = LoopbackGate()
        let begun = LoopbackGate()
        let source = Credentials.tokens(GatedProvider(begun, gate))
        let fixture = try ServiceFixture()
        fixture.service.setAuthorization(source)
        async let result = fixture.service.sending(DataRequest(.get, "x"))
        await begun.opened()
        fixture.service.setAuthorization(source)
        gate.open()
        #expect(await result == nil)
        #expect(try fixture.last().headerFields[.authorization] == "Bearer slow")
    }

    // MARK: Cookies

    private func settingCookie(
        _ meanwhile: @escaping @Sendable (CookieJar, HTTPDataRequestService) async -> Void, file: CookieJar? = nil,
        domain: String = ""
    ) async throws -> CookieJar {
        let jar = file ?? CookieJar()
        let box = Mutex<HTTPDataRequestService?>(nil)
        let transport = StubTransport { request throws(RequestFailure) in
            guard request.url.path.hasSuffix("/slow"), let service = box.withLock({ $0 }) else {
                return Self.response()
            }
            await meanwhile(jar, service)
            return Self.response(.ok, [.setCookie: "session=ada; Path=/\(domain)"])
        }
        let fixture = try ServiceFixture(transport, base: "https://api.h.example/v1/") { $0.cookies = jar }
        box.withLock { $0 = fixture.service }
        fixture.service.setAuthorization(ada)
        _ = try await fixture.service.send(DataRequest(.get, "slow"))
        fixture.service.setAuthorization(bob)
        _ = try await fixture.service.send(DataRequest(.get, "next"))
        #expect(transport.requests.last?.headerFields[.authorization] == "Bearer bob")
        #expect(transport.requests.last?.headerFields[.cookie] == nil)
        box.withLock { $0 = nil }
        return jar
    }

    @Test("A response that was under way at a logout sets no cookie")
    func lateCookie() async throws {
        let jar = try await settingCookie { _, service in await service.clearAuthorization() }
        #expect(jar.count == 0)
    }

    @Test("Nor does it in the file of a jar, from which the former cookies are gone too")
    func lateCookieInFile() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let opened = { () throws(RequestFailure) in
            try CookieJar(file: CookieFile(path, keepsSessionCookies: true))
        }
        let jar = try opened()
        jar.store("balance=7; Path=/", from: try RequestURL("https://api.h.example/"))
        try await jar.flush()
        #expect(try opened().count == 1)
        _ = try await settingCookie({ _, service in await service.clearAuthorization() }, file: jar)
        try await jar.flush()
        #expect(try opened().count == 0)
    }

    @Test("So it is if the cookies of the jar are removed by hand, or through another service")
    func removedCookie() async throws {
        #expect(try await settingCookie { jar, _ in jar.removeAll() }.count == 0)
        let other = try HostName("api.h.example")
        #expect(try await settingCookie { jar, _ in jar.removeCookies(visibleTo: other) }.count == 0)
    }

    @Test("A late cookie of another host that the cleared host would receive is not set")
    func parentDomain() throws {
        let jar = CookieJar(publicSuffixes: .hostOnly(exceptBelow: ["h.example"]))
        let begun = Epoch.now
        jar.removeCookies(visibleTo: try HostName("api.h.example"))
        let url = try RequestURL("https://login.h.example/")
        let fields: HTTPFields = [.setCookie: "session=ada; Domain=h.example"]
        #expect(jar.store(fields, from: url, since: begun) == [.cleared])
        #expect(jar.store([.setCookie: "own=1"], from: url, since: begun) == [])
        #expect(jar.store(fields, from: url, since: .now) == [])
    }

    @Test("Credentials that replace others remove the cookies of their origin, and the first ones do not")
    func cookiesOfScopes() throws {
        let jar = CookieJar()
        let fixture = try ServiceFixture { $0.cookies = jar }
        jar.store("balance=7; Path=/", from: try RequestURL("https://h/"))
        fixture.service.setAuthorization(ada)
        #expect(jar.count == 1)
        fixture.service.setAuthorization(ada)
        #expect(jar.count == 1)
        fixture.service.setAuthorization(bob)
        #expect(jar.count == 0)
    }

    // MARK: Accounts

    @Test("Other credentials suspend an account until it is entered again, and the first ones do not")
    func accounts() async throws {
        let service = try ServiceFixture().service
        #expect(service.operation().admits("a"))
        service.setAuthorization(ada)
        #expect(service.operation().admits("a"))
        let early = service.operation()
        service.setAuthorization(bob)
        #expect(early.hasEnded && !early.admits("a"))
        #expect(!service.operation().admits("a"))
        #expect(service.operation().admits("b"))
        #expect(service.operation().admits(.shared))
        service.enter("a")
        #expect(service.operation().admits("a"))
        await service.clearAuthorization()
        #expect(!service.operation().admits("a"))
    }

    @Test("Stores hear of credentials that replace others, and of no others")
    func stores() async throws {
        let store = ReplacementCounter()
        let service = try ServiceFixture().service
        try service.add(privateStateStore: store)
        service.setAuthorization(ada)
        service.setAuthorization(ada)
        #expect(store.count.withLock { $0 } == 0)
        service.setAuthorization(bob)
        #expect(store.count.withLock { $0 } == 1)
        await service.clearAuthorization()
        service.setAuthorization(ada)
        #expect(store.count.withLock { $0 } == 1)
    }

    @Test("A logout returns after five seconds although a store does not respond, and lets all others begin")
    func patience() async throws {
        let clock = ManualClock()
        let stuck = LoopbackGate()
        let service = try ServiceFixture { $0.clock = clock.requestClock }.service
        let (first, second) = (GatedStore(stuck), GatedStore(nil))
        try service.add(privateStateStore: first)
        try service.add(privateStateStore: second)
        async let logout: Void = service.clearAuthorization()
        await clock.waitForSleepers(count: 1)
        #expect(first.hasBegun.withLock { $0 } && second.hasBegun.withLock { $0 })
        clock.advance(by: .seconds(5))
        await logout
        stuck.open()
    }
}

extension DataRequestService {
    /// Sends a request and returns its failure.
    fileprivate func sending(_ request: DataRequest) async -> RequestFailure? {
        do throws(RequestFailure) {
            _ = try await send(request)
            return nil
        } catch {
            return error
        }
    }
}

private struct GatedProvider: AccessTokenProvider {
    let begun: LoopbackGate
    let gate: LoopbackGate

    init(_ begun: LoopbackGate, _ gate: LoopbackGate) { (self.begun, self.gate) = (begun, gate) }

    func token(replacing old: AccessToken?) async throws -> AccessToken {
        begun.open()
        await gate.opened()
        return try AccessToken("slow")
    }
}

private final class ReplacementCounter: PrivateStateStore {
    let count = Mutex(0)
    func clearPrivateState(of origin: Origin) async {}
    func credentialsWereReplaced(at origin: Origin) { count.withLock { $0 += 1 } }
}

private final class GatedStore: PrivateStateStore {
    let hasBegun = Mutex(false)
    let gate: LoopbackGate?
    init(_ gate: LoopbackGate?) { self.gate = gate }
    func clearPrivateState(of origin: Origin) async {
        hasBegun.withLock { $0 = true }
        await gate?.opened()
    }
}
