import EssentialsHTTP
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Model cache", .timeLimit(.minutes(5)))
struct ModelCacheTests {
    private let clock = ManualClock()
    private let key = ModelKey<Item>("item")

    private func item(_ name: String, after seconds: Double = 0) -> CachedModel<Item> {
        CachedModel(Item(name: name), date: Date(timeIntervalSinceReferenceDate: seconds))
    }

    private func cache(
        over entities: (any EntityCache)? = nil, maximumAge: Duration? = nil, count: Int = 1_000, bytes: Int = 16 << 20
    ) -> ModelCache {
        var configuration = ModelCache.Configuration()
        configuration.clock = clock.requestClock
        configuration.maximumAge = maximumAge
        configuration.maximumCount = count
        configuration.maximumBytes = bytes
        return ModelCache(over: entities, configuration: configuration)
    }

    // MARK: Files

    @Test("Another process finds models with their exact dates, in files for their user only")
    func nextProcess() async throws {
        let directory = ModelDirectory()
        let first = try ModelCache(directory: directory.path)
        try await first.save(item("a", after: 0.1), for: key)
        await first.flush()
        #expect(directory.names.count == 1)
        let second = try ModelCache(directory: directory.path)
        #expect(await second.contains(key))
        #expect(await second.load(key) == item("a", after: 0.1))
        #expect(second.count == 1)
        #expect(await second.load(key) == item("a", after: 0.1))
        #expect(second.isIdle && first.isIdle)
    }

    @Test("Text, numbers, empty lists, nil, infinity and NaN can be read from files")
    func values() async throws {
        let directory = ModelDirectory()
        let first = try ModelCache(directory: directory.path)
        let date = Date(timeIntervalSinceReferenceDate: 1)
        try await first.save(CachedModel("x", date: date), for: ModelKey("text"))
        try await first.save(CachedModel(7, date: date), for: ModelKey("number"))
        try await first.save(CachedModel([Item](), date: date), for: ModelKey("list"))
        try await first.save(CachedModel(Int?.none, date: date), for: ModelKey("nil"))
        try await first.save(CachedModel([Double.infinity, .nan], date: date), for: ModelKey("numbers"))
        await first.flush()
        let second = try ModelCache(directory: directory.path)
        #expect(await second.load(ModelKey<String>("text"))?.value == "x")
        #expect(await second.load(ModelKey<Int>("number"))?.value == 7)
        #expect(await second.load(ModelKey<[Item]>("list"))?.value == [])
        #expect(await second.load(ModelKey<Int?>("nil")) == CachedModel(nil, date: date))
        let numbers = await second.load(ModelKey<[Double]>("numbers"))?.value
        #expect(numbers?.first == .infinity && numbers?.last?.isNaN == true)
    }

    @Test("A model of an older schema is a miss, and one of the same schema with another encoding is removed")
    func schema() async throws {
        let directory = ModelDirectory()
        defer { withExtendedLifetime(directory) {} }
        let files = try FileEntityCache(directory: directory.path)
        let first = cache(over: files)
        try await first.save(item("a"), for: key)
        await first.flush()
        var newer = key
        newer.schema = 1
        #expect(await cache(over: files).load(newer) == nil)
        #expect(await cache(over: files).load(key) != nil)

        // The type was changed, and the version was not.
        let body = Data(#"{"title":"a"}"#.utf8)
        try await files.store(StoredEntity(body: body, date: clock.date), for: EntityKey(key))
        let second = cache(over: files)
        #expect(await second.contains(key))
        #expect(await second.load(key) == nil)
        #expect(second.problems.count == 1)
        #expect(second.problems.last?.contains("could not be decoded") == true)
        await second.flush()
        #expect(try await files.entity(for: EntityKey(key)) == nil)
        #expect(await files.usage.damaged == 0 && second.isIdle)
    }

    @Test("A damaged file is a miss and is removed, for damage at any place")
    func damage() async throws {
        let directory = ModelDirectory()
        for part in [0.0, 0.3, 0.6, 0.99] {
            let first = try ModelCache(directory: directory.path)
            try await first.save(item("a"), for: key)
            await first.flush()
            let name = try #require(directory.names.first)
            var bytes = try directory.read(name)
            bytes[Int(Double(bytes.count) * part)] ^= 0x40
            try directory.write(bytes, name)
            let second = try ModelCache(directory: directory.path)
            #expect(await second.load(key) == nil)
            #expect(directory.names == [])
            #expect(await second.contains(key) == false)
        }
    }

    @Test("A cache shared with resources deletes only models, and for one account only its models")
    func sharing() async throws {
        let directory = ModelDirectory()
        defer { withExtendedLifetime(directory) {} }
        let files = try FileEntityCache(directory: directory.path)
        let resource = EntityKey(url: "https://api.example.com/item", stage: "decoding", partition: "p")
        try await files.store(StoredEntity(body: Data([1]), date: clock.date), for: resource)
        let models = cache(over: files)
        let mine = ModelKey<Item>("item", partition: "p")
        try await models.save(item("a"), for: key)
        try await models.save(item("b"), for: mine)
        await models.flush()
        #expect(await files.usage.count == 3)

        try await models.deleteAll(of: "p")
        #expect(await models.load(mine) == nil)
        #expect(await models.load(key) == item("a"))
        #expect(await files.usage.count == 2)

        try await models.deleteAll()
        #expect(await models.load(key) == nil)
        #expect(models.count == 0)
        #expect(await files.usage.count == 1)
        #expect(try await files.entity(for: resource) != nil)
        // A resource service that removes its own entities leaves the models.
        try await models.save(item("c"), for: key)
        await models.flush()
        try await files.removeAll(in: EntityScope(origin: "https://api.example.com"))
        #expect(await cache(over: files).load(key) == item("c"))
    }

    @Test("Purging all resources of a service leaves the models in a shared cache, and the other way round")
    func purging() async throws {
        let entities = MemoryEntityCache()
        let fixture = try ResourceFixture(cache: entities)
        fixture.transport.on(.get, "/v1/items/1").answer(json: Item(name: "resource"))
        let models = cache(over: entities)
        try await models.save(item("model"), for: key)
        await models.flush()
        let resource: Resource<Item> = fixture.service.resource("items/1")
        _ = try await resource.loadIfNeeded()
        #expect(try await fixture.service.wipe(.all, purging: .caches))
        #expect(entities.count == 1)
        #expect(await cache(over: entities).load(key) == item("model"))

        _ = try await resource.loadIfNeeded()
        try await models.deleteAll()
        await fixture.service.close()
        #expect(entities.count == 1)
        #expect(await cache(over: entities).load(key) == nil)
    }

    // MARK: Age

    @Test("A model that is too old is a miss and is removed from memory and below")
    func expiry() async throws {
        let entities = MemoryEntityCache()
        let models = cache(over: entities, maximumAge: .seconds(60))
        try await models.save(item("a"), for: key)
        await models.flush()
        clock.advance(by: .seconds(59))
        #expect(await models.load(key) == item("a"))
        #expect(await cache(over: entities, maximumAge: .seconds(60)).load(key) == item("a"))
        clock.advance(by: .seconds(1))
        #expect(await models.contains(key) == false)
        #expect(models.count == 1)
        #expect(await models.load(key) == nil)
        #expect(models.count == 0)
        await models.flush()
        #expect(entities.count == 0)

        entities.store(
            StoredEntity(body: Data("{}".utf8), date: Date(timeIntervalSinceReferenceDate: 0)), for: EntityKey(key))
        let other = cache(over: entities, maximumAge: .seconds(60))
        #expect(await other.contains(key) == false)
        #expect(await other.load(key) == nil)
        await other.flush()
        #expect(entities.count == 0 && other.problems.count == 0)
    }

    @Test("A model from the future is a miss where there is a maximum age, and is found again later")
    func clockSetBack() async throws {
        let entities = MemoryEntityCache()
        for models in [cache(maximumAge: .seconds(60)), cache(over: entities, maximumAge: .seconds(60), count: 0)] {
            try await models.save(item("a", after: 100), for: key)
            clock.date = Date(timeIntervalSinceReferenceDate: 50)
            #expect(await models.load(key) == nil)
            #expect(await models.contains(key) == false)
            clock.date = Date(timeIntervalSinceReferenceDate: 110)
            #expect(await models.load(key) == item("a", after: 100))
        }
        let models = cache()
        try await models.save(item("a", after: 1_000), for: key)
        #expect(await models.load(key)?.age(at: clock.date) == nil)
    }

    @Test("No date causes a trap", arguments: [1e300, -1e300, .infinity, -.infinity, .nan, 0x1p59, -0x1p59])
    func oddDates(_ seconds: Double) async throws {
        let models = cache(over: MemoryEntityCache(), maximumAge: .seconds(60))
        try await models.save(item("a", after: seconds), for: key)
        _ = await models.load(key)
        models.trim()
        _ = await models.load(key)
        #expect(await models.contains(key) == false)
        _ = item("a", after: seconds).age(at: clock.date)
    }

    // MARK: Limits

    @Test("Memory keeps the models that were used last, up to a number and to a size of their encodings")
    func limits() async throws {
        let models = cache(count: 3)
        for number in 0..<3 { try await models.save(item("\(number)"), for: ModelKey("\(number)")) }
        _ = await models.load(ModelKey<Item>("0"))
        try await models.save(item("3"), for: ModelKey("3"))
        #expect(models.count == 3)
        #expect(await models.load(ModelKey<Item>("0")) != nil)
        #expect(await models.load(ModelKey<Item>("1")) == nil)
        models.trim(part: 0.5)
        #expect(models.count == 2)
        models.trim(part: .nan)
        models.trim(part: -1)
        #expect(models.count == 2)

        let small = cache(bytes: 10_000)
        for number in 0..<20 {
            try await small.save(item(String(repeating: "x", count: 1_000)), for: ModelKey("\(number)"))
            #expect(small.byteCount <= 10_000)
        }
        #expect(small.count == 7)
        // A model that is too large for memory replaces the one that was there.
        try await small.save(item("a"), for: key)
        try await small.save(item(String(repeating: "x", count: 20_000)), for: key)
        #expect(await small.load(key) == nil)
    }

    @Test("Models that memory has evicted are found below, and fill memory again")
    func evicted() async throws {
        let models = cache(over: MemoryEntityCache(), count: 1)
        try await models.save(item("a"), for: key)
        try await models.save(item("b"), for: ModelKey("other"))
        #expect(await models.load(key) == item("a"))
        #expect(models.count == 1)
        #expect(await models.load(ModelKey<Item>("other")) == item("b"))
    }

    @Test("A model that is too large to wait is not kept below, removes the earlier one there, and displaces nothing")
    func tooLarge() async throws {
        let entities = MemoryEntityCache(maximumBytes: 64 << 20)
        let models = cache(over: entities, count: 0)
        try await models.save(item("a"), for: key)
        try await models.save(item("b"), for: ModelKey("other"))
        try await models.save(item(String(repeating: "x", count: 17 << 20)), for: key)
        #expect(models.problems.dropped == 1)
        await models.flush()
        #expect(await models.load(key) == nil)
        #expect(await models.load(ModelKey<Item>("other")) == item("b"))
    }

    @Test("Files stay within their size, and the models that were used last are found in them")
    func fileLimit() async throws {
        let directory = ModelDirectory()
        defer { withExtendedLifetime(directory) {} }
        let files = try FileEntityCache(directory: directory.path, maximumBytes: 40 << 10)
        let models = cache(over: files, count: 0)
        for number in 0..<30 {
            try await models.save(item(String(repeating: "x", count: 1_000)), for: ModelKey("\(number)"))
        }
        await models.flush()
        #expect(await files.usage.bytes <= 40 << 10)
        #expect(await files.usage.count == 10)
        #expect(await models.load(ModelKey<Item>("29")) != nil)
        #expect(await models.load(ModelKey<Item>("0")) == nil)
        #expect(models.problems == CacheProblems())
    }

    @Test("Models below are sealed, and those of an unknown key are misses")
    func sealed() async throws {
        struct Sealing: EntitySealing {
            var keyID = "1"
            func seal(_ bytes: Data, context: Data) -> Data { Data(bytes.map { $0 ^ 0x55 }) }
            func open(_ bytes: Data, keyID: String, context: Data) -> Data? {
                keyID == self.keyID ? Data(bytes.map { $0 ^ 0x55 }) : nil
            }
        }
        let entities = MemoryEntityCache()
        let models = cache(over: SealedEntityCache(entities, sealing: Sealing()))
        try await models.save(item("secret"), for: key)
        await models.flush()
        let stored = try #require(entities.entity(for: EntityKey(key)))
        #expect(!String(decoding: stored.body, as: UTF8.self).contains("secret"))
        #expect(await cache(over: SealedEntityCache(entities, sealing: Sealing())).load(key) == item("secret"))
        #expect(await cache(over: SealedEntityCache(entities, sealing: Sealing(keyID: "2"))).load(key) == nil)
    }

    // MARK: Order

    @Test("If a read and a save overlap, the save holds")
    func readBesideSave() async throws {
        let entities = TroubledCache()
        entities.memory.store(
            StoredEntity(body: Data(#"{"name":"old"}"#.utf8), date: clock.date), for: EntityKey(key))
        let models = cache(over: entities)
        let (reached, released) = (Latch(), Latch())
        entities.gate.withLock { $0 = (reached, released) }
        async let found = models.load(key)
        await reached.wait()
        entities.gate.withLock { $0 = nil }
        try await models.save(item("new"), for: key)
        released.open()
        #expect(await found == item("new"))
        #expect(await models.load(key) == item("new"))
        #expect(models.isIdle)
    }

    @Test("A model that is deleted while it is read is not found, and does not come back", arguments: [false, true])
    func readBesideDelete(all: Bool) async throws {
        let entities = TroubledCache()
        entities.memory.store(
            StoredEntity(body: Data(#"{"name":"old"}"#.utf8), date: clock.date), for: EntityKey(key))
        let models = cache(over: entities)
        let (reached, released) = (Latch(), Latch())
        entities.gate.withLock { $0 = (reached, released) }
        async let found = models.load(key)
        await reached.wait()
        entities.gate.withLock { $0 = nil }
        if all { try await models.deleteAll() } else { await models.delete(key) }
        released.open()
        #expect(await found == nil)
        await models.flush()
        #expect(models.count == 0 && entities.memory.count == 0 && models.isIdle)
    }

    @Test("A model that cannot be encoded throws and leaves the earlier one")
    func unencodable() async throws {
        struct Stubborn: Codable, Sendable {
            var fails = false
            init(fails: Bool) { self.fails = fails }
            func encode(to encoder: any Encoder) throws {
                guard !fails else { throw TroubledCache.Trouble() }
                var container = encoder.singleValueContainer()
                try container.encode(1)
            }
            init(from decoder: any Decoder) throws {}
        }
        let models = cache(over: MemoryEntityCache())
        let key = ModelKey<Stubborn>("stubborn")
        try await models.save(CachedModel(Stubborn(fails: false), date: clock.date), for: key)
        await #expect(throws: TroubledCache.Trouble.self) {
            try await models.save(CachedModel(Stubborn(fails: true), date: clock.date), for: key)
        }
        #expect(await models.load(key)?.value.fails == false)
        #expect(models.isIdle)
    }

    @Test("Many tasks that save, load and delete leave memory and the cache below with the same models")
    func concurrency() async throws {
        let entities = MemoryEntityCache()
        let models = cache(over: entities, count: 4)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var numbers = SeededNumbers(state: UInt64(task))
                    for number in 0..<200 {
                        let key = ModelKey<Item>("\(UInt64.random(in: 0..<6, using: &numbers))")
                        switch UInt64.random(in: 0..<10, using: &numbers) {
                        case 0..<5: try? await models.save(item("\(task) \(number)"), for: key)
                        case 5..<8: _ = await models.load(key)
                        case 8: await models.delete(key)
                        default: models.trim()
                        }
                    }
                }
            }
        }
        await models.flush()
        #expect(models.isIdle)
        for number in 0..<6 {
            let key = ModelKey<Item>("\(number)")
            #expect(await models.load(key) == cache(over: entities).load(key))
        }
    }

    // MARK: Faults

    @Test("Faults below are misses and are counted, memory still works, and a failed deletion of all is reported")
    func faults() async throws {
        let entities = TroubledCache()
        let models = cache(over: entities)
        entities.isFailing.withLock { $0 = true }
        try await models.save(item("a"), for: key)
        await models.flush()
        #expect(await models.load(key) == item("a"))
        #expect(await models.load(ModelKey<Item>("other")) == nil)
        #expect(models.problems.count == 2)
        let failure = await #expect(throws: RequestFailure.self) { try await models.deleteAll() }
        #expect(failure?.reason == .file)
        #expect(await models.load(key) == nil)
        entities.isFailing.withLock { $0 = false }
        await models.flush()
        #expect(models.isIdle)
    }

    @Test("Clearing the private state of a data-request service deletes the models")
    func privateState() async throws {
        let fixture = try ResourceFixture()
        let models = cache(over: MemoryEntityCache())
        try fixture.requests.privateStateRegistry?.add(privateStateStore: models)
        try await models.save(item("a"), for: key)
        await fixture.requests.clearAuthorization()
        #expect(await models.contains(key) == false)
    }

    @Test("Models of two types with one name, of two accounts and of two environments are separate in memory and below")
    func slots() async throws {
        let entities = MemoryEntityCache()
        let models = cache(over: entities)
        try await models.save(item("a"), for: key)
        try await models.save(CachedModel([Item(name: "list")], date: clock.date), for: ModelKey("item"))
        try await models.save(item("b"), for: ModelKey("item", partition: "p"))
        try await models.save(item("c"), for: ModelKey("item", environment: "test"))
        await models.flush()
        #expect(entities.count == 4)
        for models in [models, cache(over: entities)] {
            #expect(await models.load(key)?.value.name == "a")
            #expect(await models.load(ModelKey<[Item]>("item"))?.value.count == 1)
            #expect(await models.load(ModelKey<Item>("item", partition: "p"))?.value.name == "b")
            #expect(await models.load(ModelKey<Item>("item", environment: "test"))?.value.name == "c")
        }
    }

    @Test(
        "Deletions wait five seconds for an entity cache that does not respond, but the models are not found at once",
        arguments: 0..<3)
    func hanging(kind: Int) async throws {
        let (entities, latch) = (CacheDouble(), Latch())
        let cache = cache(over: entities)
        try await cache.save(item("a"), for: key)
        await cache.flush()
        entities.stalls(latch)
        let origin = try RequestURL("https://h/").origin
        let deletion = Task { () -> RequestFailure.Reason? in
            do throws(RequestFailure) {
                switch kind {
                case 0: try await cache.deleteAll()
                case 1: try await cache.deleteAll(of: .shared)
                default: await cache.clearPrivateState(of: origin)
                }
                return nil
            } catch {
                return error.reason
            }
        }
        await clock.waitForSleepers(count: 1)
        #expect(await cache.load(key) == nil)
        clock.advance(by: .seconds(5))
        #expect(await deletion.value == (kind < 2 ? .file : nil))
        latch.open()
        await cache.flush()
        #expect(entities.entities.isEmpty)
    }
}
