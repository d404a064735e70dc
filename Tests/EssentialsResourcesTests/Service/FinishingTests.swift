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
