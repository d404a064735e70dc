import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import Testing

@Suite("Resource: freshness for one call", .leavesNothing)
struct MaximumAgeTests {
    let fixture: ResourceFixture
    let item: Resource<Int>

    init() throws {
        fixture = try ResourceFixture()
        item = fixture.service.resource("item")
        fixture.transport.on(.get, "/v1/item").answer(json: 1).thenAnswer(json: 2).thenAnswer(.internalServerError)
    }

    @Test("Content up to the age is returned even if it has expired, and older content is loaded even if it is fresh")
    func age() async throws {
        #expect(try await item.loadIfNeeded(maximumAge: .seconds(5)) == 1)
        fixture.clock.advance(by: .seconds(10))
        #expect(try await item.loadIfNeeded(maximumAge: .seconds(10)) == 1)
        #expect(try await item.loadIfNeeded() == 1)
        #expect(try await item.loadIfNeeded(maximumAge: .milliseconds(9_999)) == 2)
        fixture.clock.advance(by: .seconds(100))
        #expect(!item.isFresh)
        #expect(try await item.loadIfNeeded(maximumAge: .seconds(100)) == 2)
        let values = fixture.transport.requests.map { $0.headerFields[.cacheControl] }
        #expect(values == ["max-age=5", "max-age=9"])
    }

    @Test("Content that was marked as outdated is loaded regardless of its age")
    func invalid() async throws {
        try await item.load()
        item.invalidate()
        #expect(try await item.loadIfNeeded(maximumAge: .seconds(100)) == 2)
        #expect(fixture.transport.requests.last?.headerFields[.cacheControl] == "no-cache")
    }

    @Test("After a failure the retry time counts for older content, and younger content is returned")
    func failure() async throws {
        try await item.load()
        try await item.load()
        fixture.clock.advance(by: .seconds(10))
        await #expect(throws: RequestFailure.self) { try await item.load() }
        let count = fixture.transport.requestCount
        #expect(try await item.loadIfNeeded(maximumAge: .seconds(10)) == 2)
        #expect(try await item.loadIfNeeded(maximumAge: .seconds(1)) == 2)
        #expect(fixture.transport.requestCount == count)
        fixture.clock.advance(by: .seconds(2))
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded(maximumAge: .seconds(1)) }
        #expect(try await item.loadIfNeeded(maximumAge: .seconds(12)) == 2)
    }

    @Test(
        "Extreme ages are bounded",
        arguments: [
            Duration.seconds(-1), .seconds(Int64.max), .seconds(Int64.min), .seconds(Int64.max) * 2,
            .seconds(Int64.min) * 2,
        ])
    func extremes(age: Duration) async throws {
        #expect(try await item.loadIfNeeded(maximumAge: age) == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await item.loadIfNeeded(maximumAge: age) == (age > .zero ? 1 : 2))
    }

    @Test("The entity of a cache is used if it is young enough, and otherwise the server is contacted")
    func cached() async throws {
        let cache = MemoryEntityCache()
        let stored = try ResourceFixture(cache: cache)
        stored.transport.on(.get, "/v1/item").answer(json: 1).thenAnswer(json: 2)
        #expect(try await stored.service.resource("item", as: Int.self).load() == 1)
        await stored.service.close()
        stored.clock.advance(by: .seconds(100))
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = stored.clock.requestClock
        for (age, number) in [(200, 1), (50, 2)] as [(Int, Int)] {
            let service = try HTTPResourceService(
                requests: stored.requests, environment: stored.environment, cache: cache, configuration: configuration)
            let item: Resource<Int> = service.resource("item")
            #expect(try await item.loadIfNeeded(maximumAge: .seconds(age)) == number)
            await service.close()
        }
    }
}
