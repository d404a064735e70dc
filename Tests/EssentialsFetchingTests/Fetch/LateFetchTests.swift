import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Responses that arrive after a logout or a deletion", .timeLimit(.minutes(5)))
struct LateFetchTests {
    /// The events during a fetch.
    enum Event: CaseIterable, Sendable {
        case logout, otherCredentials, deletionOfAccount, deletionOfAll
    }

    private func perform(_ event: Event, in fixture: TenantFixture) async throws {
        switch event {
        case .logout: await fixture.requests.clearAuthorization()
        case .otherCredentials: try fixture.requests.setAuthorization(.bearer("B"))
        case .deletionOfAccount: try await fixture.cache.deleteAll(of: fixture.account.current)
        case .deletionOfAll: try await fixture.cache.deleteAll()
        }
    }

    @Test(
        "A response to a fetch that began before the event is for its caller only", arguments: Event.allCases,
        [EntityPartition.shared, "ada"])
    func late(event: Event, account: EntityPartition) async throws {
        let fixture = try TenantFixture()
        fixture.account.enter(account)
        var service = fixture.service
        service.fetchDefaults.storesSensitiveResponses = true
        try fixture.requests.setAuthorization(.bearer("A"))
        let latch = Latch()
        fixture.hold(until: latch)
        let task = Task { [service] in try await service.served() }
        try await fixture.sent(1)
        try await perform(event, in: fixture)
        latch.open()
        #expect(try await task.value == "a Bearer A")
        fixture.requests.enter(account)
        #expect(try await service.cached() == nil)
        #expect(try await fixture.restarted().cached() == nil)
        // A fetch that begins afterwards is stored.
        let next = try await service.served()
        #expect(try await service.cached() == next)
        #expect(try await fixture.restarted().cached() == next)
    }

    @Test(
        "A fetch that begins after a deletion shares no response with an earlier one, and its own response is stored",
        arguments: [Event.deletionOfAccount, .deletionOfAll], [EntityPartition.shared, "ada"])
    func joined(event: Event, account: EntityPartition) async throws {
        let fixture = try TenantFixture()
        fixture.account.enter(account)
        var service = fixture.service
        service.fetchDefaults.storesSensitiveResponses = true
        let latch = Latch()
        fixture.hold(until: latch)
        let before = Task { [service] in try await service.served() }
        try await fixture.sent(1)
        try await perform(event, in: fixture)
        let after = Task { [service] in try await service.served() }
        try await fixture.sent(2)
        latch.open()
        _ = try await before.value
        let value = try await after.value
        #expect(try await service.cached() == value)
    }

    @Test("The next user does not find the late response of the previous user, not even in a custom cache")
    func ownCache() async throws {
        let fixture = try TenantFixture()
        let cache = TestCache()
        let service = fixture.service(over: cache)
        try fixture.requests.setAuthorization(.bearer("A"))
        let latch = Latch()
        fixture.hold(until: latch)
        let task = Task { try await service.served() }
        try await fixture.sent(1)
        await fixture.requests.clearAuthorization()
        latch.open()
        #expect(try await task.value == "a Bearer A")
        #expect(cache.count == 0)
    }

    @Test("A 404 that arrives after other credentials were set deletes nothing")
    func lateDeletion() async throws {
        let fixture = try TenantFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/gone").answer { request in
            guard request.headerFields[.authorization] == "Bearer A" else {
                return ScriptedAnswer(json: Coin(name: "B's"))
            }
            await latch.wait()
            return ScriptedAnswer(.notFound)
        }
        let service = fixture.service
        try fixture.requests.setAuthorization(.bearer("A"))
        let task = Task { await FetchTrace(service.get("gone", from: .backend)) }
        try await fixture.sent(1)
        try fixture.requests.setAuthorization(.bearer("B"))
        #expect(try await service.served("gone") == "B's")
        latch.open()
        #expect(await task.value == FetchTrace([], .status))
        #expect(try await service.cached("gone") == "B's")
    }

    @Test("A model that is read from the cache while the credentials are replaced is not emitted")
    func lateRead() async throws {
        let fixture = try TenantFixture()
        let cache = TestCache()
        let service = fixture.service(over: cache)
        try fixture.requests.setAuthorization(.bearer("A"))
        _ = try await service.served()
        let latch = Latch()
        cache.hold(.load, until: latch)
        let task = Task { await FetchTrace(service.get("coins", from: .cache)) }
        await cache.begun(.load)
        try fixture.requests.setAuthorization(.bearer("B"))
        latch.open()
        #expect(await task.value == FetchTrace([]))
    }

    @Test("A model that is read from the entity cache while the credentials are replaced does not come back to memory")
    func lateEntity() async throws {
        let fixture = try TenantFixture()
        let entities = TroubledCache()
        var first = fixture.service(over: ModelCache(over: entities))
        first.fetchDefaults.storesSensitiveResponses = true
        try fixture.requests.setAuthorization(.bearer("A"))
        _ = try await first.get("coins", from: .backend, as: Coin.self).last()
        await (first.cache as? ModelCache)?.flush()
        let second = fixture.service(over: ModelCache(over: entities))
        // The first read is for a model without credentials, the second one for a model with them.
        let gates = [(Latch(), Latch()), (Latch(), Latch())]
        entities.gate.withLock { $0 = gates[0] }
        let task = Task { try await second.cached() }
        await gates[0].0.wait()
        entities.gate.withLock { $0 = gates[1] }
        gates[0].1.open()
        await gates[1].0.wait()
        try fixture.requests.setAuthorization(.bearer("B"))
        entities.gate.withLock { $0 = nil }
        gates[1].1.open()
        #expect(try await task.value == nil)
        #expect(try await second.cached() == nil)
    }
}
