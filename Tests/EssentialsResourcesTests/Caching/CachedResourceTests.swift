import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

/// Resources and the response cache, with the same clock. The suites over ``CacheUnderTest`` have a clock for each.
@Suite("Resource: with the response cache", .leavesNothing, .timeLimit(.minutes(5)))
struct CachedResourceTests {
    private let server = CachedServer()
    private let piped = Piped()

    /// Counts the bodies that the pipeline has read.
    private final class Piped: Sendable {
        let count = Mutex(0)
    }

    private var pipelineRuns: Int { piped.count.withLock { $0 } }

    private func service() throws -> HTTPResourceService {
        try server.service { [piped] configuration in
            configuration.defaults.pipeline.transform(at: .raw) { (data: Data) in
                piped.count.withLock { $0 += 1 }
                return data
            }
        }
    }

    @Test("A stored response is shown with its age, and a response that the server confirms is not read again")
    func storedAndConfirmed() async throws {
        server.send([.cacheControl: "max-age=60"])
        let service = try service()
        let item: Resource<Item> = service.resource("item")
        try await item.load()
        #expect(item.state.provenance == .network && pipelineRuns == 1)
        server.clock.advance(by: .seconds(31))
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(item.state.provenance == .httpCache(age: .seconds(31), isStale: false))
        #expect(server.count == 1 && pipelineRuns == 1)
        // The user wants the newest: the cache asks the server, which confirms.
        #expect(try await item.load().name == "Ada")
        #expect(server.count == 2 && server.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(item.state.provenance == .network && item.state.age == .zero && pipelineRuns == 1)
        server.change("Grace")
        #expect(try await item.load().name == "Grace")
        #expect(item.state.provenance == .network && pipelineRuns == 2)
    }

    @Test(
        "Within stale-while-revalidate the resource shows the stale response and then the new one",
        arguments: [true, false])
    func staleWhileRevalidate(isReplaced: Bool) async throws {
        server.send([.cacheControl: "max-age=10, stale-while-revalidate=600"])
        let service = try service()
        let item: Resource<Item> = service.resource("item")
        try await item.load()
        server.clock.advance(by: .seconds(40))
        if isReplaced { server.change("Grace") }
        let latch = Latch()
        server.hold(latch)
        var changes = item.changes().makeAsyncIterator()
        #expect(await changes.next()?.event == .attached)
        #expect(try await item.loadIfNeeded().name == "Ada")
        #expect(item.state.provenance == .httpCache(age: .seconds(40), isStale: true))
        latch.open()
        while let change = await changes.next(), change.event != .newContent(.network) {}
        #expect(item.content?.name == (isReplaced ? "Grace" : "Ada") && item.state.age == .zero)
        #expect(server.count == 2 && pipelineRuns == (isReplaced ? 2 : 1))
        while service.staleResponses.count > 0 { await Task.yield() }
    }

    @Test("If the validation in the background fails, the stale response stays and the resource waits for nothing")
    func failedUpdate() async throws {
        server.send([.cacheControl: "max-age=10, stale-while-revalidate=600"])
        let service = try service()
        let item: Resource<Item> = service.resource("item")
        try await item.load()
        server.clock.advance(by: .seconds(40))
        server.fail(RequestFailure(.connection, "No route to host."))
        #expect(try await item.loadIfNeeded().name == "Ada")
        while service.staleResponses.count > 0 { await Task.yield() }
        #expect(item.state.provenance == .httpCache(age: .seconds(40), isStale: true) && item.state.failure == nil)
    }

    @Test("Only stored responses: none is a failure, one is shown, and an offline cache shows it at any age")
    func offline() async throws {
        server.send([.cacheControl: "max-age=60"])
        let service = try service()
        let item: Resource<Item> = service.resource("item")
        let failure = await #expect(throws: RequestFailure.self) { try await item.load(.onlyIfStored) }
        #expect(failure?.reason == .notCached && server.count == 0)
        try await item.load()
        let other: Resource<Item> = try self.service().resource("item")
        #expect(try await other.load(.onlyIfStored).name == "Ada")
        server.cache.isOffline = true
        server.clock.advance(by: .seconds(1_000))
        #expect(try await other.loadIfNeeded().name == "Ada")
        #expect(other.state.provenance == .httpCache(age: .seconds(1_000), isStale: true))
        // Also if the caller asks for the newest.
        #expect(try await other.load().name == "Ada")
        #expect(server.count == 1)
        server.cache.isOffline = false
        #expect(try await other.load().name == "Ada")
        #expect(server.count == 2)
    }

    @Test("A write removes the stored response, also for a service that does not know of it")
    func writing() async throws {
        server.send([.cacheControl: "max-age=600"])
        let (writer, reader): (Resource<Item>, Resource<Item>) = (
            try service().resource("item"), try service().resource("item")
        )
        try await writer.load()
        try await reader.load()
        server.change("Grace")
        try await writer.put(Item(name: "Grace"))
        let count = server.count
        await #expect(throws: RequestFailure.self) { try await writer.load(.onlyIfStored) }
        server.clock.advance(by: .seconds(31))
        #expect(try await reader.loadIfNeeded().name == "Grace")
        #expect(server.count == count + 1)
    }

    @Test("The lifetime is that of the server, and the age is that of the stored response")
    func serverLifetime() async throws {
        server.send([.cacheControl: "max-age=60"])
        let (first, second) = (try service(), try service())
        for service in [first, second] {
            try service.configure("/item") { $0.expiration = .byServer(else: .seconds(5)) }
        }
        let item: Resource<Item> = first.resource("item")
        try await item.load()
        #expect(item.state.freshFor == .seconds(60))
        server.clock.advance(by: .seconds(20))
        let other: Resource<Item> = second.resource("item")
        try await other.loadIfNeeded()
        #expect(other.state.freshFor == .seconds(40) && server.count == 1)
    }

    @Test("The time of a slow validation makes the content older once")
    func slowValidation() async throws {
        server.send([.cacheControl: "max-age=60"])
        let service = try service()
        try service.configure("/item") { $0.expiration = .byServer(else: .seconds(5)) }
        let item: Resource<Item> = service.resource("item")
        try await item.load()
        let latch = Latch()
        server.hold(latch)
        async let load = item.load()
        while server.count < 2 { await Task.yield() }
        server.clock.advance(by: .seconds(3))
        latch.open()
        _ = try await load
        #expect(item.state.provenance == .network && item.state.freshFor == .seconds(57))
    }

    @Test("A response of the server that comes late is recognized as older than the stored one that is shown")
    func late() async throws {
        server.send([.cacheControl: "max-age=60"])
        let (slow, quick) = (try service(), try service())
        let (item, other): (Resource<Item>, Resource<Item>) = (slow.resource("item"), quick.resource("item"))
        let latch = Latch()
        server.hold(latch)
        async let late = item.load()
        while server.count == 0 { await Task.yield() }
        server.change("Grace")
        #expect(try await other.load().name == "Grace")
        // The second load of the same resource is answered from the cache before the first one has its response.
        #expect(try await item.load(.onlyIfStored).name == "Grace")
        latch.open()
        _ = try await late
        #expect(item.content?.name == "Grace")
        // Nor has it replaced what is stored.
        #expect(try await other.load(.onlyIfStored).name == "Grace")
    }

    @Test("A logout removes what is stored, and the resource starts anew", arguments: [true, false])
    func logout(isNamed: Bool) async throws {
        server.send([.cacheControl: "max-age=600"])
        let service = try service()
        let requests = try #require(service.requests as? HTTPDataRequestService)
        var credentials = try Credentials.bearer("ada")
        if isNamed { credentials.account = EntityPartition("ada") }
        requests.setAuthorization(credentials)
        let item: Resource<Item> = service.resource("item")
        try await item.load()
        await requests.clearAuthorization()
        #expect(item.content == nil)
        #expect(await server.cache.usage == ResponseCache.Usage())
        server.change("Grace")
        requests.setAuthorization(try Credentials.bearer("bob"))
        #expect(try await item.loadIfNeeded().name == "Grace")
        #expect(server.count == 2)
    }

    @Test("The file copy of a public response stays after hits, confirmations and background validations")
    func persistentCopy() async throws {
        server.send([.cacheControl: "max-age=10, stale-while-revalidate=600"])
        let cache = CacheDouble()
        let names = { cache.entities.values.compactMap { try? JSONDecoder().decode(Item.self, from: $0.body).name } }
        let first = try server.service(cache: cache)
        let item: Resource<Item> = first.resource("item")
        try await item.load()
        try await item.load(.onlyIfStored)
        try await item.load()
        await first.close()
        #expect(names() == ["Ada"])
        server.clock.advance(by: .seconds(40))
        server.change("Grace")
        let second = try server.service(cache: cache)
        let other: Resource<Item> = second.resource("item")
        #expect(try await other.loadIfNeeded().name == "Ada")
        while second.staleResponses.count > 0 { await Task.yield() }
        await second.close()
        #expect(other.content?.name == "Grace" && names() == ["Grace"])
    }
}
