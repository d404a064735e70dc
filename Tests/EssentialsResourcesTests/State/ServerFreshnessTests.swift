import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsResources

@Suite("Resource: freshness by the server", .leavesNothing, .timeLimit(.minutes(5)))
struct ServerFreshnessTests {
    private func fixture(cache: (any EntityCache)? = nil) throws -> ResourceFixture {
        try ResourceFixture(cache: cache) { $0.defaults.expiration = .byServer(else: .seconds(30)) }
    }

    private func text(_ fixture: ResourceFixture, after seconds: Double) -> String {
        HTTPDate.text(of: fixture.clock.date + seconds)
    }

    @Test(
        "A resource is fresh for max-age, otherwise until Expires, and otherwise for the time of the application",
        arguments: [
            ([.cacheControl: "max-age=60"], 60), ([.cacheControl: "s-maxage=60"], 30), ([:], 30),
            ([.cacheControl: "max-age=60", .age: "20"], 40), ([.age: "20"], 30),
            ([.cacheControl: "max-age=5, must-revalidate"], 5), ([.cacheControl: "max-age=2, max-age=9"], 2),
        ] as [(HTTPFields, Int)])
    func lifetime(fields: HTTPFields, seconds: Int) async throws {
        let fixture = try fixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: fields)
            .thenAnswer(json: Item(name: "b"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.loadIfNeeded()
        #expect(item.state.freshFor == .seconds(seconds))
        fixture.clock.advance(by: .seconds(seconds))
        #expect(try await item.loadIfNeeded().name == "a")
        fixture.clock.advance(by: .nanoseconds(1))
        #expect(!item.isFresh)
        #expect(try await item.loadIfNeeded().name == "b")
    }

    @Test("The time from Date to Expires counts, less the time that has passed since Date")
    func expires() async throws {
        let fixture = try fixture()
        // Dates of header fields are whole seconds.
        fixture.clock.date = Date(timeIntervalSince1970: 784_111_777)
        fixture.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"),
            headerFields: [.date: text(fixture, after: -4), .expires: text(fixture, after: 26)])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(item.state.freshFor == .seconds(26))
        // The date is read only at that moment.
        fixture.clock.date += 3_600
        #expect(item.state.freshFor == .seconds(26))
    }

    @Test("The time that the response took is subtracted")
    func delay() async throws {
        let fixture = try fixture()
        fixture.transport.on(.get, "/v1/item").answer { [clock = fixture.clock] _ in
            clock.advance(by: .seconds(7))
            return ScriptedAnswer(json: Item(name: "a"), headerFields: [.cacheControl: "max-age=60", .age: "3"])
        }
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(item.state.freshFor == .seconds(50))
        #expect(item.state.age == .zero)
    }

    @Test(
        "Content that the server wants to be validated is never fresh, but is still shown",
        arguments: ["no-cache", "no-store", "max-age=0", "max-age=soon", "max-age=60, no-cache=\"X-A\""])
    func neverFresh(cacheControl: String) async throws {
        let fixture = try fixture()
        fixture.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"), headerFields: [.cacheControl: cacheControl, .eTag: "\"1\""]
        ).thenAnswer(.notModified, headerFields: [.cacheControl: cacheControl])
            .thenAnswer(json: Item(name: "b"), headerFields: [.cacheControl: "max-age=60"])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.loadIfNeeded()
        #expect(!item.isFresh && item.state.freshFor == nil && item.content?.name == "a")
        #expect(try await item.loadIfNeeded().name == "a")
        #expect(!item.isFresh && fixture.transport.requestCount == 2)
        #expect(try await item.loadIfNeeded().name == "b")
        #expect(item.isFresh && fixture.transport.requestCount == 3)
    }

    @Test("After a 304 the lifetime is that of the merged fields, and the old age no longer counts")
    func confirmation() async throws {
        let fixture = try fixture()
        fixture.transport.on(.get, "/v1/item")
            .answer(
                json: Item(name: "a"), headerFields: [.eTag: "\"1\"", .cacheControl: "max-age=60", .age: "50"]
            )
            .thenAnswer(.notModified, headerFields: [.eTag: "\"1\""])
            .thenAnswer(.notModified, headerFields: [.cacheControl: "max-age=5", .age: "1"])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(item.state.freshFor == .seconds(10))
        fixture.clock.advance(by: .seconds(11))
        try await item.loadIfNeeded()
        #expect(item.state.freshFor == .seconds(60))
        fixture.clock.advance(by: .seconds(61))
        try await item.loadIfNeeded()
        #expect(item.state.freshFor == .seconds(4))
    }

    @Test("Content that the application has set is fresh for the application's time, regardless of earlier loads")
    func override() async throws {
        let fixture = try fixture()
        fixture.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"), headerFields: [.cacheControl: "no-cache"])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        item.override(with: Item(name: "mine"))
        #expect(item.state.freshFor == .seconds(30))
        item.invalidate()
        #expect(!item.isFresh)
    }

    @Test("After a failure the retry time counts, not the lifetime of the content")
    func failure() async throws {
        let fixture = try fixture()
        fixture.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"), headerFields: [.cacheControl: "max-age=60"]
        ).thenAnswer(.internalServerError)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(item.state.freshFor == .seconds(1))
    }

    @Test("A resource with its own expiration reads no header field")
    func fixedTime() async throws {
        let fixture = try fixture()
        try fixture.service.configure("/item") { $0.expiration = .seconds(9) }
        fixture.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"), headerFields: [.cacheControl: "no-cache", .age: "5"])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(item.state.freshFor == .seconds(9))
    }

    @Test("An entity from a cache has the lifetime that the server gave, less its stored age and the time since")
    func entityCache() async throws {
        let cache = MemoryEntityCache()
        let first = try fixture(cache: cache)
        first.clock.date = Date(timeIntervalSince1970: 784_111_777)
        first.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"), headerFields: [.cacheControl: "max-age=60", .age: "10", .eTag: "\"1\""])
        let item: Resource<Item> = first.service.resource("item")
        try await item.load()
        await first.service.close()
        let second = try fixture(cache: cache)
        second.clock.date = first.clock.date + 20
        let again: Resource<Item> = second.service.resource("item")
        #expect(try await again.loadIfNeeded().name == "a")
        #expect(again.state.provenance == .entityCache(stage: "decoding") && second.transport.requestCount == 0)
        #expect(again.state.freshFor == .seconds(30))
    }

    @Test("A 304 without a date does not make a stored entity fresh for longer than its Expires")
    func storedConfirmation() async throws {
        let cache = CacheDouble()
        let fixture = try fixture(cache: cache)
        fixture.clock.date = Date(timeIntervalSince1970: 784_111_777)
        fixture.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"),
            headerFields: [.date: text(fixture, after: 0), .expires: text(fixture, after: 10), .eTag: "\"1\""]
        ).thenAnswer(.notModified, headerFields: [.expires: text(fixture, after: 3_600 + 10)])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        fixture.clock.advance(by: .seconds(3_600))
        try await item.loadIfNeeded()
        #expect(item.state.freshFor == .seconds(10))
        await fixture.service.close()
        let stored = try #require(cache.entities.values.first)
        #expect(Freshness.lifetime(of: stored.headerFields, receivedAt: stored.date) == .seconds(10))
    }

    @Test("Over a connection, a resource is stale when its server says so, and sends its entity tag")
    func connection() async throws {
        let server = try LoopbackServer { request in
            if request.header("If-None-Match") == "\"1\"" {
                return .response(status: 304, headers: [("Cache-Control", "max-age=600"), ("ETag", "\"1\"")])
            }
            return .response(
                headers: [
                    ("Content-Type", "application/json"), ("ETag", "\"1\""), ("Age", "3"),
                    ("Cache-Control", "private, max-age=60"), ("Cache-Control", "ext=\"no-store\""),
                ], body: #"{"name":"a"}"#)
        }
        let clock = ManualClock()
        let environment = try ConstantEnvironment(server.url + "/v1")
        let requests = HTTPDataRequestService(environment: environment, transport: try CurlTransport())
        var configuration = HTTPResourceService.Configuration()
        configuration.defaults.expiration = .byServer(else: .seconds(5))
        configuration.clock = clock.requestClock
        let service = try HTTPResourceService(
            requests: requests, environment: environment, configuration: configuration)
        let item: Resource<Item> = service.resource("item")
        try await item.loadIfNeeded()
        #expect(item.state.freshFor == .seconds(57))
        clock.advance(by: .seconds(57))
        try await item.loadIfNeeded()
        #expect(server.requestCount == 1)
        clock.advance(by: .seconds(1))
        #expect(try await item.loadIfNeeded().name == "a")
        #expect(server.requestCount == 2)
        #expect(item.state.freshFor == .seconds(600))
        await service.close()
        await requests.shutdown()
    }
}
