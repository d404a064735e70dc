import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite(.timeLimit(.minutes(5))) struct FetchLifetimeTests {
    /// The objects of a fetch, held weakly.
    private final class Traces {
        weak var cache: TestCache?
        weak var requests: StubRequests?
        var isEmpty: Bool { cache == nil && requests == nil }
    }

    /// Objects that tasks hold are released as soon as the tasks have ended.
    private func expectRelease(_ traces: Traces) async {
        await eventually { traces.isEmpty }
        #expect(traces.isEmpty)
    }

    private func service(_ traces: Traces, _ latch: Latch?) -> CoinService {
        let cache = TestCache()
        let requests = StubRequests { _ throws(RequestFailure) in
            await latch?.wait()
            return DataResponse(body: Data(#"{"name":"new"}"#.utf8))
        }
        traces.cache = cache
        traces.requests = requests
        let service = CoinService(requests: requests, cache: cache)
        cache.put(CachedModel(Coin(name: "old"), date: Date()), for: service.modelKey(named: "coins"))
        return service
    }

    @Test(
        "A complete iteration releases everything",
        arguments: [FetchSource.backend, .cache, .cacheThenBackend, .cacheElseBackend, .backendElseCache, .both])
    func complete(source: FetchSource) async throws {
        let traces = Traces()
        _ = await FetchTrace(service(traces, nil).get("coins", from: source))
        await expectRelease(traces)
    }

    @Test(
        "An iteration that is left after its first value leaves no task",
        arguments: [FetchSource.cacheThenBackend, .both])
    func left(source: FetchSource) async throws {
        let (traces, latch) = (Traces(), Latch())
        #expect(try await service(traces, latch).get("coins", from: source, as: Coin.self).first()?.value.name == "old")
        // This server does not react to a cancellation, so its task ends with its reply.
        latch.open()
        await expectRelease(traces)
    }

    @Test(
        "A shared sequence releases everything when it is not used any more, before and after its end",
        arguments: [true, false])
    func shared(isComplete: Bool) async throws {
        let (traces, latch) = (Traces(), Latch())
        var shared: Emissions<Coin>? = service(traces, latch).get("coins").shared()
        if isComplete {
            latch.open()
            #expect(try await shared?.last()?.value.name == "new")
        }
        shared = nil
        latch.open()
        await expectRelease(traces)
    }

    @Test("A description that is never iterated releases everything")
    func unused() async throws {
        let traces = Traces()
        _ = service(traces, nil).get("coins", as: Coin.self).makeAsyncIterator()
        #expect(traces.isEmpty)
    }
}
