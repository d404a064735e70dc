import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct FetchSharingTests {
    /// Counts the requests that have joined another one or were sent. Before that, a request that is in flight can still take
    /// other credentials, or come too late to be joined.
    private final class Arrivals: RequestObserver {
        let count = Atomic(0)

        func observe(_ event: RequestEvent) {
            switch event.kind {
            case .joined, .sent: count.add(1, ordering: .relaxed)
            default: break
            }
        }
    }

    private let arrivals = Arrivals()

    /// A fixture whose server replies when the latch is open.
    private func held(_ latch: Latch) throws -> FetchFixture {
        let fixture = try FetchFixture { $0.observers = [arrivals] }
        fixture.transport.on(.get, "/v1/coins").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Coin(name: "new"))
        }
        return fixture
    }

    private func waitForRequests(_ count: Int) async {
        await eventually { arrivals.count.load(ordering: .relaxed) >= count }
    }

    @Test("A sequence is cold: describing a fetch sends nothing, and each iteration sends again")
    func cold() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        let fetch = fixture.service.get("coins", from: .backend, as: Coin.self)
        #expect(fixture.transport.requestCount == 0)
        for count in 1...2 {
            #expect(await FetchTrace(fetch) == FetchTrace(["backend new"]))
            #expect(fixture.transport.requestCount == count)
        }
    }

    @Test("Equal fetches that run at once share one request, regardless of their sources")
    func shared() async throws {
        let latch = Latch()
        let fixture = try held(latch)
        let sources: [FetchSource] = [.backend, .cacheThenBackend, .cacheElseBackend, .backendElseCache, .both]
        let tasks = (0..<50).map { index in
            Task { await FetchTrace(fixture.service.get("coins", from: sources[index % 5])) }
        }
        await waitForRequests(50)
        latch.open()
        for task in tasks { #expect(await task.value == FetchTrace(["backend new"])) }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A fetch that ends early does not end the shared request, unless it is the last one")
    func leaving() async throws {
        let latch = Latch()
        let fixture = try held(latch)
        let tasks = (0..<3).map { _ in Task { await FetchTrace(fixture.service.get("coins", from: .backend)) } }
        await waitForRequests(3)
        tasks[0].cancel()
        #expect(await tasks[0].value == FetchTrace([], .cancelled))
        #expect(fixture.requests.requestsInFlight == 2)
        latch.open()
        for task in tasks[1...] { #expect(await task.value == FetchTrace(["backend new"])) }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("Fetches with other fields, retries or credentials, and those that refuse sharing, share no request")
    func different() async throws {
        let latch = Latch()
        let fixture = try held(latch)
        var tasks: [Task<FetchTrace, Never>] = []
        func begin(_ fetch: Emissions<Coin>) async {
            tasks.append(Task { await FetchTrace(fetch) })
            await waitForRequests(tasks.count)
        }
        await begin(fixture.service.get("coins", from: .backend))
        await begin(fixture.service.get("coins", headerFields: [.acceptLanguage: "de"], from: .backend))
        await begin(fixture.service.get("coins", from: .backend, retry: .attempts(2)))
        var alone = fixture.service
        alone.fetchDefaults.joins = false
        await begin(alone.get("coins", from: .backend))
        var single = DataRequest(.get, "coins")
        single.joins = false
        await begin(fixture.service.fetch(single, from: .backend))
        fixture.requests.setAuthorization(try .bearer("other"))
        await begin(fixture.service.get("coins", from: .backend))
        latch.open()
        for task in tasks { #expect(await task.value == FetchTrace(["backend new"])) }
        #expect(fixture.transport.requestCount == 6)
    }

    @Test("A shared sequence fetches once for all iterations, and later ones receive the latest value and the end")
    func hot() async throws {
        let fixture = try FetchFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/coins").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Coin(name: "new"))
        }
        fixture.preset("old")
        let shared = fixture.service.get("coins", as: Coin.self).shared()
        var first = shared.makeAsyncIterator()
        #expect(try await first.next()?.value.name == "old")
        var second = shared.makeAsyncIterator()
        #expect(try await second.next()?.value.name == "old")
        latch.open()
        #expect(try await first.next()?.value.name == "new")
        #expect(try await first.next() == nil)
        #expect(try await first.next() == nil)
        #expect(await FetchTrace(shared) == FetchTrace(["backend new"]))
        #expect(try await second.next()?.value.name == "new")
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A shared sequence begins at once, and gives its failure to all iterations")
    func hotFailure() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").fail(.connection)
        fixture.preset("old")
        let shared = fixture.service.get("coins", as: Coin.self).shared()
        _ = try await fixture.transport.request(number: 1)
        #expect(await FetchTrace(shared).failure == .connection)
        #expect(await FetchTrace(shared) == FetchTrace(["cache old"], .connection))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("The request of a shared sequence ends when the sequence and its iterations are released")
    func hotRelease() async throws {
        let fixture = try held(Latch())
        var shared: Emissions<Coin>? = fixture.service.get("coins", from: .backend).shared()
        _ = try await fixture.transport.request(number: 1)
        var iterator = shared?.makeAsyncIterator()
        shared = nil
        #expect(iterator != nil)
        #expect(fixture.requests.requestsInFlight == 1)
        iterator = nil
        await eventually { fixture.requests.requestsInFlight == 0 }
    }

    @Test("Cancelling one iteration of a shared sequence ends only that one")
    func hotCancellation() async throws {
        let latch = Latch()
        let fixture = try held(latch)
        let shared = fixture.service.get("coins", from: .backend, as: Coin.self).shared()
        let task = Task { await FetchTrace(shared) }
        _ = try await fixture.transport.request(number: 1)
        task.cancel()
        #expect(await task.value == FetchTrace([], .cancelled))
        latch.open()
        #expect(await FetchTrace(shared) == FetchTrace(["backend new"]))
    }
}
