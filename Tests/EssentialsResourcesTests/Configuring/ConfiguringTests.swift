import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import Testing

@Suite("Resource: configuration", .leavesNothing)
struct ConfiguringTests {
    private final class Counter: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.wrappingAdd(1, ordering: .relaxed) }
    }

    @Test("All blocks that match apply in the order in which they were added")
    func order() throws {
        let fixture = try ResourceFixture { $0.defaults.retryTime = .seconds(7) }
        try fixture.service.configure("/items/*", name: "items") {
            $0.expiration = .seconds(1)
            $0.maximumBody = 10
        }
        try fixture.service.configure("/items/7", name: "seven") {
            if $0.expiration == .seconds(1) { $0.expiration = .seconds(2) }
        }
        try fixture.service.configure("/other") { $0.expiration = .seconds(9) }
        let item: Resource<Item> = fixture.service.resource("items/7")
        #expect(item.configuration().expiration == .seconds(2))
        #expect(item.configuration().maximumBody == 10)
        #expect(item.configuration().retryTime == .seconds(7))
        #expect(item.any.configurationNames() == ["items", "seven"])
        let plain: Resource<Item> = fixture.service.resource("plain")
        #expect(plain.configuration().expiration == .seconds(30))
        #expect(plain.any.configurationNames() == [])
    }

    @Test("A block for some methods does not affect other methods")
    func methods() throws {
        let fixture = try ResourceFixture()
        try fixture.service.configure("/**", methods: [.post, .put], name: "writes") { $0.maximumBody = 1 }
        let item: Resource<Item> = fixture.service.resource("item")
        #expect(item.configuration(for: .post).maximumBody == 1)
        #expect(item.configuration(for: .get).maximumBody == 64 << 20)
        #expect(item.any.configurationNames(for: .put) == ["writes"])
    }

    @Test("After a trial, a configuration is computed when first needed, once for each method, and never by navigation")
    func lazy() throws {
        let fixture = try ResourceFixture()
        let counter = Counter()
        try fixture.service.configure("/**") { _ in counter.add() }
        #expect(counter.value == 1)
        let item: Resource<Item> = fixture.service.resource("items", as: Item.self).child("7")
        #expect(counter.value == 1)
        item.override(with: Item(name: "a"))
        item.override(with: Item(name: "b"))
        _ = item.configuration()
        #expect(counter.value == 2)
        _ = item.configuration(for: .put)
        _ = item.configuration(for: .put)
        _ = item.configuration()
        #expect(counter.value == 3)
        fixture.service.reconfigure()
        _ = item.configuration()
        #expect(counter.value == 4)
    }

    private struct Problem: Codable, Sendable { var title: String }
    private struct OtherProblem: Codable, Sendable { var title: String }

    @Test("The error model of the configuration is read from refused loads, writes and requests")
    func errorModel() async throws {
        let fixture = try ResourceFixture()
        for method in [HTTPRequest.Method.get, .put, .post] {
            fixture.transport.on(method, "/v1/item").answer(.conflict, json: Problem(title: "No."))
        }
        let item: Resource<String> = fixture.service.resource("item")
        try fixture.service.configure("/**") { $0.errorModel = Problem.self }
        let loaded = await #expect(throws: RequestFailure.self) { try await item.load() }
        let written = await #expect(throws: RequestFailure.self) { _ = try await item.put("x") }
        let sent = await #expect(throws: RequestFailure.self) { try await item.request(.post, as: String.self).content }
        let plain = DataRequest(.get, "item")
        let using = await #expect(throws: RequestFailure.self) { try await item.load(using: plain) }
        for failure in [loaded, written, sent, using, item.state.failure] {
            #expect(failure?.errorModel(as: Problem.self)?.title == "No.")
        }
        var changed = plain
        changed.errorModel = OtherProblem.self
        let other = changed
        let own = await #expect(throws: RequestFailure.self) { try await item.load(using: other) }
        #expect(own?.errorModel(as: OtherProblem.self)?.title == "No.")
    }

    @Test("The error model of the configuration counts for resources of other hosts")
    func foreignErrorModel() async throws {
        let other = ScriptedTransport()
        other.on(.get, "/picture").answer(.notFound, json: Problem(title: "Gone."))
        let fixture = try ResourceFixture(open: HTTPDataRequestService.forAnyServer(over: other)) {
            $0.foreignHosts = ["cdn.example.com"]
            $0.defaults.errorModel = Problem.self
        }
        let picture: Resource<String> = fixture.service.resource(url: "https://cdn.example.com/picture")
        let failure = await #expect(throws: RequestFailure.self) { try await picture.load() }
        #expect(failure?.errorModel(as: Problem.self)?.title == "Gone.")
    }

    @Test("A removed block no longer counts")
    func removal() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let block = try fixture.service.configure("/item", name: "short") { $0.expiration = .seconds(1) }
        #expect(block.name == "short")
        #expect(item.configuration().expiration == .seconds(1))
        block.remove()
        block.remove()
        #expect(item.configuration().expiration == .seconds(30))
    }

    @Test(
        "After a change of the environment, configurations are computed again, and a pattern of one URL moves with it")
    func environmentChange() throws {
        let fixture = try ResourceFixture()
        let counter = Counter()
        let item: Resource<Item> = fixture.service.resource("item")
        let base = ResourcePattern.matching { $0.description.contains("new") }
        try fixture.service.configure(base, name: "new") { _ in counter.add() }
        #expect(item.any.configurationNames() == [])
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        #expect(item.any.configurationNames() == ["new"])
        #expect(counter.value == 2)
    }

    @Test("A malformed pattern, and a block beyond the limit, are refused")
    func refusals() throws {
        let fixture = try ResourceFixture()
        let malformed = #expect(throws: RequestFailure.self) { try fixture.service.configure("/***") { _ in } }
        #expect(malformed?.reason == .invalidRequest)
        for _ in 0..<1_024 { try fixture.service.configure("/x") { _ in } }
        let tooMany = #expect(throws: RequestFailure.self) { try fixture.service.configure("/x") { _ in } }
        #expect(tooMany?.reason == .invalidRequest)
    }

    @Test("Expiration, retry time, header fields and the maximum body are those of the matching resources")
    func effects() async throws {
        let fixture = try ResourceFixture { $0.defaults.headerFields[.userAgent] = "default" }
        try fixture.service.configure("/item") {
            $0.expiration = .seconds(5)
            $0.headerFields[.userAgent] = "item"
        }
        try fixture.service.configure("/small") { $0.maximumBody = 3 }
        try fixture.service.configure("/failing") { $0.retryTime = .seconds(60) }
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        fixture.transport.on(.get, "/v1/small").answer(json: Item(name: "too long"))
        fixture.transport.on(.get, "/v1/failing").answer(.notFound)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(fixture.transport.requests.last?.headerFields[.userAgent] == "item")
        #expect(item.state.freshFor == .seconds(5))
        let small: Resource<Item> = fixture.service.resource("small")
        let failure = await #expect(throws: RequestFailure.self) { try await small.load() }
        #expect(failure?.reason == .tooLarge)
        #expect(fixture.transport.requests.last?.headerFields[.userAgent] == "default")
        let failing: Resource<Item> = fixture.service.resource("failing")
        await #expect(throws: RequestFailure.self) { try await failing.load() }
        #expect(failing.state.freshFor == .seconds(60))
    }

    @Test("A configuration of a hundred patterns is computed once and then kept")
    func hundredPatterns() throws {
        let fixture = try ResourceFixture()
        let counter = Counter()
        for index in 0..<100 {
            try fixture.service.configure(ResourcePattern("/items/\(index)/*")) { _ in counter.add() }
        }
        let item: Resource<Item> = fixture.service.resource("items/7/x")
        #expect(counter.value == 100)
        for _ in 0..<1_000 { _ = item.configuration() }
        #expect(counter.value == 101)
    }
}
