import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

/// A service without a cache whose account is that of the application.
private struct UncachedAccountService: FetchingService {
    let requests: any DataRequestService
    let account: CurrentAccount

    var partition: EntityPartition { account.current }
}

@Suite("Credentials and the account of a service", .timeLimit(.minutes(5)))
struct FetchAccountTests {
    @Test(
        "After a change of credentials and before the next account, models of the former account are not used"
    )
    func suspended() async throws {
        let fixture = try TenantFixture()
        let service = fixture.service
        fixture.account.enter("ada")
        try fixture.requests.setAuthorization(.bearer("A"))
        _ = try await service.served()
        _ = try await service.served("list")

        try fixture.requests.setAuthorization(.bearer("B"))
        #expect(try await service.cached() == nil)
        #expect(try await service.get("coins", as: Coin.self).first()?.value.name == "a Bearer B")
        #expect(try await service.served() == "a Bearer B")
        try await service.delete("list", outdating: [.get("list", as: Coin.self)])

        fixture.account.enter("ben")
        #expect(try await service.cached() == nil)
        #expect(try await service.served() == "a Bearer B")
        #expect(try await service.cached() == "a Bearer B")

        try fixture.requests.setAuthorization(.bearer("A-again"))
        fixture.account.enter("ada")
        #expect(try await service.cached() == nil)
        fixture.requests.enter("ada")
        for service in [service, try await fixture.restarted()] {
            #expect(try await service.cached() == "a Bearer A")
            #expect(try await service.cached("list") == "a Bearer A")
        }
    }

    @Test("An account is suspended even if its first fetch is in progress")
    func suspendedDuringFirst() async throws {
        let fixture = try TenantFixture()
        let service = fixture.service
        fixture.account.enter("ada")
        try fixture.requests.setAuthorization(.bearer("A"))
        let latch = Latch()
        fixture.hold(until: latch)
        let task = Task { try await service.served() }
        try await fixture.sent(1)
        try fixture.requests.setAuthorization(.bearer("B"))
        latch.open()
        _ = try await task.value
        #expect(try await service.served() == "a Bearer B")
        try fixture.requests.setAuthorization(.bearer("A-again"))
        fixture.requests.enter("ada")
        #expect(try await service.cached() == nil)
        #expect(try await fixture.restarted().cached() == nil)
    }

    @Test("The first credentials suspend nothing, and neither do equal ones")
    func firstCredentials() async throws {
        let fixture = try TenantFixture()
        let service = fixture.service
        fixture.account.enter("ada")
        _ = try await service.served()
        for _ in 0..<2 {
            try fixture.requests.setAuthorization(.bearer("A"))
            #expect(try await service.cached() == "a")
        }
    }

    @Test("Live models of an account are empty while it is suspended, and are found again when it is entered")
    func live() async throws {
        let fixture = try TenantFixture()
        let service = fixture.service
        fixture.account.enter("ada")
        try fixture.requests.setAuthorization(.bearer("A"))
        let coins = [Coin(name: "Ada's")]
        let key = service.modelKey(named: "list", as: [Coin].self)
        try await fixture.cache.save(CachedModel(coins, date: Date()), for: key)
        var reader = service.liveModels(matching: ModelFilter("", in: \Coin.name), key: key).makeAsyncIterator()
        #expect(await reader.next() == coins)
        try fixture.requests.setAuthorization(.bearer("B"))
        #expect(await reader.next() == [])
        #expect(try await service.models(matching: ModelFilter("", in: \Coin.name), key: key) == [])
        try fixture.requests.setAuthorization(.bearer("A-again"))
        #expect(await reader.next() == [])
        fixture.requests.enter("ada")
        #expect(await reader.next() == coins)
    }

    @Test("A shared fetch shows nothing of the former user to iterations that begin after other credentials were set")
    func sharedFetch() async throws {
        let fixture = try TenantFixture()
        try fixture.requests.setAuthorization(.bearer("A"))
        let coins = fixture.service.get("coins", from: .backend, as: Coin.self).shared()
        #expect(try await coins.last()?.value.name == "a Bearer A")
        #expect(try await coins.first()?.value.name == "a Bearer A")
        try fixture.requests.setAuthorization(.bearer("B"))
        #expect(try await coins.first() == nil)
    }

    @Test("A shared fetch that began without credentials shows nothing of the first user to the next one")
    func sharedFetchOfNobody() async throws {
        let fixture = try TenantFixture()
        for isCached in [false, true] {
            await fixture.requests.clearAuthorization()
            let early = fixture.service.get("early", from: .backend, as: Coin.self).shared()
            #expect(try await early.last()?.value.name == "a")
            // The fetch begins now, and reads the cache and sends its request after the login.
            let (cache, latch) = (TestCache(), Latch())
            cache.hold(.load, until: latch)
            let service = fixture.service(over: cache)
            let coins = service.get("coins", from: isCached ? .cache : .cacheElseBackend, as: Coin.self).shared()
            await cache.begun(.load)
            try fixture.requests.setAuthorization(.bearer("A"))
            if isCached { _ = try await service.served() }
            latch.open()
            #expect(try await coins.last()?.value.name == "a Bearer A")
            try fixture.requests.setAuthorization(.bearer("B"))
            #expect(try await coins.first() == nil)
            // A value that was received before the login belongs to no account.
            #expect(try await early.first()?.value.name == "a")
        }
    }

    @Test("A reader of a shared fetch that began for a former user receives nothing that was fetched for the next one")
    func readerOfFormerUser() async throws {
        let fixture = try TenantFixture()
        try fixture.requests.setAuthorization(.bearer("A"))
        let service = fixture.service
        let former = service.get("coins", from: .backend, as: Coin.self).shared().source
        let reader = try #require(former.beginReading())
        try fixture.requests.setAuthorization(.bearer("B"))
        let later = service.get("coins", from: .backend, as: Coin.self)
        let emission = try #require(try await later.source.beginShared().next())
        #expect(!emission.isFor(reader))
        let next = try #require(later.source.beginReading())
        #expect(emission.isFor(next))
    }

    @Test("Values that a shared fetch has received without credentials stay after credentials were cleared")
    func sharedFetchWithoutLogin() async throws {
        let fixture = try TenantFixture()
        let latch = Latch()
        fixture.hold(until: latch)
        let coins = fixture.service.get("coins", from: .backend, as: Coin.self).shared()
        try await fixture.sent(1)
        await fixture.requests.clearAuthorization()
        latch.open()
        #expect(try await coins.last()?.value.name == "a")
        #expect(try await coins.first()?.value.name == "a")
    }

    @Test("A shared fetch whose request had a cookie or the caller's own credentials ends when credentials are cleared")
    func sharedFetchOfSession() async throws {
        let jar = CookieJar()
        let fixture = try TenantFixture { $0.cookies = jar }
        fixture.transport.on(.get, "/v1/login").answer { _ in
            ScriptedAnswer(json: Coin(name: "login"), headerFields: [.setCookie: "session=1"])
        }
        for hasCookie in [false, true] {
            let fields: HTTPFields = hasCookie ? [:] : [.authorization: "Bearer own"]
            if hasCookie { _ = try await fixture.service.served("login") }
            let coins = fixture.service.get("coins", headerFields: fields, from: .backend, as: Coin.self).shared()
            #expect(try await coins.last()?.value.name == (hasCookie ? "a" : "a Bearer own"))
            #expect(try await coins.first() != nil)
            await fixture.requests.clearAuthorization()
            #expect(try await coins.first() == nil)
        }
    }

    @Test("A shared fetch at another origin ends with the credentials of that origin")
    func sharedFetchAtOtherOrigin() async throws {
        let fixture = try TenantFixture()
        let other = EnvironmentSnapshot(baseURL: try RequestURL("https://b/v1/"))
        try fixture.requests.setAuthorization(.bearer("A"), for: other)
        var request = DataRequest(.get, "coins")
        request.base = RequestBase(other.baseURL)
        let coins = fixture.service.fetch(request, from: .backend, as: Coin.self).shared()
        #expect(try await coins.last()?.value.name == "b Bearer A")
        #expect(try await coins.first() != nil)
        try fixture.requests.setAuthorization(.bearer("B"), for: other)
        #expect(try await coins.first() == nil)
    }

    @Test("A shared fetch shows nothing to iterations that begin in another environment or for another account")
    func sharedFetchElsewhere() async throws {
        let fixture = try TenantFixture()
        let uncached = UncachedAccountService(requests: fixture.requests, account: fixture.account)
        let both: [Emissions<Coin>] = [
            fixture.service.get("coins", from: .backend).shared(), uncached.get("coins").shared(),
        ]
        for coins in both {
            #expect(try await coins.last()?.value.name == "a")
            var earlier = coins.makeAsyncIterator()
            fixture.account.enter("ada")
            #expect(try await coins.first() == nil)
            fixture.account.enter(.shared)
            try fixture.use("https://a/v1/", [TenantFixture.tenant: "nine"])
            #expect(try await coins.first() == nil)
            #expect(try await earlier.next()?.value.name == "a")
            try fixture.use("https://a/v1/")
            #expect(try await coins.first()?.value.name == "a")
        }
    }

    @Test("A shared fetch of a suspended account shows nothing, and no other account receives its failure")
    func sharedFetchOfSuspended() async throws {
        let fixture = try TenantFixture()
        fixture.account.enter("ada")
        try fixture.requests.setAuthorization(.bearer("A"))
        _ = try await fixture.service.served()
        await fixture.requests.clearAuthorization()
        fixture.requests.enter("ada")
        let coins = fixture.service.get("coins", from: .cache, as: Coin.self).shared()
        #expect(try await coins.last()?.value.name == "a Bearer A")
        try fixture.requests.setAuthorization(.bearer("A"))
        try fixture.requests.setAuthorization(.bearer("B"))
        #expect(try await fixture.service.cached() == nil)
        #expect(try await coins.first() == nil)

        fixture.account.enter(.shared)
        fixture.transport.on(.get, "/v1/refused").answer { _ in ScriptedAnswer(.forbidden) }
        let refused = fixture.service.get("refused", from: .backend, as: Coin.self).shared()
        await #expect(throws: RequestFailure.self) { try await refused.last() }
        try fixture.requests.setAuthorization(.bearer("C"))
        #expect(try await refused.last() == nil)
    }

    // MARK: Without an account

    @Test("Without an account the cached value of former credentials is not emitted, with any cache")
    func withoutAccount() async throws {
        let fixture = try TenantFixture()
        let caches: [any AsyncCache] = [
            fixture.cache, ModelCache(), ModelCache(over: MemoryEntityCache()), TestCache(),
            ObservedCache(ModelCache()),
        ]
        for cache in caches {
            let service = fixture.service(over: cache)
            try fixture.requests.setAuthorization(.bearer("A"))
            _ = try await service.served()
            #expect(try await service.cached() == "a Bearer A")
            try fixture.requests.setAuthorization(.bearer("B"))
            #expect(await FetchTrace(service.get("coins")) == FetchTrace(["backend a Bearer B"]), "\(type(of: cache))")
            await fixture.requests.clearAuthorization()
            #expect(try await service.cached() == nil, "\(type(of: cache))")
        }
    }

    @Test("Equal credentials that are set again keep models that were fetched without an account")
    func tokens() async throws {
        let fixture = try TenantFixture()
        let service = fixture.service
        let credentials = try Credentials.bearer("A")
        fixture.requests.setAuthorization(credentials)
        _ = try await service.served()
        fixture.requests.setAuthorization(credentials)
        #expect(try await service.cached() == "a Bearer A")
    }

    @Test(
        "A logout and other credentials remove only models of that origin's credentials without an account",
        arguments: [false, true])
    func selection(isLogout: Bool) async throws {
        let fixture = try TenantFixture()
        var service = fixture.service
        service.fetchDefaults.storesSensitiveResponses = true
        func restarted() async throws -> AccountService {
            var next = try await fixture.restarted()
            next.fetchDefaults = service.fetchDefaults
            return next
        }
        _ = try await service.served("public")
        try fixture.requests.setAuthorization(.bearer("A"))
        _ = try await service.served("personal")
        fixture.account.enter("ada")
        _ = try await service.served("personal")
        fixture.account.enter(.shared)
        try fixture.use("https://b/v1/")
        try fixture.requests.setAuthorization(.bearer("other-origin"))
        _ = try await service.served("personal")
        try fixture.use("https://a/v1/")
        #expect(try await restarted().cached("personal") == "a Bearer A")

        if isLogout {
            await fixture.requests.clearAuthorization()
        } else {
            try fixture.requests.setAuthorization(.bearer("B"))
        }
        for service in [service, try await restarted()] {
            fixture.account.enter(.shared)
            #expect(try await service.cached("personal") == nil)
            #expect(try await service.cached("public") == "a")
            try fixture.use("https://b/v1/")
            #expect(try await service.cached("personal") == "b Bearer other-origin")
            try fixture.use("https://a/v1/")
            fixture.account.enter("ada")
            fixture.requests.enter("ada")
            #expect(try await service.cached("personal") == "a Bearer A")
        }
    }

    @Test("If a model was fetched with and without credentials, only the newest one is found")
    func replacing() async throws {
        let fixture = try TenantFixture()
        var service = fixture.service
        service.fetchDefaults.storesSensitiveResponses = true
        for authorization in ["", "A", "A"] {
            if !authorization.isEmpty { try fixture.requests.setAuthorization(.bearer(authorization)) }
            let name = try await service.served()
            #expect(try await service.cached() == name)
            #expect(try await fixture.restarted().cached() == name)
        }
        #expect(fixture.directory.names.filter { $0.hasSuffix(".record") }.count == 1)
        await fixture.requests.clearAuthorization()
        let name = try await service.served()
        #expect(name == "a")
        #expect(try await fixture.restarted().cached() == "a")
        try await fixture.cache.deleteAll(of: .shared)
        #expect(try await service.cached() == nil)
        #expect(try await fixture.restarted().cached() == nil)
    }

    @Test("A deletion finds a model that was fetched with credentials, even after a restart")
    func deletion() async throws {
        let fixture = try TenantFixture()
        var service = fixture.service
        service.fetchDefaults.storesSensitiveResponses = true
        try fixture.requests.setAuthorization(.bearer("A"))
        _ = try await service.served()
        _ = try await service.served("list")
        let next = try await fixture.restarted()
        try await next.delete("coins", outdating: [.get("coins", as: Coin.self)])
        #expect(try await next.cached() == nil)
        #expect(try await next.cached("list") == "a Bearer A")
        let cache = try #require(next.cache as? ModelCache)
        try await cache.deleteAll(of: .shared)
        #expect(try await next.cached("list") == nil)
        await cache.flush()
        #expect(fixture.directory.names.filter { $0.hasSuffix(".record") } == [])
    }

    @Test("A cache that a service uses joins its data-request service once, even behind decorators and other caches")
    func joining() async throws {
        let fixture = try TenantFixture()
        let cache = ModelCache()
        let requests = ActivityCounter().counting(fixture.requests)
        let service = AccountService(requests: requests, cache: ObservedCache(cache), account: fixture.account)
        try fixture.requests.setAuthorization(.bearer("A"))
        for _ in 0..<3 { _ = try await service.served() }
        #expect(cache.membership.hasJoined)
        await fixture.requests.clearAuthorization()
        #expect(cache.count == 0)
    }

    @Test("The text of a cached model shows no credentials")
    func text() throws {
        let fixture = try TenantFixture()
        try fixture.requests.setAuthorization(.bearer("secret"))
        var model = CachedModel(1, date: Date())
        model.provenance = fixture.service.beginFetch().provenance(isPersonal: true)
        var text = ""
        dump(model, to: &text)
        #expect(!text.contains("secret") && !"\(model)".contains("secret"))
        #expect(model == CachedModel(1, date: model.date))
    }

    @Test("Without an account a write that ends after a logout deletes no model of the next credentials")
    func lateWrite() async throws {
        let (fixture, latch) = (try TenantFixture(), Latch())
        let service = fixture.service
        fixture.transport.on(.delete, "/v1/coins").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.noContent)
        }
        try fixture.requests.setAuthorization(.bearer("A"))
        let write = Task { try await service.delete("coins", outdating: [.get("coins", as: Coin.self)]) }
        try await fixture.sent(1)
        await fixture.requests.clearAuthorization()
        try fixture.requests.setAuthorization(.bearer("B"))
        #expect(try await service.served() == "a Bearer B")
        latch.open()
        try await write.value
        #expect(try await service.cached() == "a Bearer B")
    }
}
