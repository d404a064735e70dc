import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsResourcesTestKit
import EssentialsTools
import Testing

@Suite("Conformance of model caches", .timeLimit(.minutes(5)))
struct AsyncCacheConformanceTests {
    @Test("A dictionary conforms")
    func dictionary() async {
        #expect(await AsyncCacheConformance.check { PlainCache() } == [])
        #expect(await AsyncCacheConformance.check { ObservedCache(PlainCache()) } == [])
    }

    @Test("The model cache conforms in memory, over a memory cache, and without room in memory")
    func memory() async {
        #expect(await AsyncCacheConformance.check { ModelCache() } == [])
        #expect(await AsyncCacheConformance.check { ModelCache(over: MemoryEntityCache()) } == [])
        #expect(
            await AsyncCacheConformance.check {
                var configuration = ModelCache.Configuration()
                configuration.maximumBytes = 0
                return ModelCache(over: MemoryEntityCache(), configuration: configuration)
            } == [])
    }

    @Test("The model cache conforms over files, with and without room in memory", arguments: [0, 1_000])
    func files(_ count: Int) async {
        let made = Mutex<[(directory: ModelDirectory, cache: ModelCache)]>([])
        let violations = await AsyncCacheConformance.check {
            let directory = ModelDirectory()
            var configuration = ModelCache.Configuration()
            configuration.maximumCount = count
            let cache = try ModelCache(directory: directory.path, configuration: configuration)
            made.withLock { $0.append((directory, cache)) }
            return cache
        }
        for (directory, cache) in made.withLock({ $0 }) {
            await cache.flush()
            withExtendedLifetime(directory) {}
        }
        #expect(violations == [])
    }

    @Test("The model cache over files finds its models after a restart, and no deleted ones")
    func restart() async {
        let directory = ModelDirectory()
        let violations = await AsyncCacheConformance.checkRestart {
            try ModelCache(directory: directory.path)
        } closing: { cache in
            await (cache as? ModelCache)?.flush()
        }
        #expect(violations == [])
        withExtendedLifetime(directory) {}
        #expect(
            await AsyncCacheConformance.checkRestart { ModelCache() }.contains {
                $0.hasPrefix("After a restart: No model")
            })
    }

    @Test("A cache that stores models which it may keep in memory only fails with a sentence about it")
    func memoryOnly() async {
        struct CarelessCache: AsyncCache {
            let cache: ModelCache

            func save<Value>(_ model: CachedModel<Value>, for key: ModelKey<Value>) async throws {
                try await cache.save(CachedModel(model.value, date: model.date), for: key)
            }
            func load<Value>(_ key: ModelKey<Value>) async -> CachedModel<Value>? { await cache.load(key) }
            func delete<Value>(_ key: ModelKey<Value>) async { await cache.delete(key) }
            func deleteAll() async throws { try await cache.deleteAll() }
            func contains<Value>(_ key: ModelKey<Value>) async -> Bool { await cache.contains(key) }
        }
        let directory = ModelDirectory()
        let violations = await AsyncCacheConformance.checkRestart {
            CarelessCache(cache: try ModelCache(directory: directory.path))
        } closing: { cache in
            await (cache as? CarelessCache)?.cache.flush()
        }
        #expect(violations.count == 1 && violations.first?.contains("isMemoryOnly") == true, "\(violations)")
        withExtendedLifetime(directory) {}
    }

    /// The part of a violation that describes the fault.
    private static let texts: [(PlainCache.Fault, String)] = [
        (.ignoresType, "Keys that differ in their type must have separate models."),
        (.ignoresName, "Keys that differ in their name must have separate models."),
        (.ignoresVariant, "Keys that differ in their variant must have separate models."),
        (.ignoresPartition, "Keys that differ in their partition must have separate models."),
        (.ignoresEnvironment, "Keys that differ in their environment must have separate models."),
        (.ignoresSchema, "Keys that differ in their schema must have separate models."),
        (.joinsParts, "Keys that differ in their division into name and variant must have separate models."),
        (.losesDate, "A cache must keep the date with which a model was saved, to the millisecond."),
        (.roundsDate, "A cache must keep the date with which a model was saved, to the millisecond."),
        (.alwaysContains, "contains returns true, but load finds no model."),
        (.neverContains, "contains returns false, but load finds a model."),
        (.keepsAll, "deleteAll must delete the models of all names"),
        (.keepsDeleted, "A deleted model must not be found."),
        (.keepsFirst, "The model that was saved last must be found"),
        (.keepsNewestDate, "The model that was saved last must be found, whatever its date is."),
        (.deletesTooMuch, "Only the model of the key is deleted."), (.refusesNames, "Every text can be a name"),
        (.cutsLarge, "Models up to 1 MiB must be kept whole."), (.throwsMisses, "An empty cache: The cache has thrown"),
        (.savesLate, "A model must be found as soon as save has returned."),
    ]

    @Test("Each faulty cache fails with a sentence about its fault", arguments: texts)
    func fault(_ fault: PlainCache.Fault, text: String) async {
        let violations = await AsyncCacheConformance.check { PlainCache(fault) }
        #expect(violations.contains { $0.contains(text) }, "\(violations.prefix(3))")
    }

    @Test("Every fault has its sentence, and a cache that cannot be made is a violation")
    func completeness() async {
        #expect(Set(Self.texts.map(\.0)) == Set(PlainCache.Fault.allCases))
        let violations = await AsyncCacheConformance.check { throw RequestFailure(.file, "No disk.") }
        #expect(violations.count > 5 && violations.allSatisfy { $0.contains("has thrown an error") })
    }
}
