import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import Testing

@Suite("Resource: writing over a response cache", .timeLimit(.minutes(5)))
struct ResponseCacheWritingTests {
    private func write(_ method: HTTPRequest.Method, _ item: Resource<Item>) async throws {
        switch method {
        case .put: try await item.put(Item(name: "Grace"))
        case .patch: try await item.patch(["name": "Grace"])
        case .post: try await item.post(["name": "Grace"])
        default: try await item.delete()
        }
    }

    @Test(
        "A successful write invalidates both the stored response of the cache and the content of the resource",
        arguments: CacheUnderTest.Kind.allCases, [HTTPRequest.Method.put, .patch, .post, .delete])
    func success(kind: CacheUnderTest.Kind, method: HTTPRequest.Method) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        try await item.load()
        #expect(await cache.isStored)
        #expect(item.isFresh)
        cache.change("Grace")
        try await write(method, item)
        #expect(await !cache.isStored)
        #expect(!item.isFresh)
        #expect(method == .delete ? item.content == nil : item.isInvalid)
        await expectFailure(.notCached) { try await item.load(.onlyIfStored) }
        #expect(cache.fetches == 1)
        #expect(try await item.loadIfNeeded().name == "Grace")
        // A deleted resource was never loaded, so only the cache keeps the deleted content away.
        #expect(cache.requests.last?.headerFields[.cacheControl] == (method == .delete ? nil : "no-cache"))
        #expect(cache.fetches == 2)
    }

    @Test(
        "Another service over the same cache does not get the old response, even though it does not know of the write",
        arguments: CacheUnderTest.Kind.allCases)
    func otherService(kind: CacheUnderTest.Kind) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let cache = fixture.cache
        let (writer, reader) = (fixture.item, try fixture.otherItem())
        try await writer.load()
        #expect(try await reader.loadIfNeeded().name == "Ada")
        #expect(cache.fetches == 1)
        cache.change("Grace")
        try await writer.put(Item(name: "Grace"))
        #expect(reader.isFresh && reader.content?.name == "Ada")
        fixture.clock.advance(by: .seconds(31))
        #expect(try await reader.loadIfNeeded().name == "Grace")
        #expect(cache.requests.last?.headerFields[.cacheControl] == nil)
        #expect(cache.fetches == 2)
    }

    @Test(
        "A failed write invalidates neither the cache nor the resource",
        arguments: CacheUnderTest.Kind.allCases, [HTTPResponse.Status.conflict, .internalServerError])
    func failure(kind: CacheUnderTest.Kind, status: HTTPResponse.Status) async throws {
        let fixture = try ResponseCacheFixture(kind)
        let (cache, item) = (fixture.cache, fixture.item)
        try await item.load()
        cache.answerWrites(status)
        await #expect(throws: RequestFailure.self) { try await item.put(Item(name: "Grace")) }
        #expect(await cache.isStored)
        #expect(item.isFresh && !item.isInvalid)
        #expect(try await item.load(.onlyIfStored).name == "Ada")
        #expect(cache.fetches == 1)
    }
}
