import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource table: dropping unused resources", .leavesNothing, .timeLimit(.minutes(5)))
struct DroppingTests {
    /// Gives content to resources, and keeps no handle.
    private func fill(_ names: [String], in service: HTTPResourceService) {
        for name in names { service.resource(name, as: Item.self).override(with: Item(name: name)) }
    }

    @Test("Beyond the maximum, the unused resources that were used longest ago are dropped")
    func oldest() throws {
        let fixture = try ResourceFixture { $0.maximumUnused = 4 }
        let service = fixture.service
        fill(["a", "b", "c", "d"], in: service)
        #expect(service.resourceCount == 4)
        // A look-up is a use.
        #expect(service.resource("a", as: Item.self).content?.name == "a")
        fill(["e", "f"], in: service)
        #expect(service.resourceCount == 4)
        for name in ["d", "a", "e", "f"] { #expect(service.resource(name, as: Item.self).content?.name == name) }
        #expect(service.resourceCount == 4)
    }

    @Test("The sizes of loaded contents count until the contents are removed, in any way")
    func sizes() async throws {
        let fixture = try ResourceFixture()
        let (service, table) = (fixture.service, fixture.service.table)
        for base in ["v1", "v2"] {
            fixture.transport.on(.get, "/\(base)/*").answer(text: String(repeating: "x", count: 40_000))
        }
        fixture.transport.on(.delete, "/v1/a").answer(.noContent)
        let items: [Resource<String>] = ["a", "b", "c", "d", "e"].map { service.resource($0) }
        func load() async throws { for item in items { try await item.load() } }
        try await load()
        #expect(table.countedBytes == 200_000)
        items[0].wipe()
        try service.wipe("/b")
        #expect(table.countedBytes == 120_000)
        try await items[0].load()
        try await items[0].delete()
        #expect(table.countedBytes == 120_000)
        items[2].override(
            with: "y", entity: Entity(mediaType: nil, headerFields: [:], date: fixture.clock.date, byteCount: 7))
        #expect(table.countedBytes == 80_007)
        await fixture.requests.clearAuthorization()
        #expect(table.countedBytes == 0)
        try await load()
        service.enter("ada")
        #expect(table.countedBytes == 0)
        try await load()
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        #expect(items[0] == service.resource("a"))
        // The task that follows the environment may still be working.
        while table.countedBytes > 0 { await Task.yield() }
        try await load()
        #expect(table.countedBytes == 200_000)
    }

    @Test("The sizes of shown contents count, even if loads, wipes, overrides and environments change them at once")
    func meetingSizes() async throws {
        let fixture = try ResourceFixture()
        let (service, table) = (fixture.service, fixture.service.table)
        let text = String(repeating: "x", count: 400)
        for base in ["v1", "v2"] { fixture.transport.on(.get, "/\(base)/*").answer(text: text) }
        let bases = try ["https://h/v1/", "https://h/v2/"].map { try RequestURL($0) }
        let items: [Resource<String>] = (0..<8).map { service.resource("\($0)") }
        for round in 0..<60 {
            await withTaskGroup { group in
                for item in items {
                    group.addTask { _ = try? await item.load() }
                    group.addTask { item.wipe() }
                    group.addTask { item.override(with: String(repeating: "y", count: round)) }
                }
                group.addTask { fixture.environment.set(EnvironmentSnapshot(baseURL: bases[round % 2])) }
                group.addTask { service.enter(EntityPartition("account \(round % 3)")) }
                group.addTask { await fixture.requests.clearAuthorization() }
            }
            // The task that follows the environment may still be working.
            func shown() -> Int { items.reduce(0) { $0 + ($1.content?.utf8.count ?? 0) } }
            for _ in 0..<1_000 where table.countedBytes != shown() { await Task.yield() }
            try #require(table.countedBytes == shown(), "round \(round)")
        }
    }

    @Test("Beyond the maximum size of their contents, the unused resources that were used longest ago are dropped")
    func bytes() throws {
        let fixture = try ResourceFixture { $0.maximumUnusedBytes = 100_000 }
        let service = fixture.service
        for name in ["a", "b", "c"] {
            let entity = Entity(mediaType: nil, headerFields: [:], date: fixture.clock.date, byteCount: 40_000)
            service.resource(name, as: Item.self).override(with: Item(name: name), entity: entity)
        }
        #expect(service.resourceCount == 2)
        #expect(service.resource("a", as: Item.self).content == nil)
        for name in ["b", "c"] { #expect(service.resource(name, as: Item.self).content?.name == name) }
    }

    @Test("A handle for the URL of a dropped resource starts with an empty state")
    func emptyState() throws {
        let fixture = try ResourceFixture { $0.maximumUnused = 1 }
        fill(["a"], in: fixture.service)
        fixture.service.resource("a", as: Item.self).invalidate()
        fill(["b"], in: fixture.service)
        let item: Resource<Item> = fixture.service.resource("a")
        let untouched: Resource<Item> = fixture.service.resource("untouched")
        #expect(item.content == nil)
        #expect(item.state.entity == nil)
        #expect(item.state.provenance == nil)
        #expect(!item.isInvalid)
        #expect(!item.isFresh)
        #expect(item.state.version == untouched.state.version)
    }

    @Test("Resources with a handle, an observer or a running load are not dropped")
    func used() async throws {
        let fixture = try ResourceFixture { $0.maximumUnused = 2 }
        let service = fixture.service
        let latch = Latch()
        fixture.transport.on(.get, "/v1/loading").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "loaded"))
        }
        fill(["held", "observed"], in: service)
        let held: Resource<Item> = service.resource("held")
        let observation = service.resource("observed", as: Item.self).observeSynchronously { _ in }
        service.resource("loading", as: Item.self).startLoad()
        _ = try await fixture.transport.request(number: 1)
        fill((0..<20).map { "other\($0)" }, in: service)
        #expect(service.resourceCount == 5)
        service.keepUnused(count: 0, bytes: 0)
        service.dropUnused()
        #expect(service.resourceCount == 3)
        #expect(held.content?.name == "held")
        #expect(service.resource("held", as: Item.self) == held)
        #expect(service.resource("observed", as: Item.self).content?.name == "observed")
        #expect(service.resource("loading", as: Item.self).isLoading)
        latch.open()
        #expect(try await service.resource("loading", as: Item.self).loadIfNeeded().name == "loaded")
        #expect(fixture.transport.requestCount == 1)
        observation.cancel()
    }

    /// The causes that drop a resource.
    enum Cause: String, CaseIterable {
        case insertion, lowerLimit, dropUnused
    }

    @Test("Content that uses its service while it is dropped causes no deadlock", arguments: Cause.allCases)
    func contentWithDeinit(cause: Cause) throws {
        let fixture = try ResourceFixture { $0.maximumUnused = 1 }
        let service = fixture.service
        let journal = Journal()
        service.resource("content", as: AskingContent.self).override(with: AskingContent(service, journal))
        #expect(journal.all == [])
        switch cause {
        case .insertion: fill(["other"], in: service)
        case .lowerLimit: service.keepUnused(count: 0, bytes: 0)
        case .dropUnused: service.dropUnused()
        }
        #expect(journal.all == ["asked"])
        #expect(service.resource("content", as: AskingContent.self).content == nil)
    }
}

/// Requests another resource from its service when it is released.
private final class AskingContent: Sendable {
    private let service: HTTPResourceService
    private let journal: Journal

    init(_ service: HTTPResourceService, _ journal: Journal) { (self.service, self.journal) = (service, journal) }

    deinit {
        if service.resource("asked", as: Item.self).content == nil { journal.add("asked") }
    }
}
