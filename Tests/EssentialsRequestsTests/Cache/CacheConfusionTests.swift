import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

/// Two services over one cache that differ in one part of the partition.
@Suite("Partitions of the response cache", .timeLimit(.minutes(5)))
struct CacheConfusionTests {
    private static let pinned = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    private static let other = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

    /// Two environments of one server that must not share responses.
    enum Difference: String, CaseIterable, Sendable {
        case tenant, name, pins, otherPins, reportOnly, floor, unlisted, secretField

        var environments: [EnvironmentSnapshot] {
            get throws {
                let base = try RequestURL("https://h/")
                func policy(_ pins: [String], _ mode: PinSet.Mode = .enforce) throws -> TrustPolicy {
                    let set = try PinSet(try pins.map { try .publicKey($0) }, mode: mode, acceptsSinglePin: true)
                    return try TrustPolicy(hosts: [], unlistedHosts: .pinned(set))
                }
                func trusted(_ policy: TrustPolicy?) -> EnvironmentSnapshot {
                    EnvironmentSnapshot(name: "e", baseURL: base, trust: policy)
                }
                let (one, two) = ([CacheConfusionTests.pinned], [CacheConfusionTests.other])
                return switch self {
                case .tenant:
                    try ["a", "b"].map {
                        EnvironmentSnapshot(
                            name: "e", baseURL: base, headerFields: [try #require(.init("X-Tenant")): $0])
                    }
                case .secretField:
                    try ["a", "b"].map {
                        EnvironmentSnapshot(
                            name: "e", baseURL: base, headerFields: [try #require(.init("X-Api-Key")): $0])
                    }
                case .name: ["a", "b"].map { EnvironmentSnapshot(name: $0, baseURL: base) }
                case .pins: [trusted(nil), trusted(try policy(one))]
                case .otherPins: [trusted(try policy(one)), trusted(try policy(two))]
                case .reportOnly: [trusted(try policy(one)), trusted(try policy(one, .reportOnly))]
                case .floor: [trusted(TrustPolicy()), trusted(TrustPolicy(minimumTLS: .tls13))]
                case .unlisted:
                    [trusted(TrustPolicy()), trusted(try TrustPolicy(hosts: [], unlistedHosts: .refused))]
                }
            }
        }
    }

    @Test(
        "Environments and trust policies that differ in one part share no response, in both orders",
        arguments: Difference.allCases, [false, true])
    func environments(difference: Difference, isReversed: Bool) async throws {
        for kind in CacheKind.allCases {
            let origin = CacheOrigin([.cacheControl: "max-age=60"])
            let scratch = try ScratchDirectory()
            var environments = try difference.environments
            if isReversed { environments.reverse() }
            // The second round is after a restart.
            for isRestarted in [false, true] where !isRestarted || kind != .memory {
                let cache = try kind.cache(scratch("cache"))
                let transport = TrustedStub(origin.transport())
                let services = try environments.map {
                    try origin.service(cache, over: transport, environment: ConstantEnvironment($0))
                }
                if !isRestarted {
                    try await expectSeparate(services, origin)
                } else {
                    for (index, service) in services.enumerated() {
                        #expect(try await service.text("a") == "\(index + 1)")
                    }
                    #expect(origin.count == services.count)
                }
                await cache.flush()
            }
        }
    }

    /// Each service fetches once, and then finds its own response.
    private func expectSeparate(_ services: [HTTPDataRequestService], _ origin: CacheOrigin) async throws {
        for (index, service) in services.enumerated() {
            #expect(try await service.text("a") == "\(index + 1)")
        }
        for (index, service) in services.enumerated() {
            let hit = try await service.response("a")
            #expect(hit.text == "\(index + 1)" && hit.cache?.outcome == .hit)
        }
        #expect(origin.count == services.count)
    }

    @Test("Services over transports with different policies share nothing, and those with equal ones share everything")
    func transports() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let cache = ResponseCache()
        let policies = [TrustPolicy(), TrustPolicy(minimumTLS: .tls13)]
        let services = try policies.map {
            try origin.service(cache, over: TrustedStub(origin.transport(), policy: $0))
        }
        try await expectSeparate(services, origin)
        let equal = try origin.service(cache, over: TrustedStub(origin.transport()))
        #expect(try await equal.text("a") == "1")
    }

    @Test("Services over transports that go to different Unix sockets share nothing")
    func routes() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let cache = ResponseCache()
        let services = try ["/run/a", "/run/b"].map {
            try origin.service(
                cache, over: TrustedStub(origin.transport(), route: $0))
        }
        try await expectSeparate(services, origin)
    }

    @Test("Two services over transports that do not say their policy share nothing")
    func unknownPolicy() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let cache = ResponseCache()
        try await expectSeparate([try origin.service(cache), try origin.service(cache)], origin)
    }

    @Test("Requests of one service with different own secrets share no response")
    func secrets() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache())
        let all: [HTTPFields] = [
            [:], [.authorization: "Bearer a"], [.authorization: "Bearer b"], [.cookie: "s=1"], [.cookie: "s=2"],
            [try #require(.init("X-Api-Key")): "a"], [try #require(.init("X-Api-Key")): "b"],
            [try #require(.init("X-Session-Id")): "a"],
        ]
        for (index, fields) in all.enumerated() {
            #expect(try await service.text("a", fields: fields) == "\(index + 1)")
        }
        for (index, fields) in all.enumerated() {
            #expect(try await service.text("a", fields: fields) == "\(index + 1)")
        }
        #expect(origin.count == all.count)
    }

    @Test("Credentials that replace others find nothing of them, and a logout leaves nothing for the next login")
    func sessions() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache())
        #expect(try await service.text("a") == "1")
        service.setAuthorization(try .bearer("ada"))
        #expect(try await service.text("a") == "2")
        #expect(try await service.text("a") == "2")
        service.setAuthorization(try .bearer("bob"))
        #expect(try await service.text("a") == "3")
        await service.clearAuthorization()
        #expect(try await service.text("a") == "1")
        service.setAuthorization(try .bearer("bob"))
        #expect(try await service.text("a") == "4")
    }

    @Test("A token provider's own request has no token, so it neither finds nor stores a response of the account")
    func provider() async throws {
        let origin = CacheOrigin { request in
            .init(fields: [.cacheControl: "max-age=10"], body: request.headerFields[.authorization] ?? "nobody")
        }
        let service = try origin.service(ResponseCache())
        let texts = Mutex<[String]>([])
        let source = NestedProvider {
            let text = try await service.text("a")
            texts.withLock { $0.append(text) }
        }
        service.setAuthorization(.tokens(source, clock: origin.clock.requestClock))
        #expect(try await service.text("a") == "Bearer t")
        origin.clock.advance(by: .seconds(40))
        // The stale response is validated with a new token, whose provider asks for the same URL.
        #expect(try await service.text("a") == "Bearer t")
        #expect(texts.withLock { $0 } == ["nobody", "nobody"])
    }

    @Test("A token that a provider renews keeps the stored responses")
    func tokens() async throws {
        let origin = CacheOrigin { request in
            .init(
                fields: [.cacheControl: "max-age=60", .vary: "Authorization"],
                body: request.headerFields[.authorization] ?? "")
        }
        let tokens = Mutex(0)
        let service = try origin.service(ResponseCache())
        service.setAuthorization(
            .tokens(
                Provider {
                    tokens.withLock { number in
                        number += 1
                        return "t\(number)"
                    }
                }, clock: origin.clock.requestClock))
        #expect(try await service.text("a") == "Bearer t1")
        origin.clock.advance(by: .seconds(40))
        #expect(try await service.text("b") == "Bearer t2")
        #expect(try await service.text("a") == "Bearer t1")
    }

    @Test("Credentials of one named account share responses, also in two services, and its logout removes them")
    func accounts() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let (cache, transport) = (ResponseCache(), origin.transport())
        let trusting = TrustedStub(transport)
        let services = try (0..<2).map { _ in try origin.service(cache, over: trusting) }
        func credentials(_ token: String, _ account: EntityPartition?) throws -> Credentials {
            var credentials = try Credentials.bearer(token)
            credentials.account = account
            return credentials
        }
        services[0].setAuthorization(try credentials("x", "ada"))
        services[1].setAuthorization(try credentials("y", "ada"))
        #expect(try await services[0].text("a") == "1")
        #expect(try await services[1].text("a") == "1")
        services[1].setAuthorization(try credentials("y", "bob"))
        #expect(try await services[1].text("a") == "2")
        #expect(try await services[0].text("a") == "1")
        await services[0].clearAuthorization()
        services[0].setAuthorization(try credentials("x", "ada"))
        #expect(try await services[0].text("a") == "3")
        #expect(try await services[1].text("a") == "2")
    }

    @Test("Responses to requests with cookies of a jar are gone after a logout, also without Vary")
    func jar() async throws {
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let (cache, jar) = (ResponseCache(), CookieJar())
        let service = try origin.service(cache) { $0.cookies = jar }
        jar.store([.setCookie: "s=ada"], from: try RequestURL("https://h/"))
        #expect(try await service.text("a") == "1")
        #expect(try await service.text("a") == "1")
        await service.clearAuthorization()
        jar.store([.setCookie: "s=bob"], from: try RequestURL("https://h/"))
        #expect(try await service.text("a") == "2")
        let other = try origin.service(cache) { $0.cookies = CookieJar() }
        #expect(try await other.text("a") == "3")
    }

    @Test("A response that comes after a logout is neither stored for the next account nor found by it")
    func lateResponse() async throws {
        let gate = LoopbackGate()
        let origin = CacheOrigin { _ in
            await gate.opened()
            return .init(fields: [.cacheControl: "max-age=60"], body: "ada's")
        }
        let cache = ResponseCache()
        let service = try origin.service(cache)
        var credentials = try Credentials.bearer("x")
        credentials.account = "ada"
        service.setAuthorization(credentials)
        let late = Task { try await service.text("a") }
        await until { origin.count == 1 }
        await service.clearAuthorization()
        gate.open()
        _ = try? await late.value
        #expect(await cache.usage.responses == 0)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: "new") }
        service.setAuthorization(credentials)
        #expect(try await service.text("a") == "new")
    }

    @Test("A redirect to another origin is stored there without the account, and without the tenant")
    func foreignHop() async throws {
        let origin = CacheOrigin { request in
            request.url.origin.host.text == "h"
                ? .init(
                    status: .temporaryRedirect, fields: [.location: "https://cdn/x", .cacheControl: "max-age=60"])
                : .init(fields: [.cacheControl: "max-age=60"], body: "picture")
        }
        let (cache, transport) = (ResponseCache(), origin.transport())
        let trusting = TrustedStub(transport)
        let ada = try origin.service(cache, over: trusting)
        ada.setAuthorization(try .bearer("ada"))
        let bob = try origin.service(cache, over: trusting)
        bob.setAuthorization(try .bearer("bob"))
        #expect(try await ada.text("a") == "picture")
        #expect(try await bob.text("a") == "picture")
        #expect(origin.requests.map(\.url.origin.host.text) == ["h", "cdn", "h"])
    }

    @Test("A field that an interceptor adds separates responses, unless it only traces the request")
    func addedFields() async throws {
        let tenant = Mutex("a")
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache()) { configuration in
            configuration.interceptors = [
                Intercepting { draft in
                    try draft.add(.checked(name: "X-Tenant", value: tenant.withLock { $0 }))
                    try draft.add(.checked(name: "X-Request-ID", value: "\(UInt64.random(in: 0 ... .max))"))
                }
            ]
        }
        #expect(try await service.text("a") == "1")
        tenant.withLock { $0 = "b" }
        #expect(try await service.text("a") == "2")
        tenant.withLock { $0 = "a" }
        #expect(try await service.text("a") == "1")
    }

    @Test("Responses to signed requests are stored only for a named account")
    func signed() async throws {
        struct Signer: RequestInterceptor {
            func sign(_ request: inout EncodedRequest) async throws {
                request.headerFields[.date] = "now"
            }
        }
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache()) { $0.interceptors = [Signer()] }
        #expect(try await service.text("a") == "1")
        let second = try await service.response("a")
        #expect(second.text == "2" && second.cache?.isStored == false)
        var credentials = try Credentials.bearer("x")
        credentials.account = "ada"
        service.setAuthorization(credentials)
        #expect(try await service.text("a") == "3")
        #expect(try await service.text("a") == "3")
    }
}

/// Sends a request of its own before it has a token.
private struct NestedProvider: AccessTokenProvider {
    let ask: @Sendable () async throws -> Void

    func token(replacing old: AccessToken?) async throws -> AccessToken {
        try await ask()
        return try AccessToken("t", expiresIn: .seconds(30))
    }
}

private struct Provider: AccessTokenProvider {
    let next: @Sendable () -> String

    func token(replacing old: AccessToken?) async throws -> AccessToken {
        try AccessToken(next(), expiresIn: .seconds(30))
    }
}
