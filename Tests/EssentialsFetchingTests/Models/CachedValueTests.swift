import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Cached value", .timeLimit(.minutes(5)))
struct CachedValueTests {
    private let clock = ManualClock()

    @Test("A value is saved with the date, loaded, changed and deleted")
    func value() async throws {
        let cache = ModelCache()
        let value = CachedValue(ModelKey<Int>("number"), in: cache, clock: clock.requestClock)
        #expect(try await value.load() == nil)
        try await value.delete()
        clock.advance(by: .seconds(5))
        try await value.save(1)
        #expect(await cache.load(value.key) == CachedModel(1, date: clock.date))
        clock.advance(by: .seconds(5))
        #expect(try await value.update { $0 = ($0 ?? 0) + 1 } == 2)
        #expect(await cache.load(value.key) == CachedModel(2, date: clock.date))
        #expect(try await value.update { $0 = nil } == nil)
        #expect(await cache.contains(value.key) == false)
        #expect(try await value.update { _ in } == nil)
        try await value.save(3)
        try await value.delete()
        #expect(try await value.load() == nil)
    }

    @Test("A value is found after a restart, but not by another type or account")
    func restart() async throws {
        let directory = ModelDirectory()
        let first = try ModelCache(directory: directory.path)
        try await CachedValue(ModelKey<String>("name", partition: "p"), in: first).save("Ada")
        await first.flush()
        let second = try ModelCache(directory: directory.path)
        #expect(try await CachedValue(ModelKey<String>("name", partition: "p"), in: second).load() == "Ada")
        #expect(try await CachedValue(ModelKey<String>("name"), in: second).load() == nil)
        #expect(try await CachedValue(ModelKey<[String]>("name", partition: "p"), in: second).load() == nil)
    }

    @Test("Concurrent updates lose no change, also over a cache that suspends")
    func updates() async throws {
        let value = CachedValue(ModelKey<Int>("number"), in: PlainCache(yields: true))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    for _ in 0..<20 { try await value.update { $0 = ($0 ?? 0) + 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await value.load() == 400)
    }

    @Test("An update that throws changes nothing, and the next one has its turn")
    func failingUpdate() async throws {
        let value = CachedValue(ModelKey<Int>("number"), in: ModelCache())
        try await value.save(1)
        await #expect(throws: TroubledCache.Trouble.self) {
            try await value.update {
                $0 = 2
                throw TroubledCache.Trouble()
            }
        }
        #expect(try await value.load() == 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await value.save(5)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await value.update { $0 = ($0 ?? 0) + 1 } == 2)
    }
}
