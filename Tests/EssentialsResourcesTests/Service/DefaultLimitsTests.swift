import EssentialsFetching
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

/// The defaults that the documentation states.
@Suite("Default limits", .leavesNothing)
struct DefaultLimitsTests {
    @Test("A service keeps 2,048 unused resources, with 32 MiB of content")
    func unused() throws {
        let configuration = HTTPResourceService.Configuration()
        #expect(configuration.maximumUnused == 2_048)
        #expect(configuration.maximumUnusedBytes == 32 << 20)
        let fixture = try ResourceFixture()
        for number in 0..<3_000 { _ = fixture.service.resource("items/\(number)", as: Item.self) }
        #expect(fixture.service.resourceCount == 2_048)
    }

    @Test("A model cache keeps 1,000 decoded models in memory, with 16 MiB")
    func models() {
        let configuration = ModelCache.Configuration()
        #expect(configuration.maximumCount == 1_000)
        #expect(configuration.maximumBytes == 16 << 20)
    }

    @Test("An entity cache in memory keeps 10,000 entities, with 16 MiB")
    func entities() {
        let (many, large) = (MemoryEntityCache(), MemoryEntityCache())
        let date = Date(timeIntervalSinceReferenceDate: 0)
        for number in 0..<10_001 {
            many.store(StoredEntity(body: Data([1]), date: date), for: key(number))
        }
        #expect(many.count == 10_000)
        let body = Data(repeating: 1, count: 1 << 20)
        for number in 0..<20 { large.store(StoredEntity(body: body, date: date), for: key(number)) }
        // The names and the parts apart from the body count too.
        #expect(large.count == 15)
        #expect(large.byteCount <= 16 << 20)
    }

    @Test("1,000 changes with 16 MiB wait to be written, and the oldest are dropped beyond that")
    func waiting() async throws {
        let queue = WriteBehind()
        #expect(queue.maximumCount == 1_000)
        #expect(queue.maximumBytes == 16 << 20)
        // While the first of so many models is written, the others wait.
        for (text, count, kept) in [("a", 1_002, 1_000), (String(repeating: "a", count: 1 << 20), 21, 15)] {
            let (entities, latch) = (CacheDouble(), Latch())
            entities.stalls(latch)
            let cache = ModelCache(over: entities)
            let date = Date(timeIntervalSinceReferenceDate: 0)
            for number in 0..<count {
                try await cache.save(CachedModel(text, date: date), for: ModelKey("\(number)"))
                if number == 0 { await entities.waitForCalls(1) }
            }
            #expect(cache.problems.dropped == count - 1 - kept)
            latch.open()
            await cache.flush()
            #expect(entities.entities.count == kept + 1)
            var found: [Bool] = []
            for number in [0, count - kept - 1, count - kept] {
                found.append(await ModelCache(over: entities).contains(ModelKey<String>("\(number)")))
            }
            #expect(found == [true, false, true])
        }
    }

    @Test("An outbox holds 10,000 entries with 64 MiB for seven days, and gives an entry up after ten attempts")
    func outbox() {
        let configuration = Outbox.Configuration()
        #expect(configuration.maximumCount == 10_000)
        #expect(configuration.maximumBytes == 64 << 20)
        #expect(configuration.maximumAge == .seconds(7 * 86_400))
        #expect(configuration.maximumAttempts == 10)
        #expect(configuration.maximumConcurrent == 4)
    }

    @Test("A blob service uses 256 MiB of the disk, and reads at most 64 MiB into memory")
    func blobs() {
        #expect(BlobService.Configuration().maximumBytes == 256 << 20)
        #expect(BlobService.defaultMaximum == 64 << 20)
    }

    private func key(_ number: Int) -> EntityKey { EntityKey(url: "https://h/\(number)", stage: "raw") }
}
