import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import Testing

/// The defaults that the documentation names.
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
        // The names and the parts beside the body count too.
        #expect(large.count == 15)
        #expect(large.byteCount <= 16 << 20)
    }

    private func key(_ number: Int) -> EntityKey { EntityKey(url: "https://h/\(number)", stage: .raw) }
}
