import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

/// Each number of a public configuration has a range: another value counts as the nearest, or the first use fails.
@Suite("Ranges of numbers: resources, policies and stores", .timeLimit(.minutes(5)))
struct StoreRangeTests {
    private let clock = ManualClock()
    private let folder = TestFolder()
    private let environment: MutableEnvironment
    private let requests: HTTPDataRequestService

    init() throws {
        let transport = ScriptedTransport(clock: clock)
        for path in ["/v1/a", "/v1/b"] { transport.on(.get, path).answer(json: ["a": 1]) }
        transport.on(.post, "/v1/a").answer(.serviceUnavailable)
        environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        requests = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
    }

    private typealias Content = [String: Int]

    /// Loads two resources, drops them, and closes the service.
    private func use(_ configuration: HTTPResourceService.Configuration) async throws {
        let service = try HTTPResourceService(
            requests: requests, environment: environment, cache: MemoryEntityCache(), configuration: configuration)
        do {
            let resource: Resource<Content> = service.resource("a")
            _ = try? await resource.load()
            _ = try? await resource.loadIfNeeded()
            _ = (resource.isFresh, resource.state.statusLine)
            resource.invalidate()
            resource.override(with: [:])
        }
        let other: Resource<Content> = service.resource("b")
        _ = try? await other.load()
        for count in Extremes.counts { service.keepUnused(count: count, bytes: count) }
        for time in Extremes.times { _ = other.cancelLoadIfUnobserved(after: time) }
        clock.advance(by: .seconds(1))
        await service.close()
    }

    @Test("The configuration of resources")
    func resources() async throws {
        var standard = HTTPResourceService.Configuration()
        standard.clock = clock.requestClock
        let services = Variants(standard).counts(\.maximumUnused, \.maximumUnusedBytes).times(\.cacheDeadline).whole()
        let resources = Variants(ResourceConfiguration()).times(\.retryTime).counts(\.maximumBody).whole()
        var all = services
        for values in resources {
            var configuration = standard
            configuration.defaults = values
            all.append(configuration)
        }
        for time in Extremes.times {
            for expiration in [ResourceExpiration.after(time), .byServer(else: time)] {
                var configuration = standard
                configuration.defaults.expiration = expiration
                all.append(configuration)
            }
            for jitter in Extremes.numbers {
                var configuration = standard
                configuration.defaults.refresh = .every(time, jitter: jitter)
                all.append(configuration)
            }
        }
        for configuration in all { try await use(configuration) }
    }

    @Test("The configuration of a model cache, and the parts by which caches are trimmed")
    func models() async throws {
        var standard = ModelCache.Configuration()
        standard.clock = clock.requestClock
        let variants = Variants(standard).counts(\.maximumCount, \.maximumBytes).times(\.maximumAge).whole()
        for (number, configuration) in variants.enumerated() {
            let cache = try ModelCache(
                directory: folder.path + "/models", maximumFileBytes: Extremes.counts[number % Extremes.counts.count],
                configuration: configuration)
            let key = ModelKey<Content>("a")
            try? await cache.save(CachedModel(["a": 1], date: clock.requestClock.date), for: key)
            _ = await cache.load(key)
            for part in Extremes.numbers { cache.trim(part: part) }
        }
        for count in Extremes.counts {
            let cache = ResponseCache(memory: .bytes(count))
            for part in Extremes.numbers { cache.trim(part: part) }
        }
        for count in Extremes.counts {
            for other in Extremes.counts {
                let cache = MemoryEntityCache(maximumBytes: count, maximumCount: other)
                let key = EntityKey(url: "https://h/a", stage: "decoding", partition: .shared)
                let entity = StoredEntity(body: Data([1]), date: Date(timeIntervalSince1970: 0), age: .zero)
                cache.store(entity, for: key)
                _ = cache.entity(for: key)
                for part in Extremes.numbers { cache.trim(part: part) }
            }
        }
        for time in Extremes.times { _ = FetchSource.cacheElseBackend(maximumAge: time) }
    }

    @Test("The configuration of blobs")
    func blobs() async throws {
        for configuration in Variants(BlobService.Configuration()).counts(\.maximumBytes).times(\.expiration).whole() {
            let service = try BlobService(
                requests: requests, environment: environment, directory: folder.path + "/blobs",
                configuration: configuration)
            for count in Extremes.counts { _ = try? await service.bytes(at: "a", upTo: count) }
        }
    }

    @Test("The configuration of an outbox")
    func outbox() async throws {
        var standard = Outbox.Configuration()
        standard.clock = clock.requestClock
        let variants = Variants(standard)
            .counts(\.maximumCount, \.maximumBytes, \.maximumConcurrent, \.maximumAttempts)
            .times(\.maximumAge, \.closeDeadline)
        for configuration in variants.whole() {
            let outbox = try Outbox(
                directory: folder.path + "/outbox", requests: requests, environment: environment,
                configuration: configuration)
            for _ in 0..<2 { _ = try? await outbox.add(DataRequest(.post, "a")) }
            for _ in 0..<20 {
                clock.advanceToNextDeadline()
                await Task.yield()
            }
            await outbox.close()
        }
    }

    @Test("The numbers of reachability")
    func reachability() async throws {
        for time in Extremes.times {
            let options = ReachabilityOptions(debounce: time)
            let tracker = try ReachabilityTracker(.defaultRoute, options: options)
            _ = tracker.status
        }
    }

    #if Persistence
        private struct Row: PersistentModel {
            var id: Int64
            var text: String

            static let table = "line"
            static let columns = Columns()

            struct Columns: ModelColumns {
                let id = Column<Row, Int64>("id")
                let text = Column<Row, String>("text")

                var all: [ModelColumn<Row>] { [id.erased, text.erased] }
            }
        }

        private static let migrations = [
            Migration("1 lines", sql: "CREATE TABLE line(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT")
        ]

        @Test("Extreme numbers in the settings of a store and of its queries trap nowhere")
        func store() async throws {
            let standard = SQLiteStore(path: folder.path + "/store.sqlite", models: [Row.self])
            let variants = Variants(standard)
                .counts(\.readers, \.pendingReaders, \.stateReaders, \.maximumPendingRows, \.maximumPendingBytes)
                .times(\.busyTimeout, \.readTimeLimit).times(\.watchesOthers)
            for (number, description) in variants.whole().enumerated() {
                let store = SQLitePersistenceService(description, migrations: Self.migrations)
                _ = try? await store.create(Row(id: Int64(number), text: "a"), save: .store)
                let observation = try store.observeChanges { _ in }
                for count in Extremes.counts {
                    _ = try? await store.fetch(Row.all.limit(count).offset(count))
                    _ = try? await store.fetch(Row.all.offset(count))
                    _ = try? await store.fetch(Row.all.limit(count))
                }
                observation.cancel()
                await store.close()
            }
            let store = SQLitePersistenceService(standard, migrations: Self.migrations)
            for count in Extremes.counts where count < .max {
                _ = try? await store.reserveIDs(for: Row.self, count: count)
                for time in Extremes.times {
                    let batches = store.batches(of: Row.all, size: count, state: .oneState(for: time))
                    do { for try await _ in batches {} } catch {}
                }
            }
            await #expect(throws: PersistenceFailure.self) { try await store.reserveIDs(for: Row.self, count: .max) }
            await store.close()
        }

        @Test("The size of an entity cache in a store")
        func storedEntities() async throws {
            let store = SQLitePersistenceService(
                .temporary(models: [EntityRow.self]), migrations: [Migration("1 entities", sql: EntityRow.tableSQL)])
            for count in Extremes.counts {
                let cache = PersistentEntityCache(store, maximumBytes: count)
                let key = EntityKey(url: "https://h/a", stage: "decoding", partition: .shared)
                let entity = StoredEntity(body: Data([1]), date: Date(timeIntervalSince1970: 0), age: .zero)
                try? await cache.store(entity, for: key)
                _ = try? await cache.entity(for: key)
            }
            await store.close()
        }
    #endif
}
