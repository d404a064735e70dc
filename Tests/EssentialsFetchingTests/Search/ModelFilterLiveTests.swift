import EssentialsHTTP
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Filtered models", .timeLimit(.minutes(5)))
struct ModelFilterLiveTests {
    private struct ItemService: FetchingService, ModelCaching {
        let requests: any DataRequestService
        let cache: any AsyncCache
        var partition = EntityPartition.shared
    }

    private let key = ModelKey<[Item]>("items")
    private let filter = ModelFilter("b", in: \Item.name)

    private func list(_ names: String...) -> CachedModel<[Item]> {
        CachedModel(names.map { Item(name: $0) }, date: Date(timeIntervalSinceReferenceDate: 0))
    }

    private func service(_ cache: any AsyncCache) throws -> ItemService {
        ItemService(requests: try ResourceFixture().requests, cache: cache)
    }

    @Test("A service finds the matching models of a cached list once, and none without a list")
    func once() async throws {
        let service = try service(ModelCache())
        #expect(try await service.models(matching: filter, key: key) == [])
        try await service.cache.save(list("a", "B", "ab"), for: key)
        #expect(try await service.models(matching: filter, key: key).map(\.name) == ["B", "ab"])
        #expect(try await service.models(matching: ModelFilter(), key: key).count == 3)
        #expect(try await service.models(matching: filter, key: ModelKey("others")) == [])
    }

    @Test("The models of a path are those that a fetch of the same path has stored")
    func ofPath() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items").answer(json: [Item(name: "a"), Item(name: "B"), Item(name: "ab")])
        fixture.transport.on(.get, "/v1/nested").answer(json: ["data": [Item(name: "b2"), Item(name: "c")]])
        var service = ItemService(requests: fixture.requests, cache: ModelCache())
        _ = try await service.get("items", query: ["page": "1"], as: [Item].self).last()
        _ = try await service.get("nested", below: "data", as: [Item].self).last()
        #expect(try await service.models(matching: filter, at: "items") == [])
        #expect(try await service.models(matching: filter, at: "/items?page=1").map(\.name) == ["B", "ab"])
        #expect(try await service.models(matching: filter, at: "items", query: ["page": "1"]).count == 2)
        #expect(try await service.models(matching: filter, at: "nested", below: "data") == [Item(name: "b2")])
        #expect(try await service.models(matching: ModelFilter<Item>(), at: "nested") == [])
        let request = DataRequest.get("items", query: ["page": "1"])
        #expect(try await service.models(matching: filter, of: request).count == 2)
        #expect(try await service.models(matching: filter, of: DataRequest(.post, "items")) == [])
        service.partition = "ada"
        #expect(try await service.models(matching: filter, at: "items", query: ["page": "1"]) == [])
        #expect(fixture.transport.requestCount == 2)
    }

    private struct ItemAPI: APIService {
        static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "shop") } }
    }

    private enum Items: Endpoint {
        typealias Parent = ItemAPI
        static let path: RequestPath = "items"
        static let getAll: APIRequest<[Item]> = request(.get)
    }

    private struct RecordingHandler: LogHandler {
        let record: @Sendable (String) -> Void
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { record("\(event.message)") }
    }

    @Test(
        "A list that was fetched by a definition is found by it, and a search at its path logs the mistake once"
    )
    func ofDefinition() async throws {
        let messages = Mutex<[String]>([])
        var configuration = ModelCache.Configuration()
        configuration.logger = Logger(label: "test") { _ in
            RecordingHandler { message in messages.withLock { $0.append(message) } }
        }
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items").answer(json: [Item(name: "a"), Item(name: "B")])
        let cache = ModelCache(configuration: configuration)
        for cache: any AsyncCache in [cache, ObservedCache(cache)] {
            let service = ItemService(requests: fixture.requests, cache: cache)
            _ = try await service.fetch(Items.getAll).last()
            #expect(try await service.models(matching: filter, of: Items.getAll) == [Item(name: "B")])
            #expect(messages.withLock { $0.count } == (service.cache is ModelCache ? 0 : 1))
            for _ in 0..<2 { #expect(try await service.models(matching: filter, at: "items") == []) }
            #expect(
                messages.withLock { $0 } == [
                    "No list is stored for a path. One that was fetched by a definition is found by the definition only."
                ])
        }
    }

    @Test("Live models of a path follow its fetches, and those of a request without a key are one empty element")
    func livePath() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items").answer(json: [Item(name: "b")])
            .thenAnswer(json: [Item(name: "b"), Item(name: "bb"), Item(name: "c")]).thenAnswer(.notFound)
        let cache = ModelCache()
        let service = ItemService(requests: fixture.requests, cache: cache)
        var models = service.liveModels(matching: filter, at: "items").makeAsyncIterator()
        #expect(await models.next() == [])
        for names in [["b"], ["b", "bb"], []] {
            _ = try? await service.get("items", from: .backend, as: [Item].self).last()
            #expect(await models.next()?.map(\.name) == names)
        }
        #expect(cache.changes.observerCount == 1)

        var without: [[Item]] = []
        for await models in service.liveModels(matching: filter, of: DataRequest(.post, "items")) {
            without.append(models)
        }
        #expect(without == [[]])
    }

    @Test(
        "Live models begin with the existing ones and follow only the changes of their list",
        arguments: [ModelCache() as any ObservableCache, ObservedCache(PlainCache())])
    func live(cache: any ObservableCache) async throws {
        let service = try service(cache)
        var models = service.liveModels(matching: filter, key: key).makeAsyncIterator()
        #expect(await models.next() == [])
        try await cache.save(list("a", "b"), for: key)
        #expect(await models.next()?.map(\.name) == ["b"])
        try await cache.save(list("x"), for: ModelKey("others"))
        try await cache.save(CachedModel(Item(name: "b"), date: list().date), for: ModelKey("items"))
        try await cache.save(list("b", "bb"), for: key)
        #expect(await models.next()?.map(\.name) == ["b", "bb"])
        try await cache.delete(key)
        #expect(await models.next() == [])
        try await cache.save(list("b"), for: key)
        try await cache.deleteAll()
        #expect(await models.next() == [])
        #expect(cache.changes.observerCount == 1)
    }

    @Test("A slow reader finds only the newest list")
    func slow() async throws {
        let cache = ModelCache()
        var models = cache.liveModels(matching: filter, key: key).makeAsyncIterator()
        _ = await models.next()
        for number in 0..<100 { try await cache.save(list("b\(number)"), for: key) }
        #expect(await models.next()?.map(\.name) == ["b99"])
        let task = Task {
            var models = cache.liveModels(matching: filter, key: key).makeAsyncIterator()
            _ = await models.next()
            return await models.next()
        }
        task.cancel()
        #expect(await task.value == nil)
    }

    @Test("The sequence ends with its task, and leaves no observer behind")
    func end() async throws {
        let cache = ModelCache()
        let readings = Mutex(0)
        let reached = Latch()
        let task = Task { [filter, key] in
            for await _ in cache.liveModels(matching: filter, key: key) {
                readings.withLock { $0 += 1 }
                reached.open()
            }
        }
        await reached.wait()
        #expect(cache.changes.observerCount == 1)
        task.cancel()
        await task.value
        #expect(cache.changes.observerCount == 0)
        #expect(readings.withLock { $0 } == 1)

        for await _ in cache.liveModels(matching: filter, key: key) { break }
        #expect(cache.changes.observerCount == 0)
    }

    @Test("Readers of many tasks see the last of many saves")
    func manyReaders() async throws {
        let cache = ModelCache()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { [filter, key] in
                    for await models in cache.liveModels(matching: filter, key: key) {
                        if models.last?.name == "b end" { return }
                    }
                }
            }
            for number in 0..<200 { try? await cache.save(list("b\(number)"), for: key) }
            try? await cache.save(list("b end"), for: key)
        }
        #expect(cache.changes.observerCount == 0)
    }

    @Test("A cache that cannot be observed gives its models once, and a wrapped one gives them live")
    func notObservable() async throws {
        let cache = PlainCache()
        try await cache.save(list("b"), for: key)
        var models: [[Item]] = []
        for await matching in cache.liveModels(matching: filter, key: key) { models.append(matching) }
        #expect(models == [[Item(name: "b")]])
    }

    @Test("A cache that fails throws once, and gives live readers no element until the next change")
    func failing() async throws {
        let cache = ObservedCache(PlainCache(.throwsMisses))
        await #expect(throws: RequestFailure.self) { try await cache.models(matching: filter, key: key) }
        let task = Task { [filter, key] in
            var models = cache.liveModels(matching: filter, key: key).makeAsyncIterator()
            return await models.next()
        }
        try await cache.save(list("b"), for: key)
        #expect(await task.value == [Item(name: "b")])
    }

    @Test("Deleting the models of one account notifies the readers of theirs only")
    func partition() async throws {
        let cache = ModelCache()
        let theirs = ModelKey<[Item]>("items", partition: "p")
        var mine = cache.liveModels(matching: filter, key: key).makeAsyncIterator()
        var others = cache.liveModels(matching: filter, key: theirs).makeAsyncIterator()
        _ = await mine.next()
        _ = await others.next()
        try await cache.save(list("b"), for: theirs)
        #expect(await others.next() == [Item(name: "b")])
        try await cache.deleteAll(of: "p")
        #expect(await others.next() == [])
        try await cache.save(list("b2"), for: key)
        #expect(await mine.next() == [Item(name: "b2")])
    }
}
