import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: loads in advance", .leavesNothing)
struct PrefetchTests {
    let fixture: ResourceFixture
    private let latch = Latch()

    init() throws {
        fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/quick/*").answer(json: 1)
        fixture.transport.on(.get, "/v1/slow/*").answer { [latch] _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
    }

    private func resources(_ folder: String, _ range: Range<Int>) -> [Resource<Int>] {
        range.map { fixture.service.resource(folder, String($0)) }
    }

    @Test("Resources that are not fresh are loaded with the lowest priority, and kept without an observer")
    func loads() async throws {
        let items = resources("quick", 0..<20)
        try await items[3].load()
        let prefetch = fixture.service.prefetch(items)
        await prefetch.waitUntilCompleted()
        #expect(prefetch.isCompleted && prefetch.dropped == 0)
        #expect(items.allSatisfy { $0.content == 1 && $0.observerCount == 0 })
        #expect(fixture.transport.requestCount == 20)
        #expect(fixture.transport.requests.dropFirst().allSatisfy { $0.options.priority == .background })
        try await items[0].loadIfNeeded()
        #expect(fixture.transport.requestCount == 20)
    }

    @Test("Four loads of a service run at a time, regardless of which call requested them")
    func bounded() async throws {
        let first = fixture.service.prefetch(resources("slow", 0..<10))
        let second = fixture.service.prefetch(resources("slow", 10..<20))
        _ = try await fixture.transport.request(number: 4)
        for _ in 0..<200 { await Task.yield() }
        #expect(fixture.transport.requestCount == 4)
        latch.open()
        await first.waitUntilCompleted()
        await second.waitUntilCompleted()
        #expect(fixture.transport.requestCount == 20)
    }

    @Test("Beyond 1,024 waiting resources the oldest are dropped and counted")
    func limit() async throws {
        let prefetch = fixture.service.prefetch(resources("slow", 0..<2_000))
        #expect(prefetch.dropped == 2_000 - 1_024)
        prefetch.cancel()
        await prefetch.waitUntilCompleted()
        latch.open()
    }

    @Test("Cancelling ends the loads that nothing else needs, and the next ones begin")
    func cancelled() async throws {
        let items = resources("slow", 0..<6)
        let prefetch = fixture.service.prefetch(items)
        _ = try await fixture.transport.request(number: 4)
        let needed = Task { try await items[1].loadIfNeeded() }
        while items[1].core.newestLoad?.priority.value != .normal { await Task.yield() }
        let other = fixture.service.prefetch(fixture.service.resource("quick", "1", as: Int.self))
        prefetch.cancel()
        #expect(prefetch.isCompleted)
        await other.waitUntilCompleted()
        #expect(items.map(\.isLoading) == [false, true, false, false, false, false])
        latch.open()
        #expect(try await needed.value == 1)
        #expect(fixture.transport.requestCount == 5)
    }

    @Test("Closing the service completes its loads in advance")
    func closed() async throws {
        let prefetch = fixture.service.prefetch(resources("slow", 0..<20))
        await fixture.service.close()
        await prefetch.waitUntilCompleted()
        #expect(prefetch.isCompleted)
        latch.open()
    }

    @Test("A prefetch without resources is completed")
    func empty() async {
        await fixture.service.prefetch([] as [Resource<Int>]).waitUntilCompleted()
    }
}
