import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Sealed entity caches")
struct SealedEntityCacheTests {
    /// No encryption, only bytes that look different and belong to a key and a context.
    struct Sealing: EntitySealing {
        var keyID = "2"
        var knownKeys = ["1", "2"]

        func seal(_ bytes: Data, context: Data) async throws -> Data { mask(bytes, keyID) + tag(context, keyID) }

        func open(_ bytes: Data, keyID: String, context: Data) async throws -> Data? {
            guard knownKeys.contains(keyID), bytes.suffix(16) == tag(context, keyID) else { return nil }
            return mask(bytes.dropLast(16), keyID)
        }

        private func mask(_ bytes: Data, _ keyID: String) -> Data {
            Data(bytes.map { $0 ^ (0x5a &+ UInt8(keyID.utf8.count)) })
        }

        private func tag(_ context: Data, _ keyID: String) -> Data {
            Data(StableHash.hexadecimal(StableHash.name(of: context + keyID.utf8)).utf8.prefix(16))
        }
    }

    private let key = EntityKey(url: "https://h/a", stage: "raw")
    private let entity = StoredEntity(
        body: Data("secret".utf8), mediaType: "text/secret", headerFields: [.eTag: "\"secret\""],
        date: Date(timeIntervalSinceReferenceDate: 3))

    @Test("A sealed cache does what every cache does")
    func conformance() async throws {
        try await CacheConformance { SealedEntityCache(MemoryEntityCache(), sealing: Sealing()) }.check()
        #expect(!SealedEntityCache(MemoryEntityCache(), sealing: Sealing()).isPersistent)
        #expect(SealedEntityCache(CacheDouble(), sealing: Sealing()).isPersistent)
    }

    @Test("What the other cache stores shows neither content nor media type nor header fields")
    func hidden() async throws {
        let inner = CacheDouble()
        try await SealedEntityCache(inner, sealing: Sealing()).store(entity, for: key)
        let stored = try #require(inner.entities[key])
        #expect(stored.mediaType == nil && stored.headerFields.isEmpty)
        #expect(!String(decoding: stored.body, as: UTF8.self).contains("secret"))
    }

    @Test("Entities of an earlier key are opened as long as it is known, and are a miss afterwards")
    func keys() async throws {
        let inner = CacheDouble()
        try await SealedEntityCache(inner, sealing: Sealing(keyID: "1")).store(entity, for: key)
        #expect(try await SealedEntityCache(inner, sealing: Sealing()).entity(for: key) == entity)
        let later = SealedEntityCache(inner, sealing: Sealing(keyID: "3", knownKeys: ["3"]))
        #expect(try await later.entity(for: key) == nil)
        try await later.revalidated(key, by: EntityConfirmation(date: entity.date))
        try await later.store(entity, for: key)
        #expect(try await later.entity(for: key) == entity)
    }

    @Test("An entity in the place of another one, and damaged bytes, are a miss")
    func swapped() async throws {
        let inner = CacheDouble()
        let cache = SealedEntityCache(inner, sealing: Sealing())
        try await cache.store(entity, for: key)
        let stored = try #require(inner.entities[key])
        var other = key
        other.url = "https://h/b"
        inner.set(stored, for: other)
        #expect(try await cache.entity(for: other) == nil)
        for count in 0..<stored.body.count {
            var cut = stored
            cut.body = stored.body.prefix(count)
            inner.set(cut, for: key)
            #expect(try await cache.entity(for: key) == nil)
        }
    }
}
