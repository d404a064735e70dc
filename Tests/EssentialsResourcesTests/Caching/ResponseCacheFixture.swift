import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsResources

/// A resource over a response cache.
struct ResponseCacheFixture {
    let clock = ManualClock()
    let cache: CacheUnderTest
    let service: HTTPResourceService
    let item: Resource<Item>
    private let runs = Runs()

    /// Counts the bodies that the pipeline has read.
    private final class Runs: Sendable {
        let count = Mutex(0)
    }

    init(_ kind: CacheUnderTest.Kind, missesWithStatus: Bool = false) throws {
        cache = try CacheUnderTest(kind, missesWithStatus: missesWithStatus)
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        configuration.defaults.pipeline.transform(at: .raw) { [runs] (data: Data) in
            runs.count.withLock { $0 += 1 }
            return data
        }
        service = try HTTPResourceService(
            requests: cache, environment: ConstantEnvironment("https://h/v1/"), configuration: configuration)
        item = service.resource("item")
    }

    /// The number of bodies that the pipeline has read.
    var pipelineRuns: Int { runs.count.withLock { $0 } }

    /// The same resource of another service over the cache.
    func otherItem() throws -> Resource<Item> {
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        return try HTTPResourceService(
            requests: cache, environment: ConstantEnvironment("https://h/v1/"), configuration: configuration
        ).resource("item")
    }

    /// Loads the resource, and then again so that a stale response is shown.
    ///
    /// - Returns: The changes from then on.
    func showStale() async throws -> ValueSequence<ResourceChange<Item>>.AsyncIterator {
        try await item.load()
        cache.use(age: .seconds(90))
        clock.advance(by: .seconds(31))
        try await item.loadIfNeeded()
        #expect(item.state.provenance == .httpCache(age: .seconds(90), isStale: true))
        #expect(item.state.freshFor == .seconds(1))
        // A load ends before its resource follows the cache.
        await settled { service.staleResponses.count == 1 }
        var changes = item.changes().makeAsyncIterator()
        #expect(await changes.next()?.event == .attached)
        return changes
    }

    /// Waits until the service follows no validation of the cache.
    func noFollowers() async { await settled { service.staleResponses.count == 0 } }
}
