import EssentialsResources
import EssentialsTestKit
import TestTools
import Testing

@Suite("Resource: loading", .leavesNothing)
struct LoadingTests {
    @Test("Content is loaded once and then read without a request")
    func loadsOnce() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let item: Resource<Item> = fixture.service.resource("item")
        #expect(item.content == nil)
        #expect(try await item.loadIfNeeded() == Item(name: "Ada"))
        #expect(try await item.loadIfNeeded() == Item(name: "Ada"))
        #expect(fixture.transport.requestCount == 1)
        #expect(item.state.content == Item(name: "Ada"))
        #expect(item.state.provenance == .network)
        #expect(item.state.entity?.mediaType == .json)
        #expect(!item.isLoading)
    }

    @Test("Content is fresh up to the end of its expiration, and is loaded again after it")
    func expiration() async throws {
        let fixture = try ResourceFixture { $0.defaults.expiration = .seconds(30) }
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a")).thenAnswer(json: Item(name: "b"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.loadIfNeeded()
        fixture.clock.advance(by: .seconds(30))
        #expect(item.isFresh)
        #expect(item.state.isFresh)
        #expect(try await item.loadIfNeeded().name == "a")
        fixture.clock.advance(by: .nanoseconds(1))
        #expect(!item.isFresh)
        #expect(!item.state.isFresh)
        #expect(try await item.loadIfNeeded().name == "b")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A thousand tasks that need the content cause one request")
    func singleFlight() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "Ada"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1_000 { group.addTask { try await item.loadIfNeeded().name } }
            _ = try await fixture.transport.request(number: 1)
            latch.open()
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(names == Array(repeating: "Ada", count: 1_000))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("An older response that arrives late goes to its caller and changes nothing")
    func latestWins() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "old"))
        }.thenAnswer(json: Item(name: "new"))
        let item: Resource<Item> = fixture.service.resource("item")
        async let older = item.load()
        _ = try await fixture.transport.request(number: 1)
        #expect(try await item.load().name == "new")
        latch.open()
        #expect(try await older.name == "old")
        #expect(item.content?.name == "new")
    }

    @Test("A failure keeps the content, and is not repeated before the retry time has passed")
    func failureKeepsContent() async throws {
        let fixture = try ResourceFixture { $0.defaults.retryTime = .seconds(1) }
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a")).thenAnswer(.internalServerError)
            .thenAnswer(json: Item(name: "b"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(item.state.failure?.status == .internalServerError)
        #expect(item.content?.name == "a")
        #expect(try await item.loadIfNeeded().name == "a")
        #expect(fixture.transport.requestCount == 2)
        fixture.clock.advance(by: .milliseconds(1001))
        #expect(try await item.loadIfNeeded().name == "b")
        #expect(item.state.failure == nil)
    }

    @Test("Without content the failure is thrown again until the retry time, or a longer Retry-After, has passed")
    func retryAfter() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(.serviceUnavailable, headerFields: [.retryAfter: "5"])
            .thenAnswer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        fixture.clock.advance(by: .seconds(5))
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        #expect(fixture.transport.requestCount == 1)
        fixture.clock.advance(by: .milliseconds(1))
        #expect(try await item.loadIfNeeded().name == "a")
    }

    @Test("A later load is conditional, and after 304 the content stays and its fields are merged")
    func notModified() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item")
            .answer(
                json: Item(name: "a"),
                headerFields: [.eTag: "\"1\"", .cacheControl: "max-age=5", .contentLanguage: "en"]
            )
            .thenAnswer(.notModified, headerFields: [.eTag: "\"1\"", .cacheControl: "max-age=9"])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let age = item.state.age
        fixture.clock.advance(by: .seconds(40))
        #expect(try await item.loadIfNeeded().name == "a")
        #expect(fixture.transport.requests[0].headerFields[.ifNoneMatch] == nil)
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == "\"1\"")
        #expect(item.state.age == age)
        #expect(item.isFresh)
        #expect(item.state.entity?.headerFields[.cacheControl] == "max-age=9")
        #expect(item.state.entity?.headerFields[.contentLanguage] == "en")
    }

    @Test("Content that did not come from a GET of the resource is never confirmed by a 304")
    func foreignValidators() async throws {
        let fixture = try ResourceFixture()
        let fields: HTTPFields = [.eTag: "\"1\""]
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: fields)
        fixture.transport.on(.post, "/v1/search").answer(json: Item(name: "b"), headerFields: fields)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        item.override(with: Item(name: "mine"))
        #expect(try await item.load().name == "a")
        try await item.load(using: DataRequest(.post, "search"))
        #expect(try await item.load().name == "a")
        try await item.load()
        let sent = fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] }
        #expect(sent == [nil, nil, nil, nil, "\"1\""])
    }

    @Test("An invalidation during a load stays, and the next load bypasses caches")
    func invalidationInFlight() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "before"))
        }.thenAnswer(json: Item(name: "after"))
        let item: Resource<Item> = fixture.service.resource("item")
        async let first = item.loadIfNeeded()
        _ = try await fixture.transport.request(number: 1)
        item.invalidate()
        #expect(item.isInvalid)
        let second = Task { try await item.loadIfNeeded() }
        #expect(try await second.value.name == "after")
        latch.open()
        #expect(try await first.name == "before")
        #expect(item.content?.name == "after")
        #expect(!item.isInvalid)
        #expect(fixture.transport.requests[0].headerFields[.cacheControl] == nil)
        #expect(fixture.transport.requests[1].headerFields[.cacheControl] == "no-cache")
    }

    @Test("A cancelled task leaves a load that another task waits for")
    func interest() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "Ada"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let leaving = Task { () -> RequestFailure? in
            do throws(RequestFailure) {
                try await item.loadIfNeeded()
                return nil
            } catch { return error }
        }
        _ = try await fixture.transport.request(number: 1)
        let staying = item.startLoadIfNeeded()
        leaving.cancel()
        #expect(await leaving.value?.reason == .cancelled)
        latch.open()
        #expect(try await staying?.content.name == "Ada")
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("The transfer ends when the last task has stopped waiting, and neither content nor failure changes")
    func lastInterest() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a")).thenAnswer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "b"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let task = Task { try? await item.load() }
        _ = try await fixture.transport.request(number: 2)
        #expect(item.isLoading)
        task.cancel()
        #expect(await task.value == nil)
        #expect(!item.isLoading)
        #expect(item.state.failure == nil)
        #expect(item.content?.name == "a")
        latch.open()
        #expect(item.content?.name == "a")
    }

    @Test("A load with a caller's own request changes the state of the resource")
    func loadUsing() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.post, "/v1/search").answer(json: Item(name: "found"))
        let item: Resource<Item> = fixture.service.resource("item")
        #expect(try await item.load(using: DataRequest(.post, "search")).name == "found")
        #expect(item.content?.name == "found")
    }
}
