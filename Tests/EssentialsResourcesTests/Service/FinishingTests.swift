import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

/// A resource service that finishes before it is closed.
@Suite("Finishing a resource service", .leavesNothing, .timeLimit(.minutes(5)))
struct FinishingTests {
    @Test("It waits for loads that run")
    func loads() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: 1, after: .seconds(1))
        let item: Resource<Int> = fixture.service.resource("item")
        let load = Task { try await item.load() }
        await fixture.clock.waitForSleepers(count: 1)
        let finished = OneShot<Void>()
        let finishing = Task {
            await fixture.service.finish(within: .seconds(600))
            finished.provide(())
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!finished.isProvided)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await load.value == 1)
        await finishing.value
        await fixture.service.close()
    }

    @Test("It ends regular loads")
    func regularLoads() async throws {
        let fixture = try ResourceFixture { $0.defaults.refresh = .every(.seconds(10)) }
        fixture.transport.on(.get, "/v1/item").answer(json: 1)
        let item: Resource<Int> = fixture.service.resource("item")
        let observation = item.observeSynchronously { _ in }
        try await item.load()
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(10))
        _ = try await fixture.transport.request(number: 2)
        await fixture.service.finish(within: .seconds(600))
        fixture.clock.advance(by: .seconds(100))
        for _ in 0..<100 { await Task.yield() }
        #expect(fixture.transport.requestCount == 2)
        observation.cancel()
        await fixture.service.close()
    }

    @Test("A service with requests of its own finishes them when its loads have ended")
    func ownRequests() async throws {
        let fixture = try ResourceFixture()
        fixture.service.own(fixture.requests)
        fixture.transport.on(.get, "/v1/item").answer(json: 1, after: .seconds(1))
        let item: Resource<Int> = fixture.service.resource("item")
        let load = Task { try await item.load() }
        await fixture.clock.waitForSleepers(count: 1)
        let finishing = Task { await fixture.service.finish(within: .seconds(600)) }
        await fixture.clock.waitForSleepers(count: 2)
        #expect(!fixture.requests.isClosed)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await load.value == 1)
        await finishing.value
        #expect(fixture.requests.isClosed)
        await fixture.service.close()
    }

    @Test("It returns when the grace period is over, and when the calling task is cancelled", arguments: [true, false])
    func late(isCancelled: Bool) async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: 1, after: .seconds(1_000))
        let item: Resource<Int> = fixture.service.resource("item")
        let load = Task { try await item.load() }
        await fixture.clock.waitForSleepers(count: 1)
        let finishing = Task { await fixture.service.finish(within: .seconds(5)) }
        if isCancelled {
            finishing.cancel()
        } else {
            await fixture.clock.waitForSleepers(count: 2)
            fixture.clock.advance(by: .seconds(5))
        }
        await finishing.value
        #expect(item.state.isLoading)
        await fixture.service.close()
        await #expect(throws: RequestFailure.self) { try await load.value }
    }

    @Test("A service that is closed in a cancelled task still writes its entities")
    func flushing() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let service = try fixture.service()
        try await service.resource("item", as: Item.self).load()
        let closing = Task {
            while !Task.isCancelled { await Task.yield() }
            await service.close()
        }
        closing.cancel()
        await closing.value
        #expect(try await fixture.cache.entity(for: CacheFixture.key) != nil)
    }
}
