import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("The environment and the account of a fetch", .timeLimit(.minutes(5)))
struct FetchOperationTests {
    private let production = "https://a/v1/"
    private let staging = "https://b/v1/"

    @Test("A fetch that is described in one environment and iterated in another one belongs to the other one")
    func environment() async throws {
        let fixture = try TenantFixture()
        let coins = fixture.service.get("coins", from: .backend, as: Coin.self)
        try fixture.use(staging)
        #expect(try await coins.last()?.value.name == "b")
        for service in [fixture.service, try await fixture.restarted()] {
            try fixture.use(production)
            #expect(try await service.cached() == nil)
            try fixture.use(staging)
            #expect(try await service.cached() == "b")
        }
    }

    @Test("A fetch that is kept in a property uses the environment and the account of each iteration")
    func property() async throws {
        let fixture = try TenantFixture()
        let coins = fixture.service.get("coins", from: .cacheElseBackend, as: Coin.self)
        for account in ["ada", "ben"] as [EntityPartition] {
            fixture.account.enter(account)
            for (base, host) in [(production, "a"), (staging, "b")] {
                try fixture.use(base)
                let first = try await coins.last()
                #expect(first?.source == .backend)
                #expect(first?.value.name == host)
                #expect(try await coins.last()?.source == .cache)
            }
        }
        #expect(fixture.transport.requestCount == 4)
    }

    @Test("A fetch that is described for one account and iterated for another one is stored for the other one")
    func account() async throws {
        let fixture = try TenantFixture()
        fixture.account.enter("ada")
        let coins = fixture.service.get("coins", from: .backend, as: Coin.self)
        fixture.account.enter("ben")
        _ = try await coins.last()
        for service in [fixture.service, try await fixture.restarted()] {
            fixture.account.enter("ada")
            #expect(try await service.cached() == nil)
            fixture.account.enter("ben")
            #expect(try await service.cached() == "a")
        }
    }

    @Test("A service's key that is given to a fetch uses the environment and the account of the iteration")
    func givenKey() async throws {
        let fixture = try TenantFixture()
        fixture.account.enter("ada")
        let key: ModelKey<Coin> = fixture.service.modelKey(named: "favourite")
        let coins = fixture.service.get("coins", from: .backend, key: key)
        try fixture.use(staging)
        fixture.account.enter("ben")
        _ = try await coins.last()
        #expect(await fixture.cache.load(key) == nil)
        #expect(await fixture.cache.load(fixture.service.modelKey(named: "favourite", as: Coin.self)) != nil)
        // A part that the application has set is used as it is.
        var own = key
        own.partition = "cleo"
        _ = try await fixture.service.get("coins", from: .backend, key: own).last()
        #expect(await fixture.cache.load(own)?.value.name == "b")
    }

    @Test("The text of a key contains only its public parts, and keys are equal if these are")
    func keyText() throws {
        let service = try TenantFixture().service
        let made: ModelKey<Coin> = service.modelKey(named: "x")
        let written = ModelKey<Coin>("x", environment: production)
        #expect(made == written)
        #expect(made.hashValue == written.hashValue)
        #expect("\(made)" == "\(written)")
    }

    @Test("An iteration that has begun in another environment sends nothing to the new one, and stores nothing")
    func switchDuringIteration() async throws {
        let fixture = try TenantFixture()
        let cache = TestCache()
        let latch = Latch()
        cache.hold(.load, until: latch)
        let service = fixture.service(over: cache)
        let task = Task { await FetchTrace(service.get("coins", from: .cacheElseBackend)) }
        await cache.begun(.load)
        try fixture.use(staging)
        latch.open()
        #expect(await task.value == FetchTrace([], .cancelled))
        #expect(cache.count == 0)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("A response that arrives after a change of the environment is stored for the environment of its request")
    func lateResponse() async throws {
        let fixture = try TenantFixture()
        let latch = Latch()
        fixture.hold(until: latch)
        let service = fixture.service
        let task = Task { try await service.served() }
        try await fixture.sent(1)
        try fixture.use(staging)
        latch.open()
        #expect(try await task.value == "a")
        #expect(try await service.cached() == nil)
        try fixture.use(production)
        #expect(try await service.cached() == "a")
    }

    @Test(
        "A write deletes outdated models of its own account and environment, even if others are current",
        arguments: 0..<3)
    func outdating(kind: Int) async throws {
        let fixture = try TenantFixture()
        let service = fixture.service
        for account in ["ada", "ben"] as [EntityPartition] {
            fixture.account.enter(account)
            for base in [staging, production] {
                try fixture.use(base)
                _ = try await service.served()
            }
        }
        fixture.account.enter("ada")
        let key: ModelKey<Coin> = service.modelKey(named: "coins")
        let latch = Latch()
        fixture.hold(until: latch)
        let task = Task {
            switch kind {
            case 0: try await service.post("coins", outdating: [.get("coins", as: Coin.self)], as: Coin.self)
            case 1: try await service.fireAndForget(.post, "coins", outdating: [.key(key)])
            default:
                try await service.delete(
                    "coins", outdating: [.request(DataRequest(.get, "coins"), as: Coin.self)])
            }
        }
        try await fixture.sent(5)
        fixture.account.enter("ben")
        try fixture.use(staging)
        latch.open()
        _ = try await task.value
        fixture.hold(until: nil)
        #expect(try await service.cached() == "b")
        try fixture.use(production)
        #expect(try await service.cached() == "a")
        fixture.account.enter("ada")
        #expect(try await service.cached() == nil)
        try fixture.use(staging)
        #expect(try await service.cached() == "b")
    }

    @Test("Filtered and live models are those of the account and environment in which the read begins")
    func filtered() async throws {
        let fixture = try TenantFixture()
        let service = fixture.service
        let all = ModelFilter<Coin>("", in: \Coin.name)
        let key = service.modelKey(named: "list", as: [Coin].self)
        let live = service.liveModels(matching: all, key: key)
        fixture.account.enter("ada")
        let coins = [Coin(name: "Ada's")]
        try await fixture.cache.save(
            CachedModel(coins, date: Date()), for: service.modelKey(named: "list", as: [Coin].self))
        #expect(try await service.models(matching: all, key: key) == coins)
        var reader = live.makeAsyncIterator()
        #expect(await reader.next() == coins)
        fixture.account.enter("ben")
        #expect(try await service.models(matching: all, key: key) == [])
        var other = live.makeAsyncIterator()
        #expect(await other.next() == [])
    }
}
