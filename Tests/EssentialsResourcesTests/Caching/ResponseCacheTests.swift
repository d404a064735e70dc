import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsResources

@Suite("Entity caches together with a response cache", .leavesNothing)
struct ResponseCacheTests {
    /// A service whose responses come from a response cache.
    private final class StoringRequests: DataRequestService, ResponseCaching {
        let codecs = CodecRegistry.standard
        let storesResponses: Bool
        private let responses: Mutex<[DataResponse]>

        init(storesResponses: Bool = true, _ responses: [DataResponse] = []) {
            self.storesResponses = storesResponses
            self.responses = Mutex(responses)
        }

        func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
            guard let response = responses.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                throw RequestFailure(.connection, "There are no more responses.")
            }
            return response
        }

        func updates(of url: RequestURL, after load: UInt64) -> AsyncStream<DataResponse> {
            AsyncStream { $0.finish() }
        }
    }

    private struct Decorated: DataRequestDecorator {
        let next: any DataRequestService
    }

    private func response(_ name: String, _ use: StoredResponseUse?) -> DataResponse {
        var response = DataResponse(
            .ok, headerFields: [.contentType: "application/json", .eTag: "\"1\""],
            body: Data(#"{"name":"\#(name)"}"#.utf8))
        response.storedUse = use
        response.identity = ResponseIdentity(load: 1, body: 1)
        return response
    }

    private func service(
        _ requests: any DataRequestService, _ clock: ManualClock, _ cache: (any EntityCache)? = nil
    ) throws -> HTTPResourceService {
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        return try HTTPResourceService(
            requests: requests, environment: ConstantEnvironment("https://h/v1/"), cache: cache,
            configuration: configuration)
    }

    @Test("The age of a stored response shortens its freshness, and is stored in the entity cache")
    func age() async throws {
        let (clock, cache) = (ManualClock(), CacheDouble())
        let requests = StoringRequests([response("Ada", StoredResponseUse(age: .seconds(20)))])
        let service = try service(requests, clock, cache)
        let item: Resource<Item> = service.resource("item")
        try await item.load()
        #expect(item.state.provenance == .httpCache(age: .seconds(20), isStale: false))
        #expect(item.state.age == .seconds(20))
        clock.advance(by: .seconds(10))
        #expect(item.isFresh)
        clock.advance(by: .nanoseconds(1))
        #expect(!item.isFresh)
        await service.close()
        #expect(cache.entities.values.map(\.age) == [.seconds(20)])
    }

    @Test("A stale stored response is fresh for the retry time only")
    func stale() async throws {
        let clock = ManualClock()
        let use = StoredResponseUse(age: .seconds(5), isStale: true)
        let item: Resource<Item> = try service(StoringRequests([response("Ada", use)]), clock).resource("item")
        try await item.load()
        #expect(item.state.provenance == .httpCache(age: .seconds(5), isStale: true))
        clock.advance(by: .seconds(1))
        #expect(item.isFresh)
        clock.advance(by: .nanoseconds(1))
        #expect(!item.isFresh)
    }

    @Test("A confirmation by the response cache makes content no younger than the stored response")
    func confirmed() async throws {
        let (clock, cache) = (ManualClock(), CacheDouble())
        let requests = StoringRequests([
            response("Ada", nil), response("", StoredResponseUse(age: .seconds(12))),
        ])
        let service = try service(requests, clock, cache)
        let item: Resource<Item> = service.resource("item")
        try await item.load()
        clock.advance(by: .seconds(40))
        try await item.loadIfNeeded()
        #expect(item.state.age == .seconds(12))
        #expect(item.state.freshFor == .seconds(18))
        await service.close()
        #expect(cache.entities.values.map(\.age) == [.seconds(12)])
    }

    @Test(
        "The age field of a stored response is read up to the maximum that caches use",
        arguments: [
            ("20", 20), ("0", 0), ("", 0), ("-3", 0), ("1.5", 0), ("99999999999999999999999", 1 << 31),
        ])
    func ageField(text: String, seconds: Int) {
        #expect(StoredResponseUse(of: [.age: text]).age == .seconds(seconds))
    }

    @Test("An entity cache at raw over a response cache is refused, because all bytes would be stored twice")
    func raw() throws {
        let (clock, cache) = (ManualClock(), CacheDouble())
        let requests = Decorated(next: StoringRequests())
        var configuration = HTTPResourceService.Configuration()
        configuration.defaults.pipeline.cache(in: cache, at: .raw)
        let environment = try ConstantEnvironment("https://h/v1/")
        let failure = #expect(throws: RequestFailure.self) {
            try HTTPResourceService(requests: requests, environment: environment, configuration: configuration)
        }
        #expect(failure?.reason == .invalidRequest)
        let service = try service(requests, clock, cache)
        #expect(throws: RequestFailure.self) { try service.configure("/a") { $0.pipeline.cache(in: cache, at: .raw) } }
        #expect(throws: RequestFailure.self) { try service.configure("/a") { $0.pipeline.order = [.raw] } }
        try service.configure("/a") { $0.pipeline.cache(Item.self, in: cache, at: .model) }
        // Without a response cache nothing is stored twice.
        _ = try HTTPResourceService(
            requests: StoringRequests(storesResponses: false), environment: environment,
            configuration: configuration)
    }

    @Test("Clearing the authorization removes the entities of the origin in the current partition")
    func authorization() async throws {
        let fixture = CacheFixture()
        let service = try fixture.service()
        var mine = CacheFixture.key
        mine.partition = "account-7"
        var other = mine
        other.url = "https://other/"
        for key in [mine, other, CacheFixture.key] { fixture.cache.set(fixture.entity("Ada"), for: key) }
        service.enter("account-7")
        let item: Resource<Item> = service.resource("item")
        #expect(try await item.loadIfNeeded().name == "Ada")
        await (service.requests as? HTTPDataRequestService)?.clearAuthorization()
        #expect(item.content == nil)
        #expect(Set(fixture.cache.entities.keys) == [other, CacheFixture.key])
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        #expect(try await item.loadIfNeeded().name == "new")
    }
}
