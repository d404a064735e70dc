import EssentialsResourcesTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Entity cache in memory")
struct MemoryEntityCacheTests {
    private func entity(_ bytes: Int) -> StoredEntity {
        StoredEntity(body: Data(repeating: 1, count: bytes), date: Date(timeIntervalSinceReferenceDate: 0))
    }

    private func key(_ number: Int) -> EntityKey { EntityKey(url: "https://h/\(number)", stage: "raw") }

    @Test("The cache in memory does what every cache does, and the doubles of the tests too")
    func conformance() async throws {
        try await CacheConformance { MemoryEntityCache() }.check()
        try await CacheConformance { CacheDouble() }.check()
        try await CacheConformance { ScriptedEntityCache() }.check()
        #expect(!MemoryEntityCache().isPersistent)
    }

    @Test("The entities that were used longest ago go first, and one that is too large is not kept")
    func limits() {
        let cache = MemoryEntityCache(maximumBytes: 10_000)
        for number in 0..<4 { cache.store(entity(2_000), for: key(number)) }
        #expect(cache.entity(for: key(0)) != nil)
        cache.store(entity(2_000), for: key(4))
        #expect(cache.entity(for: key(1)) == nil)
        #expect(cache.entity(for: key(0)) != nil)
        #expect(cache.byteCount <= 10_000)
        cache.store(entity(20_000), for: key(0))
        #expect(cache.entity(for: key(0)) == nil)
        #expect(cache.count == 3)
    }

    @Test("A program that must free memory removes a part of the entities, those that were used longest ago")
    func trim() {
        let cache = MemoryEntityCache()
        for number in 0..<4 { cache.store(entity(1), for: key(number)) }
        cache.trim(part: 0.5)
        #expect(cache.entity(for: key(1)) == nil && cache.entity(for: key(2)) != nil)
        cache.trim()
        #expect(cache.count == 0 && cache.byteCount == 0)
    }
}
