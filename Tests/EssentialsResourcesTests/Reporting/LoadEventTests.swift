import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

/// What load observers are told, event by event.
@Suite("Events of loads", .leavesNothing, .timeLimit(.minutes(5)))
struct LoadEventTests {
    private let stories = LoadStories()
    private let fixture: ResourceFixture
    private let item: Resource<Int>

    init() throws {
        let stories = stories
        fixture = try ResourceFixture {
            $0.observers = [stories]
            $0.defaults.expiration = .seconds(30)
            $0.defaults.retryTime = .seconds(5)
        }
        item = fixture.service.resource("item", as: Int.self).withParam("secret", "x")
    }

    @Test("A load says why it began, and a resource says how long it is fresh")
    func reasons() async throws {
        fixture.transport.on(.get, "/v1/item").answer(json: 1)
        try await item.loadIfNeeded()
        #expect(stories.take() == ["1: began, missing", "1: requested", "1: loaded", "new content, network"])
        #expect(stories.events.last?.freshFor == .seconds(30))
        try await item.loadIfNeeded()
        #expect(stories.take() == ["skipped, fresh"])
        #expect(stories.events.last?.freshFor == .seconds(30))
        fixture.clock.advance(by: .seconds(10))
        try await item.loadIfNeeded(maximumAge: .seconds(60))
        try await item.loadIfNeeded(maximumAge: .seconds(5))
        let loaded = ["loaded", "new content, network"]
        #expect(stories.take().map(Self.withoutNumber) == ["skipped, fresh", "began, tooOld", "requested"] + loaded)
        fixture.clock.advance(by: .seconds(31))
        try await item.loadIfNeeded()
        #expect(stories.take().map(Self.withoutNumber) == ["began, stale", "requested"] + loaded)
        item.invalidate()
        try await item.loadIfNeeded()
        #expect(stories.take().map(Self.withoutNumber) == ["invalidated", "began, invalidated", "requested"] + loaded)
        try await item.load()
        #expect(stories.take().map(Self.withoutNumber) == ["began, requested", "requested"] + loaded)
        #expect(stories.problems().isEmpty)
    }

    @Test("A failure is told without what its response contains, and so is the time until the next attempt")
    func failures() async throws {
        fixture.transport.on(.get, "/v1/item").answer(
            .internalServerError, json: "s3cret", headerFields: [.setCookie: "s3cret"]
        ).thenAnswer(json: 2)
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        #expect(stories.take() == ["1: began, missing", "1: requested", "1: failed, status", "shows status"])
        #expect(stories.events.last?.freshFor == .seconds(5))
        await #expect(throws: RequestFailure.self) { try await item.loadIfNeeded() }
        #expect(stories.take() == ["skipped after status"])
        fixture.clock.advance(by: .seconds(6))
        try await item.loadIfNeeded()
        #expect(stories.take().map(Self.withoutNumber).prefix(2) == ["began, failed", "requested"])
        var text = ""
        for event in stories.events {
            text += "\(event.resource) \(event)"
            dump(event, to: &text)
        }
        #expect(!text.contains("s3cret") && !text.contains("secret=x") && text.contains("https://h/v1/item?…"))
        let told = stories.events.compactMap { event -> RequestFailure? in
            if case .ended(.failed(let failure)) = event.kind { failure } else { nil }
        }
        #expect(told.first?.status == .internalServerError && told.first?.response?.body.isEmpty == true)
    }

    @Test("Content that is young enough for its caller is the reason, although a later load has failed")
    func youngContent() async throws {
        fixture.transport.on(.get, "/v1/item").answer(json: 1).thenAnswer(.internalServerError)
        try await item.load()
        await #expect(throws: RequestFailure.self) { try await item.load() }
        _ = stories.take()
        try await item.loadIfNeeded(maximumAge: .seconds(60))
        #expect(stories.take() == ["skipped, fresh"])
        _ = try await item.loadIfNeeded()
        #expect(stories.take() == ["skipped after status"])
    }

    @Test("Failures that are a part of another one are told without what their responses contain")
    func nestedFailures() throws {
        let head = HTTPResponse(status: .unauthorized, headerFields: [.setCookie: "s3cret"])
        let inner = RequestFailure(
            .status, "Inner.", response: FailedResponse(head: head, body: Data("s3cret".utf8)))
        let outer = RequestFailure(.authorization, "Outer.", underlying: inner).changed { $0.earlier = [inner] }
        let shown = outer.withoutContent
        for failure in try [#require(shown.underlying as? RequestFailure), #require(shown.earlierFailures.first)] {
            #expect(failure.status == .unauthorized && failure.response?.head.headerFields.isEmpty == true)
            #expect(failure.response?.body.isEmpty == true)
        }
    }

    @Test("Of changes that wait for a slow observer only the last one is told, and of loads nothing is left out")
    func slowObserver() async throws {
        /// Changes the resource while it is told of the first event.
        final class Busy: LoadObserver {
            let resource = Mutex<Resource<Int>?>(nil)
            func observe(_ event: LoadEvent) {
                guard let resource = resource.withLock({ $0.take() }) else { return }
                for number in 1...3_000 { resource.override(with: number) }
                resource.startLoad()
            }
        }
        let (stories, busy) = (stories, Busy())
        let fixture = try ResourceFixture { $0.observers = [busy, stories] }
        fixture.transport.on(.get, "/v1/item").answer(json: 7)
        let item: Resource<Int> = fixture.service.resource("item")
        busy.resource.withLock { $0 = item }
        item.invalidate()
        while item.content != 7 { await Task.yield() }
        await stories.wait(for: "https://h/v1/item", content: .network)
        let changes = stories.events.count { if case .changed = $0.kind { true } else { false } }
        #expect((1_000...1_100).contains(changes) && stories.problems().isEmpty)
    }

    @Test("A caller that joins, one that leaves, and a wiped resource")
    func joining() async throws {
        fixture.transport.on(.get, "/v1/item").answer(json: 1, after: .seconds(1))
        let first = Task { [item] in try await item.loadIfNeeded() }
        _ = try await fixture.transport.request(number: 1)
        let second = Task { try await item.loadIfNeeded() }
        await stories.wait(count: 3)
        #expect(stories.take() == ["1: began, missing", "1: requested", "1: joined"])
        second.cancel()
        _ = await second.result
        item.wipe()
        await #expect(throws: RequestFailure.self) { try await first.value }
        #expect(stories.take() == ["1: cancelled", "wiped(EssentialsResources.WipeReason.requested)"])
        let request = item.startLoad()
        item.override(with: 3)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1))
        _ = try await request.content
        let told = ["began, requested", "requested", "new content, local", "superseded"]
        #expect(stories.take().map(Self.withoutNumber) == told)
        #expect(stories.problems().isEmpty)
    }

    @Test("A validation, and an environment that changes while a load runs")
    func environment() async throws {
        fixture.transport.on(.get, "/v1/item").answer(json: 1, headerFields: [.eTag: "\"1\""])
            .thenAnswer(.notModified).thenAnswer(json: 2, after: .seconds(1))
        try await item.load()
        try await item.load()
        #expect(stories.take().map(Self.withoutNumber).suffix(3) == ["requested", "confirmed", "notModified"])
        let observation = item.observeSynchronously { _ in }
        defer { observation.cancel() }
        let old = Task { try await item.load() }
        _ = try await fixture.transport.request(number: 3)
        fixture.transport.on(.get, "/v2/item").answer(json: 3)
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        fixture.service.adoptEnvironment()
        _ = await old.result
        while item.content != 3 { await Task.yield() }
        // The content is visible before the events are told.
        await stories.wait(for: "https://h/v2/item?…", content: .network)
        let told = stories.take(of: "?…").map(Self.withoutNumber)
        #expect(
            told == [
                "began, requested", "requested", "cancelled", "wiped(EssentialsResources.WipeReason.environment)",
                "began, missing", "requested", "loaded", "new content, network",
            ])
        #expect(stories.events.last?.resource == "https://h/v2/item?…")
        fixture.service.reload([fixture.service.resource("other", as: Int.self).core])
        await stories.wait(count: 1)
        #expect(stories.take() == ["skipped, unobserved"])
    }

    @Test("An entity cache whose content is good enough ends a load that has requested nothing")
    func caches() async throws {
        let stories = stories
        let cached = CacheFixture()
        cached.cache.set(cached.entity("Ada", fields: [.cacheControl: "max-age=60"]), for: CacheFixture.key)
        let service = try cached.service { $0.observers = [stories] }
        let person = service.resource("item", as: Item.self)
        #expect(try await person.loadIfNeeded().name == "Ada")
        let content = "new content, entityCache(stage: \"decoding\")"
        #expect(stories.take().map(Self.withoutNumber) == ["began, missing", "cached", content])
        await service.close()
        await #expect(throws: RequestFailure.self) { try await person.load() }
        let told = ["began, requested", "requested", "failed, closed", "shows closed"]
        #expect(stories.take().map(Self.withoutNumber) == told)
    }

    @Test(
        "Observers are told whether an entity cache stores a response, and why not",
        arguments: [
            ([:], "stored"), ([.cacheControl: "no-store"], "not stored, forbidden"),
            ([.vary: "*"], "not stored, varies"),
        ] as [(HTTPFields, String)])
    func storing(_ fields: HTTPFields, _ storing: String) async throws {
        let stories = stories
        let cached = CacheFixture()
        let service = try cached.service { $0.observers = [stories] }
        cached.transport.on(.get, "/v1/item").answer(json: ["name": "Ada"], headerFields: fields)
        try await service.resource("item", as: Item.self).load()
        await stories.wait(count: 5)
        #expect(
            stories.take().map(Self.withoutNumber) == [
                "began, requested", "requested", "loaded", "new content, network", "decoding: \(storing)",
            ])
        #expect(stories.problems().isEmpty)
        await service.close()
        let kept = try await cached.cache.entity(for: CacheFixture.key)
        #expect((kept != nil) == (storing == "stored"))
    }

    @Test("A personal response is not stored without an account, and nothing is told of a resource without a cache")
    func personal() async throws {
        let stories = stories
        let cached = CacheFixture()
        let service = try cached.service { $0.observers = [stories] }
        cached.transport.on(.get, "/v1/item").answer(json: ["name": "Ada"])
        try service.configure("item") { $0.headerFields[.authorization] = "Bearer x" }
        try await service.resource("item", as: Item.self).load()
        await stories.wait(count: 5)
        #expect(stories.take().last.map(Self.withoutNumber) == "decoding: not stored, personal")
        await service.close()
        let plain = try cached.service(cached: false) { $0.observers = [stories] }
        try await plain.resource("item", as: Item.self).load()
        await plain.close()
        await stories.wait(count: 4)
        let told = ["began, requested", "requested", "loaded", "new content, network"]
        #expect(stories.take().map(Self.withoutNumber) == told)
    }

    @Test("What an observer causes is told after what it is being told")
    func reentrancy() async throws {
        final class Invalidating: LoadObserver {
            let resource = Mutex<Resource<Int>?>(nil)
            func observe(_ event: LoadEvent) {
                guard case .ended = event.kind else { return }
                resource.withLock { $0.take() }?.invalidate()
            }
        }
        let (stories, causing) = (stories, Invalidating())
        let fixture = try ResourceFixture { $0.observers = [causing, stories] }
        fixture.transport.on(.get, "/v1/item").answer(json: 1)
        let item: Resource<Int> = fixture.service.resource("item")
        causing.resource.withLock { $0 = item }
        try await item.load()
        await stories.wait(count: 5)
        let told = ["1: began, requested", "1: requested", "1: loaded", "new content, network", "invalidated"]
        #expect(stories.take() == told)
    }

    private static func withoutNumber(_ text: String) -> String {
        guard text.first?.isNumber == true, let end = text.firstIndex(of: " ") else { return text }
        return String(text[text.index(after: end)...])
    }
}
