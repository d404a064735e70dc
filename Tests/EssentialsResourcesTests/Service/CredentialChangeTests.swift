import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resources after a change of credentials", .leavesNothing, .timeLimit(.minutes(5)))
struct CredentialChangeTests {
    /// A service whose server responds with the credentials of the request, after a latch if there is one.
    private static func fixture(
        _ cache: (any EntityCache)? = nil, holding latch: Latch? = nil
    ) throws -> ResourceFixture {
        let fixture = try ResourceFixture(cache: cache)
        fixture.transport.on(.get, "/v1/*").answer { request in
            let name = request.headerFields[.authorization] ?? "nobody"
            if name != "Bearer b" { await latch?.wait() }
            return ScriptedAnswer(json: Item(name: name))
        }
        return fixture
    }

    @Test("Replacing the credentials removes shown content at once, before the next account is entered")
    func replaced() async throws {
        let fixture = try Self.fixture()
        let foreign: Resource<Item> = fixture.service.resource(url: "https://cdn.example.com/item")
        foreign.override(with: Item(name: "foreign"))
        let item: Resource<Item> = fixture.service.resource("item")
        fixture.requests.setAuthorization(try .bearer("a"))
        fixture.service.enter("ada")
        try await item.load()
        let events = Mutex<[ResourceEvent]>([])
        let observation = item.observeSynchronously { change in events.withLock { $0.append(change.event) } }
        fixture.requests.setAuthorization(try .bearer("b"))
        #expect(item.content == nil)
        #expect(events.withLock { $0 } == [.attached, .wiped(.authorization)])
        #expect(fixture.transport.requestCount == 1)
        // This is the order of the article: the account follows, and observed resources are loaded again.
        fixture.service.enter("bob")
        await settled { item.content?.name == "Bearer b" }
        #expect(foreign.content == nil)
        observation.cancel()
    }

    @Test("Setting equal credentials again, and the first credentials, remove nothing")
    func kept() async throws {
        let fixture = try Self.fixture()
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        fixture.requests.setAuthorization(try .bearer("a"))
        #expect(item.content?.name == "nobody")
        try await item.load()
        fixture.requests.setAuthorization(try .bearer("a"))
        #expect(item.content?.name == "Bearer a")
    }

    @Test("A load with other credentials does not join a running load, whose late response is neither shown nor stored")
    func joining() async throws {
        let (latch, cache) = (Latch(), CacheDouble(isPersistent: false))
        let fixture = try Self.fixture(cache, holding: latch)
        let item: Resource<Item> = fixture.service.resource("item")
        fixture.requests.setAuthorization(try .bearer("a"))
        let first = item.startLoadIfNeeded()
        _ = try await fixture.transport.request(number: 1)
        fixture.requests.setAuthorization(try .bearer("b"))
        let second = Task { try await item.loadIfNeeded() }
        #expect(try await second.value.name == "Bearer b")
        latch.open()
        await expectFailure(.cancelled) { try await first?.content }
        #expect(item.content?.name == "Bearer b")
        await fixture.service.close()
        #expect(cache.entities.values.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"name":"Bearer b"}"#])
    }

    @Test("A load after the first login does not join a load without credentials, which continues")
    func firstLogin() async throws {
        let latch = Latch()
        let fixture = try Self.fixture(holding: latch)
        let item: Resource<Item> = fixture.service.resource("item")
        let first = item.startLoadIfNeeded()
        _ = try await fixture.transport.request(number: 1)
        fixture.requests.setAuthorization(try .bearer("b"))
        #expect(try await item.loadIfNeeded().name == "Bearer b")
        #expect(item.startLoadIfNeeded() == nil)
        latch.open()
        #expect(try await first?.content.name == "nobody")
        #expect(item.content?.name == "Bearer b")
    }

    @Test("Until an account is entered after other credentials were set, its cache is neither read nor written")
    func suspended() async throws {
        let cache = CacheDouble()
        let fixture = try Self.fixture(cache)
        func item() -> Resource<Item> { fixture.service.resource("item") }
        fixture.requests.setAuthorization(try .bearer("a"))
        fixture.service.enter("ada")
        #expect(try await item().loadIfNeeded().name == "Bearer a")
        await cache.waitForCalls(2)
        fixture.requests.setAuthorization(try .bearer("b"))
        fixture.service.dropUnused()
        #expect(try await item().loadIfNeeded().name == "Bearer b")
        item().override(with: Item(name: "by hand"))
        #expect(try await fixture.service.wipe(.all, purging: .caches))
        // Entities that were received without an account are removed, and nothing else happens.
        #expect(cache.calls.filter { $0 != "remove all" } == ["read decoding", "store decoding"])
        // The application states that it is the same account.
        fixture.service.enter("ada")
        #expect(item().content == nil)
        #expect(try await item().loadIfNeeded().name == "Bearer a")
        #expect(item().state.provenance == .entityCache(stage: "decoding"))
        await fixture.service.close()
    }

    @Test(
        "Entering the current account after other credentials reloads observed resources, and otherwise does nothing"
    )
    func sameAccount() async throws {
        let fixture = try Self.fixture()
        let item: Resource<Item> = fixture.service.resource("item")
        fixture.requests.setAuthorization(try .bearer("a"))
        fixture.service.enter("ada")
        try await item.load()
        let observation = item.observeSynchronously { _ in }
        fixture.service.enter("ada")
        #expect(item.content?.name == "Bearer a")
        fixture.requests.setAuthorization(try .bearer("b"))
        fixture.service.enter("ada")
        await settled { item.content?.name == "Bearer b" }
        observation.cancel()
    }

    @Test("Without an account the end of credentials removes only content that was received with them")
    func withoutAccount() async throws {
        for isReplaced in [true, false] {
            let cache = MemoryEntityCache()
            let fixture = try Self.fixture(cache)
            func item(_ name: String) -> Resource<Item> { fixture.service.resource(name) }
            try await item("public").load()
            fixture.requests.setAuthorization(try .bearer("a"))
            try await item("mine").load()
            while cache.count < 2 { await Task.yield() }
            if isReplaced {
                fixture.requests.setAuthorization(try .bearer("b"))
            } else {
                await fixture.requests.clearAuthorization()
            }
            fixture.service.dropUnused()
            #expect(try await item("mine").loadIfNeeded().name == (isReplaced ? "Bearer b" : "nobody"))
            #expect(try await item("public").loadIfNeeded().name == "nobody")
            #expect(item("public").state.provenance == .entityCache(stage: "decoding"))
            await fixture.service.close()
        }
    }

    @Test(
        "A load whose decorator waits while another user logs in is not sent for that user", arguments: [true, false])
    func waitingDecorator(isWrite: Bool) async throws {
        let (fixture, begun, latch) = (try Self.fixture(), Latch(), Latch())
        try fixture.service.configure("/item") { configuration in
            configuration.mutate { _ in
                begun.open()
                await latch.wait()
            }
        }
        let item: Resource<Item> = fixture.service.resource("item")
        fixture.requests.setAuthorization(try .bearer("a"))
        let request: ResourceRequest<Item> = item.request(isWrite ? .post : .get).start()
        await begun.wait()
        fixture.requests.setAuthorization(try .bearer("b"))
        latch.open()
        await expectFailure(.authorization) { try await request.content }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test(
        "A write that waits for its turn while another user logs in fails as authorization", arguments: [true, false])
    func waitingWrite(isReplaced: Bool) async throws {
        let (fixture, latch) = (try Self.fixture(), Latch())
        fixture.transport.on(.put, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.noContent)
        }
        let item: Resource<Item> = fixture.service.resource("item")
        fixture.requests.setAuthorization(try .bearer("a"))
        let first = Task { try await item.put(Item(name: "1")) }
        _ = try await fixture.transport.request(number: 1)
        let second = Task { try await item.put(Item(name: "2")) }
        await settled { item.any.runningRequests.count == 2 }
        if isReplaced {
            fixture.requests.setAuthorization(try .bearer("b"))
        } else {
            await fixture.requests.clearAuthorization()
        }
        latch.open()
        // The write that was sent earlier returns its response to its caller, and is not shown.
        #expect(try await first.value.status == .noContent)
        await expectFailure(.authorization) { try await second.value }
        #expect(fixture.transport.requestCount == 1)
        #expect(item.content == nil)
    }

    @Test("A list in pages is loaded for one user: its next page is not requested for another user")
    func pages() async throws {
        struct Line: Codable, Sendable, Identifiable { var id: Int }
        let (fixture, latch) = (try ResourceFixture(), Latch())
        fixture.transport.on(.get, "/v1/lines").answer { request in
            if request.queryItems.isEmpty { await latch.wait() }
            return ScriptedAnswer(json: [Line(id: 1)])
        }
        let list = PagedResource(
            fixture.service.resource("lines", as: [Line].self), by: .number("page") { $0.model.isEmpty })
        fixture.requests.setAuthorization(try .bearer("a"))
        latch.open()
        try await list.next()
        try await list.next()
        let (held, begun) = (Latch(), Latch())
        fixture.transport.on(.get, "/v1/lines").answer { request in
            if request.queryItems.isEmpty {
                begun.open()
                await held.wait()
            }
            return ScriptedAnswer(json: [Line(id: 2)])
        }
        let refresh = Task { try await list.refresh(.all) }
        await begun.wait()
        let count = fixture.transport.requestCount
        fixture.requests.setAuthorization(try .bearer("b"))
        held.open()
        _ = await refresh.result
        #expect(fixture.transport.requestCount == count)
    }

    @Test("A loop over pages checks its account before each page")
    func pageCheck() async throws {
        let fixture = try Self.fixture()
        fixture.requests.setAuthorization(try .bearer("a"))
        let begun = fixture.service.adoptEnvironment()
        try fixture.service.checkAdopted(begun)
        fixture.requests.setAuthorization(try .bearer("b"))
        await expectFailure(.authorization) { try fixture.service.checkAdopted(begun) }
        let next = fixture.service.adoptEnvironment()
        fixture.service.enter("bob")
        await expectFailure(.cancelled) { try fixture.service.checkAdopted(next) }
    }

    @Test("A write that is accepted after its credentials were renewed removes the entity that it makes outdated")
    func lateWrite() async throws {
        let (cache, latch) = (CacheDouble(), Latch())
        let fixture = try Self.fixture(cache)
        fixture.transport.on(.put, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.noContent)
        }
        let item: Resource<Item> = fixture.service.resource("item")
        fixture.requests.setAuthorization(try .bearer("a"))
        fixture.service.enter("ada")
        try await item.load()
        await cache.waitForCalls(2)
        let write = Task { try await item.put(Item(name: "new")) }
        _ = try await fixture.transport.request(number: 2)
        fixture.requests.setAuthorization(try .bearer("renewed"))
        latch.open()
        _ = try await write.value
        fixture.service.enter("ada")
        #expect(try await item.loadIfNeeded().name == "Bearer renewed")
        await fixture.service.close()
    }
}
