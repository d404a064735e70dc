import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Models that a cache should not store", .timeLimit(.minutes(5)))
struct FetchPrivacyTests {
    /// Fetches into the files of a directory, and finds what another process would find there.
    private struct Fixture {
        let transport = ScriptedTransport()
        let directory = ModelDirectory()
        let requests: HTTPDataRequestService
        let cache: ModelCache
        var service: CoinService

        init(
            environment: EnvironmentSnapshot? = nil,
            _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
        ) throws {
            let snapshot = try environment ?? EnvironmentSnapshot(baseURL: RequestURL("https://h/v1/"))
            var settings = HTTPDataRequestService.Configuration()
            change(&settings)
            requests = HTTPDataRequestService(
                environment: MutableEnvironment(snapshot), transport: transport, configuration: settings)
            cache = try ModelCache(directory: directory.path)
            service = CoinService(requests: requests, cache: cache)
        }

        func fetch(_ path: String = "coins", _ query: QueryItems = [:]) async throws {
            _ = try await service.get(path, query: query, from: .backend, as: Coin.self).last()
        }

        /// The name of the coin that is found in memory.
        func inMemory(_ path: String = "coins", _ query: QueryItems = [:]) async throws -> String? {
            try await service.get(path, query: query, from: .cache, as: Coin.self).last()?.value.name
        }

        /// The name of the coin that is found after a restart.
        func afterRestart(_ path: String = "coins", _ query: QueryItems = [:]) async throws -> String? {
            await cache.flush()
            let restarted = CoinService(
                requests: requests, cache: try ModelCache(directory: directory.path),
                fetchDefaults: service.fetchDefaults, partition: service.partition)
            return try await restarted.get(path, query: query, from: .cache, as: Coin.self).last()?.value.name
        }
    }

    @Test(
        "A response with no-store is found in memory only, and removes the stored model of an earlier one",
        arguments: ["no-store", "private, No-Store", "max-age=5 , no-store "], [EntityPartition.shared, "ada"])
    func noStore(directives: String, partition: EntityPartition) async throws {
        var fixture = try Fixture()
        fixture.service.partition = partition
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "old"))
            .thenAnswer(json: Coin(name: "new"), headerFields: [.cacheControl: directives])
        try await fixture.fetch()
        #expect(try await fixture.afterRestart() == "old")
        try await fixture.fetch()
        #expect(try await fixture.inMemory() == "new")
        #expect(try await fixture.afterRestart() == nil)
        #expect(fixture.directory.names == [])
    }

    @Test("Without a partition a response to a request with credentials is found in memory only")
    func credentials() async throws {
        var fixture = try Fixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "everybody's"))
            .thenAnswer(json: Coin(name: "Ada's"))
        try await fixture.fetch()
        #expect(try await fixture.afterRestart() == "everybody's")
        try fixture.requests.setAuthorization(.bearer("secret"))
        try await fixture.fetch()
        #expect(try await fixture.inMemory() == "Ada's")
        #expect(try await fixture.afterRestart() == nil)
        #expect(fixture.directory.names == [])

        fixture.service.partition = "ada"
        try await fixture.fetch()
        #expect(try await fixture.afterRestart() == "Ada's")
        fixture.service.partition = .shared
        #expect(try await fixture.afterRestart() == nil)
    }

    @Test("The partition of a given key decides, not that of the service")
    func givenKey() async throws {
        var fixture = try Fixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "Ada's"))
        try fixture.requests.setAuthorization(.bearer("secret"))
        let cases: [(EntityPartition, ModelKey<Coin>)] = [
            ("ada", ModelKey("mine")), (.shared, ModelKey("mine", partition: "ada")),
        ]
        for (partition, key) in cases {
            fixture.service.partition = partition
            _ = try await fixture.service.get("coins", from: .backend, key: key).last()
            await fixture.cache.flush()
            let found = try await ModelCache(directory: fixture.directory.path).load(key)
            #expect((found != nil) == !key.partition.isShared)
        }
    }

    @Test("The service can allow storing everything")
    func allowed() async throws {
        var fixture = try Fixture()
        fixture.service.fetchDefaults = FetchDefaults(storesSensitiveResponses: true)
        fixture.transport.on(.get, "/v1/coins").answer(
            json: Coin(name: "Ada's"), headerFields: [.cacheControl: "no-store"])
        try fixture.requests.setAuthorization(.bearer("secret"))
        try await fixture.fetch()
        #expect(try await fixture.afterRestart() == "Ada's")
    }

    @Test("Fetches that share a request know whether it had credentials", arguments: [true, false])
    func shared(hasCredentials: Bool) async throws {
        let fixture = try Fixture()
        if hasCredentials { try fixture.requests.setAuthorization(.bearer("secret")) }
        let latch = Latch()
        fixture.transport.on(.get, "/v1/coins").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Coin(name: "Ada's"))
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try? await fixture.fetch() } }
            _ = try? await fixture.transport.request(number: 1)
            latch.open()
        }
        let found = try await fixture.afterRestart()
        #expect((found == nil) == hasCredentials)
    }

    @Test("A secret in the query and a redirect to another origin count as credentials")
    func otherCredentials() async throws {
        let fixture = try Fixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "a"))
        fixture.transport.on(.get, "/v1/moved").answer(.found, headerFields: [.location: "/v1/coins"])
        fixture.transport.on(.get, "/v1/far").answer(.found, headerFields: [.location: "https://other/v1/coins"])
        for (path, query, isStored) in [
            ("coins", ["access_token": "x"], false), ("moved", ["access_token": "x"], false), ("far", [:], false),
            ("moved", [:], true), ("coins", ["page": "2"], true),
        ] as [(String, QueryItems, Bool)] {
            try await fixture.fetch(path, query)
            #expect(try await fixture.inMemory(path, query) == "a")
            let found = try await fixture.afterRestart(path, query)
            #expect((found != nil) == isStored, "\(path) \(query)")
        }
    }

    @Test("A client certificate of the environment counts as credentials")
    func certificate() async throws {
        let texts = try ["CERTIFICATE", "PRIVATE KEY"].map { label in
            try PEM("-----BEGIN \(label)-----\nAQID\n-----END \(label)-----\n")
        }
        let trust = TrustPolicy(identity: try ClientIdentity(certificate: texts[0], privateKey: texts[1]))
        let fixture = try Fixture(
            environment: EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/"), trust: trust))
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "a"))
        try await fixture.fetch()
        #expect(try await fixture.inMemory() == "a")
        #expect(try await fixture.afterRestart() == nil)
    }

    @Test("A custom cache sees which models it may keep in memory only")
    func ownCache() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "a"))
            .thenAnswer(json: Coin(name: "b"), headerFields: [.cacheControl: "no-store"])
        for isMemoryOnly in [false, true] {
            _ = try await fixture.service.get("coins", from: .backend, as: Coin.self).last()
            #expect(try await fixture.cache.load(fixture.key)?.isMemoryOnly == isMemoryOnly)
        }
    }

    @Test("A cache that is not persistent keeps the memory-only mark, and so does the update of a stored value")
    func marks() async throws {
        let entities = MemoryEntityCache()
        let key = ModelKey<Coin>("coin")
        let model = CachedModel(Coin(name: "a"), date: Date(timeIntervalSinceReferenceDate: 0), isMemoryOnly: true)
        let first = ModelCache(over: entities)
        try await first.save(model, for: key)
        await first.flush()
        #expect(await ModelCache(over: entities).load(key) == model)
        let cache = ModelCache(over: entities)
        try await CachedValue(key, in: cache).update { $0?.name = "b" }
        #expect(await cache.load(key)?.isMemoryOnly == true)
        try await CachedValue(key, in: cache).save(Coin(name: "c"))
        #expect(await cache.load(key)?.isMemoryOnly == false)
    }

    @Test("The reason why models are not written is logged once, without their names")
    func logged() async throws {
        let directory = ModelDirectory()
        let messages = Mutex<[String]>([])
        var configuration = ModelCache.Configuration()
        configuration.logger = Logger(label: "test") { _ in
            CountingHandler { message in messages.withLock { $0.append(message) } }
        }
        configuration.logger.logLevel = .debug
        let cache = try ModelCache(directory: directory.path, configuration: configuration)
        let date = Date(timeIntervalSinceReferenceDate: 0)
        try await cache.save(CachedModel(1, date: date), for: ModelKey("a"))
        #expect(messages.withLock { $0 } == [])
        for name in ["b", "c"] {
            try await cache.save(CachedModel(1, date: date, isMemoryOnly: true), for: ModelKey(name))
        }
        #expect(messages.withLock { $0 }.count == 1)
        await cache.flush()
        #expect(directory.names.count == 1)
    }

    private struct CountingHandler: LogHandler {
        let messages: @Sendable (String) -> Void
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        init(_ messages: @escaping @Sendable (String) -> Void) { self.messages = messages }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { messages("\(event.message)") }
    }
}
