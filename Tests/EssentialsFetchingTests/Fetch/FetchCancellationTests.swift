import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct FetchCancellationTests {
    private static let asking: [FetchSource] = [
        .backend, .cacheThenBackend, .cacheElseBackend, .backendElseCache, .both,
    ]

    private func held() throws -> FetchFixture {
        let fixture = try FetchFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/coins").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        return fixture
    }

    @Test("A cancelled task gets the failure cancelled from each source, and its request ends", arguments: asking)
    func cancelled(source: FetchSource) async throws {
        let fixture = try held()
        let task = Task { await FetchTrace(fixture.service.get("coins", from: source)) }
        _ = try await fixture.transport.request(number: 1)
        task.cancel()
        #expect(await task.value == FetchTrace([], .cancelled))
        await eventually { fixture.requests.requestsInFlight == 0 }
    }

    @Test(
        "A cache that does not reply holds back neither a cancellation nor the end of the request",
        arguments: [FetchSource.cacheThenBackend, .both])
    func stalledCache(source: FetchSource) async throws {
        let fixture = try held()
        fixture.preset("old")
        let latch = Latch()
        fixture.cache.hold(.load, until: latch)
        let task = Task { await FetchTrace(fixture.service.get("coins", from: source)) }
        _ = try await fixture.transport.request(number: 1)
        await fixture.cache.begun(.load)
        task.cancel()
        #expect(await task.value == FetchTrace([], .cancelled))
        await eventually { fixture.requests.requestsInFlight == 0 }
        latch.open()
    }

    @Test("If a lower service cancels the request, this comes after the cached value, which does not cover it")
    func cancelledBelow() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").fail(.cancelled)
        fixture.preset("old")
        #expect(await FetchTrace(fixture.service.get("coins")) == FetchTrace(["cache old"], .cancelled))
        #expect(await FetchTrace(fixture.service.get("coins", from: .both)) == FetchTrace(["cache old"], .cancelled))
        let covering = fixture.service.get("coins", from: .backendElseCache, as: Coin.self)
        #expect(await FetchTrace(covering) == FetchTrace([], .cancelled))
    }

    @Test("A cached value does not cover a cancellation")
    func noFallback() async throws {
        let fixture = try held()
        fixture.preset("old")
        let task = Task { await FetchTrace(fixture.service.get("coins", from: .backendElseCache)) }
        _ = try await fixture.transport.request(number: 1)
        task.cancel()
        #expect(await task.value == FetchTrace([], .cancelled))
        #expect(fixture.cache.calls == [])
    }

    @Test("A task that was cancelled before the fetch began sends and reads nothing", arguments: asking)
    func cancelledBefore(source: FetchSource) async throws {
        let fixture = try held()
        let gate = Latch()
        let task = Task {
            await gate.wait()
            return await FetchTrace(fixture.service.get("coins", from: source))
        }
        task.cancel()
        gate.open()
        #expect(await task.value == FetchTrace([], .cancelled))
        #expect(fixture.transport.requestCount == 0)
        #expect(fixture.cache.calls.filter { $0 != .load } == [])
    }

    @Test("Leaving the loop after the cached value ends the request", arguments: [FetchSource.cacheThenBackend, .both])
    func leftLoop(source: FetchSource) async throws {
        let fixture = try held()
        fixture.preset("old")
        for try await emission in fixture.service.get("coins", from: source, as: Coin.self) {
            #expect(emission.value.name == "old")
            #expect(fixture.requests.requestsInFlight == 1)
            break
        }
        await eventually { fixture.requests.requestsInFlight == 0 }
    }

    @Test("A cancelled task that hides failures ends without one")
    func hidden() async throws {
        let fixture = try held()
        let options = FetchOptions(emitsFailure: false)
        let task = Task { await FetchTrace(fixture.service.get("coins", options: options)) }
        _ = try await fixture.transport.request(number: 1)
        task.cancel()
        #expect(await task.value == FetchTrace([]))
    }

    @Test("An iteration that was abandoned before its first value has sent nothing")
    func unused() async throws {
        let fixture = try held()
        _ = fixture.service.get("coins", as: Coin.self).makeAsyncIterator()
        #expect(fixture.transport.requestCount == 0)
        #expect(fixture.requests.requestsInFlight == 0)
    }

    @Test("The end of a sequence is final")
    func finality() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").fail(.connection)
        var iterator = fixture.service.get("coins", from: .backend, as: Coin.self).makeAsyncIterator()
        let failure = await #expect(throws: RequestFailure.self) { try await iterator.next() }
        #expect(failure?.reason == .connection)
        for _ in 0..<2 { #expect(try await iterator.next() == nil) }
        #expect(fixture.transport.requestCount == 1)
    }
}
