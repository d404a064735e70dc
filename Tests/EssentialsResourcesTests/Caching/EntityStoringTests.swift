import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite("Entity caches: writing", .leavesNothing, .timeLimit(.minutes(5)))
struct EntityStoringTests {
    private struct CountingHandler: LogHandler {
        let messages: @Sendable (String) -> Void
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { messages("\(event.message)") }
    }

    @Test("A restarted program finds content that an earlier one has loaded, with its age")
    func nextStart() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"), headerFields: [.setCookie: "a=b"])
        let first = try fixture.service()
        try await first.resource("item", as: Item.self).load()
        await first.close()
        fixture.clock.advance(by: .seconds(12))
        let item = try fixture.service().resource("item", as: Item.self)
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(item.state.age == .seconds(12))
        #expect(item.state.entity?.headerFields[.setCookie] == nil)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A 304 renews times and header fields in the cache")
    func revalidated() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("Ada", age: .seconds(60), fields: [.eTag: "\"1\""]), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(.notModified, headerFields: [.contentLanguage: "en"])
        let service = try fixture.service()
        #expect(try await service.resource("item", as: Item.self).loadIfNeeded().name == "Ada")
        await service.close()
        let stored = fixture.cache.entities[CacheFixture.key]
        #expect(stored?.date == fixture.clock.date)
        #expect(stored?.headerFields[.contentLanguage] == "en")
        #expect(stored?.headerFields[.eTag] == "\"1\"")
        #expect(fixture.cache.calls == ["read decoding", "renew decoding"])
    }

    @Test("An override, an update and a load with another request remove the entity from the cache")
    func removed() async throws {
        for change in 0..<3 {
            let fixture = CacheFixture()
            fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
            fixture.transport.on(.get, "/v1/other").answer(json: Item(name: "other"))
            let service = try fixture.service()
            let item: Resource<Item> = service.resource("item")
            try await item.load()
            switch change {
            case 0: item.override(with: Item(name: "mine"))
            case 1: #expect(item.update { $0.name = "mine" })
            default: try await item.load(using: DataRequest(.get, "other"))
            }
            await service.close()
            #expect(fixture.cache.entities.isEmpty, "change \(change)")
        }
    }

    @Test("A write that ends after another partition was entered removes the entity of its own partition")
    func writeOfEarlierPartition() async throws {
        let fixture = CacheFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "before"))
        fixture.transport.on(.put, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.noContent)
        }
        let service = try fixture.service()
        let item: Resource<Item> = service.resource("item")
        service.enter("ada")
        try await item.load()
        let write = Task { try await item.put(Item(name: "after")) }
        _ = try await fixture.transport.request(number: 2)
        service.enter("bob")
        try await item.load()
        latch.open()
        _ = try await write.value
        #expect(item.content?.name == "before")
        await service.close()
        #expect(fixture.cache.entities.keys.map(\.partition) == ["bob"])
    }

    @Test("A response that was superseded is not stored")
    func superseded() async throws {
        let fixture = CacheFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "old"))
        }.thenAnswer(json: Item(name: "new"))
        let service = try fixture.service()
        let item: Resource<Item> = service.resource("item")
        async let older = item.load()
        _ = try await fixture.transport.request(number: 1)
        try await item.load()
        latch.open()
        #expect(try await older.name == "old")
        await service.close()
        #expect(fixture.cache.entities[CacheFixture.key]?.body == fixture.entity("new").body)
    }

    @Test("Keys contain the environment, the trust policy, the variant and the partition")
    func keys() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let trust = try TrustPolicy(hosts: [HostRule.unpinned("h")])
        let environment = MutableEnvironment(
            EnvironmentSnapshot(name: "staging", baseURL: try RequestURL("https://h/v1/"), trust: trust))
        let service = try fixture.service(environment: environment) { $0.trustFingerprint = "pinned-" }
        let item: Resource<Item> = service.resource("item", variant: .acceptLanguage("de"))
        try await item.load()
        await service.close()
        let key = try #require(fixture.cache.entities.keys.first)
        #expect(key.environment == "staging")
        #expect(key.trust == "pinned-" + TrustFingerprint.text(of: trust))
        #expect(key.variant == "accept-language: de")
        #expect(key.url == "https://h/v1/item")
        #expect(key.partition == .shared)
        #expect(key.stage == "decoding")
    }

    @Test("Different trust policies have different fingerprints, and equal ones have the same")
    func fingerprints() throws {
        let pin = try Pin(kind: .publicKey, digest: Array(repeating: 7, count: 32))
        let policies = [
            TrustPolicy.system, TrustPolicy(minimumTLS: .tls13), try TrustPolicy(pins: [pin], acceptsSinglePin: true),
            try TrustPolicy(hosts: [HostRule.unpinned("h")]), try TrustPolicy(hosts: [HostRule.unpinned("*.h")]),
        ]
        #expect(Set(policies.map { TrustFingerprint.text(of: $0) }).count == policies.count)
        #expect(TrustFingerprint.text(of: .system) == TrustFingerprint.text(of: TrustPolicy()))
    }

    // MARK: Responses that are not stored

    @Test(
        "A persistent cache does not store a response with no-store, and removes the earlier one",
        arguments: ["no-store", "private, No-Store", "max-age=5 , no-store "])
    func noStore(directives: String) async throws {
        for isPersistent in [true, false] {
            let fixture = CacheFixture(isPersistent: isPersistent)
            fixture.cache.set(fixture.entity("old", age: .seconds(99)), for: CacheFixture.key)
            fixture.transport.on(.get, "/v1/item").answer(
                json: Item(name: "new"), headerFields: [.cacheControl: directives])
            let service = try fixture.service()
            try await service.resource("item", as: Item.self).load()
            await service.close()
            #expect(fixture.cache.entities.isEmpty == isPersistent)
        }
    }

    @Test(
        "Without a partition a persistent cache stores no response to a request with credentials, and logs that once")
    func credentials() async throws {
        let messages = Mutex<[String]>([])
        let fixture = CacheFixture()
        for path in ["/v1/item", "/v1/other"] { fixture.transport.on(.get, path).answer(json: Item(name: "Ada")) }
        let service = try fixture.service {
            $0.logger = Logger(label: "test") { _ in
                CountingHandler(messages: { text in messages.withLock { $0.append(text) } })
            }
        }
        try (service.requests as? HTTPDataRequestService)?.setAuthorization(.bearer("secret"))
        try await service.resource("item", as: Item.self).load()
        try await service.resource("other", as: Item.self).load()
        await service.close()
        #expect(fixture.cache.entities.isEmpty)
        #expect(messages.withLock { $0.filter { $0.contains("no partition") }.count } == 1)
    }

    @Test(
        "Responses to requests with credentials are stored in memory, in a partition, and if that is allowed"
    )
    func credentialsAllowed() async throws {
        for isPersistent in [false, true] {
            let fixture = CacheFixture(isPersistent: isPersistent)
            fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
            let service = try fixture.service { $0.defaults.storesSensitiveResponses = isPersistent }
            try (service.requests as? HTTPDataRequestService)?.setAuthorization(.bearer("secret"))
            try await service.resource("item", as: Item.self).load()
            await service.close()
            #expect(fixture.cache.entities.count == 1)
        }
        func refusal(_ partition: EntityPartition) -> EntityCacheRules.Refusal? {
            EntityCacheRules.refusal(
                ofStatus: 200, [:], isPersonal: true, partition: partition, isPersistent: true, allowsSensitive: false)
        }
        #expect(refusal(.shared) == .personal)
        #expect(refusal("ada") == nil)
    }

    @Test(
        "Only responses with the status of a whole entity are stored",
        arguments: [(200, true), (203, true), (206, false), (404, false)])
    func statuses(status: Int, isStored: Bool) {
        let refusal = EntityCacheRules.refusal(
            ofStatus: status, [:], isPersonal: false, partition: .shared, isPersistent: true, allowsSensitive: false)
        #expect((refusal == nil) == isStored)
    }

    @Test(
        "Secrets in fields and queries count as credentials, and so do redirects to another origin and unknown requests"
    )
    func otherCredentials() throws {
        #expect(EntityCacheRules.hasSecrets(query: "page=1&access%5Ftoken=x"))
        #expect(!EntityCacheRules.hasSecrets(query: "page=1&sort=name"))
        for query in ["code=7", "ticket=3", "zip_code=1", "assertion=a"] {
            #expect(!EntityCacheRules.hasSecrets(query: Substring(query)))
        }
        for query in ["client_assertion=a", "SAMLResponse=a", "passkey=1"] {
            #expect(EntityCacheRules.hasSecrets(query: Substring(query)))
        }
        #expect(!EntityCacheRules.hasSecrets(query: nil))
        let request = DataRequest(.get, "item")
        var response = DataResponse()
        #expect(!EntityCacheRules.isPersonal(response, to: request))
        response.sentFields = [.accept: "*/*", .userAgent: "x"]
        #expect(!EntityCacheRules.isPersonal(response, to: request))
        for name in ["Authorization", "Cookie", "X-Api-Key"] {
            response.sentFields = [.accept: "*/*"]
            response.sentFields?[name] = "x"
            #expect(EntityCacheRules.isPersonal(response, to: request))
        }
        response.sentFields = [:]
        #expect(EntityCacheRules.isPersonal(response, to: request))
        let (from, to) = (try RequestURL("https://h/a"), try RequestURL("https://other/a"))
        for (target, isPersonal) in [(to, true), (from, false)] {
            let hop = RedirectHop(from: from, status: .found, to: target, method: .get)
            var redirected = DataResponse(
                TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data())), redirects: [hop])
            redirected.sentFields = [.accept: "*/*"]
            #expect(EntityCacheRules.isPersonal(redirected, to: request) == isPersonal)
        }
    }

    // MARK: Stages

    @Test("The caches are read from the last stage to the first, and a hit fills the caches of later stages")
    func stages() async throws {
        let fixture = CacheFixture()
        let (early, late) = (CacheDouble(), CacheDouble())
        let service = try fixture.service(cached: false) {
            $0.defaults.pipeline.transform(at: .model) { (bytes: Data) in
                Item(name: String(decoding: bytes, as: UTF8.self))
            }
            $0.defaults.pipeline.cache(in: early, at: .raw)
            $0.defaults.pipeline.cache(Item.self, in: late, at: .model, schema: 3)
        }
        let date = fixture.clock.date.addingTimeInterval(-7)
        early.set(
            StoredEntity(body: Data("Ada".utf8), mediaType: "text/x", date: date),
            for: EntityKey(url: "https://h/v1/item", stage: "raw"))
        let item: Resource<Item> = service.resource("item")
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(item.state.provenance == .entityCache(stage: "raw"))
        await service.close()
        #expect(late.calls == ["read model", "store model"])
        let (key, stored) = try #require(late.entities.first)
        #expect(key.type == String(reflecting: Item.self) && key.schema == 3)
        #expect(stored.date == date)
        // The next program begins with the value of the last stage.
        let second = try fixture.service(cached: false) {
            $0.defaults.pipeline.transform(at: .model) { (bytes: Data) -> Item? in nil }
            $0.defaults.pipeline.cache(Item.self, in: late, at: .model, schema: 3)
        }
        let again: Resource<Item> = second.resource("item")
        #expect(try await again.loadIfNeeded().name == "Ada")
        #expect(again.state.provenance == .entityCache(stage: "model"))
    }

    @Test("A value with numbers that JSON lacks is stored and found again")
    func numbers() throws {
        struct Measure: Codable, Sendable { var values: [Double] }
        let cache = StageCache(Measure.self, CacheDouble(), .model, 0)
        let bytes = try #require(cache.encode(Measure(values: [.nan, .infinity, -.infinity, 1])))
        let found = try #require(try cache.decode(bytes) as? Measure)
        #expect(found.values.first?.isNaN == true && found.values.dropFirst() == [.infinity, -.infinity, 1])
    }

    @Test("A hit whose later stages fail counts as a miss, and is removed")
    func failingStage() async throws {
        let fixture = CacheFixture()
        fixture.cache.set(fixture.entity("old"), for: CacheFixture.key)
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "new"))
        let service = try fixture.service {
            $0.defaults.pipeline.transform(at: .model) { (bytes: Data) in
                let item = try JSONDecoder().decode(Item.self, from: bytes)
                guard item.name != "old" else { throw RequestFailure(.decoding, "It is too old.") }
                return item
            }
        }
        let item: Resource<Item> = service.resource("item")
        #expect(try await item.loadIfNeeded().name == "new")
        await service.close()
        #expect(fixture.cache.entities[CacheFixture.key]?.body == fixture.entity("new").body)
    }

    @Test("Content that became a value before the stage of a cache of bytes is not stored")
    func noBytes() async throws {
        let fixture = CacheFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let service = try fixture.service {
            $0.defaults.pipeline.add(.model(Item.self), at: .raw)
        }
        try await service.resource("item", as: Item.self).load()
        await service.close()
        #expect(fixture.cache.entities.isEmpty)
    }

    @Test("The cache of the service is at the stage decoding, or at raw if the order lacks it")
    func standardStage() {
        let cache = CacheDouble()
        var pipeline = ResourcePipeline()
        #expect([StageCache](pipeline, standard: cache).map(\.stage) == [.decoding])
        pipeline.order = [.model, .raw]
        #expect([StageCache](pipeline, standard: cache).map(\.stage) == [.raw])
        pipeline.order = [.model]
        #expect([StageCache](pipeline, standard: cache).isEmpty)
        pipeline.cache(in: cache, at: .model)
        #expect([StageCache](pipeline, standard: nil).map(\.stage) == [.model])
        pipeline.removeCaches()
        #expect([StageCache](pipeline, standard: nil).isEmpty)
    }
}
