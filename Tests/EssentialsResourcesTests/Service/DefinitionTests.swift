import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsResources

@Suite("Resource: definitions", .leavesNothing)
struct DefinitionTests {
    private enum Items: Endpoint {
        typealias Parent = EnvironmentAPI
        static let path: RequestPath = "items"

        static func get(id: Int) -> APIRequest<Item> { request(.get, "\(id)") }
        static func find(_ text: String) -> APIRequest<[Item]> { request(.get) { RequestQuery { ("q", text) } } }
        static func rename(id: Int, _ item: Item) -> APIRequest<Item> {
            request(.put, "\(id)") { RequestContent { item } }
        }
        static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
        static func marked(id: Int) -> APIRequest<Item> {
            request(.get, "\(id)") {
                RequestHeaders {
                    ("X-Client", "test")
                    ("If-None-Match", "mine")
                }
            }
        }
        static let broken: APIRequest<Item> = request(.get) { RequestHeaders { ("Bad Name", "x") } }
        static let table: APIRequest<String> = request(.get, "table") { RequestHeaders { ("Accept", "text/csv") } }
    }

    private struct Problem: Decodable, Sendable { let title: String }

    private struct Spoken: Decodable, Sendable, Equatable { let fullName: String }

    @Test("The resource of a definition is the resource of its path")
    func identity() throws {
        let fixture = try ResourceFixture()
        #expect(fixture.service.resource(Items.get(id: 7)) == fixture.service.resource("items/7"))
        let found = fixture.service.resource(Items.find("a b&c"))
        #expect(found == fixture.service.resource("items").withParam("q", "a b&c"))
        #expect(found.url == "https://h/v1/items?q=a%20b%26c")
    }

    @Test("The resource of a definition without a path is that of the base URL, with a slash at its end")
    func emptyPath() throws {
        let fixture = try ResourceFixture(base: "https://h/v1?key=1")
        let root = fixture.service.resource(APIRequest<Item>(.get))
        #expect(root.url == "https://h/v1/?key=1")
        #expect(root == fixture.service.resource(""))
    }

    @Test("Loads send the header fields of the definition, without its conditions, and the method GET without a body")
    func fields() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items/7").answer(json: Item(name: "Ada"))
        try await fixture.service.resource(Items.marked(id: 7)).load()
        let first = try #require(fixture.transport.requests.first)
        #expect(first.headerFields[HTTPField.Name("X-Client")!] == "test")
        #expect(first.headerFields[.ifNoneMatch] == nil)
        try await fixture.service.resource(Items.rename(id: 7, Item(name: "x"))).load()
        let second = try #require(fixture.transport.requests.last)
        #expect(second.method == .get && second.body.isEmpty)
        #expect(second.headerFields[.contentType] == nil)
        #expect(second.headerFields[HTTPField.Name("X-Client")!] == nil)
    }

    @Test("Loads keep the settings of a definition, but not its idempotency key")
    func settings() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items/7").answer(json: Item(name: "Ada"))
        let item = fixture.service.resource(
            Items.rename(id: 7, Item(name: "x")).idempotencyKey(.text("rename-1")).idempotent(false))
        try await item.load()
        let sent = try #require(fixture.transport.requests.last)
        #expect(sent.headerFields[HTTPField.Name("Idempotency-Key")!] == nil)
        #expect(item.core.addressAndDefinition.1 != nil)
        let plain = fixture.service.resource(Items.get(id: 7))
        #expect(plain.core.addressAndDefinition.1 == nil)
        var alone = Items.get(id: 7)
        alone.configuration.joins = false
        #expect(fixture.service.resource(alone).core.addressAndDefinition.1 != nil)
    }

    @Test("A field that selects a representation makes a variant")
    func variant() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items/table").answer(text: "a,b")
        let table = fixture.service.resource(Items.table)
        #expect(table == fixture.service.resource("items/table", variant: .accept("text/csv")))
        #expect(table != fixture.service.resource("items/table"))
        #expect(try await table.load() == "a,b")
        #expect(fixture.transport.requests.first?.headerFields[.accept] == "text/csv")
    }

    @Test("A definition of text in an unknown charset fails as decoding, unless its codec is lenient")
    func unknownCharset() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items/table").answer(
            data: Data("a,b".utf8), headerFields: [.contentType: "text/csv; charset=nonsense"])
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.resource(Items.table).load()
        }
        #expect(failure?.reason == .decoding)
        #expect(failure?.message.contains("“nonsense”") == true)
        let lenient = CodecRegistry.standard.registering(
            TextCodec(isLenient: true), for: try MediaPattern("text/csv"))
        #expect(try await fixture.service.resource(Items.table.codecs(lenient)).load() == "a,b")
    }

    @Test("Loads read bodies with the codecs of the definition, and failures with its error model")
    func codecs() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/who").answer(json: ["full_name": "Ada"])
            .thenAnswer(.notFound, json: ["title": "gone"])
        var definition = APIRequest<Spoken>(.get, "who")
        definition.codecs = CodecRegistry.standard.registering(
            JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        definition.errorModel = Problem.self
        let who = fixture.service.resource(definition)
        #expect(try await who.load() == Spoken(fullName: "Ada"))
        #expect(who.content == Spoken(fullName: "Ada"))
        let failure = await #expect(throws: RequestFailure.self) { try await who.load() }
        #expect(failure?.errorModel(as: Problem.self)?.title == "gone")
        #expect(who.content == Spoken(fullName: "Ada"))
    }

    @Test(
        "A definition with another base makes a resource by whole URL, which does not move with the environment")
    func ownBase() async throws {
        let other = ScriptedTransport()
        other.on(.get, "/feed").answer(json: Item(name: "news"))
        let fixture = try ResourceFixture(open: HTTPDataRequestService.forAnyServer(over: other)) {
            $0.foreignHosts = ["news.example.com"]
        }
        let feed = fixture.service.resource(APIRequest<Item>(.get, url: "https://news.example.com/feed"))
        #expect(try await feed.load().name == "news")
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        #expect(feed.url == "https://news.example.com/feed")
        #expect(feed == fixture.service.resource(url: "https://news.example.com/feed"))
        #expect(other.requests.first?.headerFields[.accept] == "application/json")
    }

    @Test("After a change of the environment the resource of a definition lies below the new base")
    func environmentChange() throws {
        let fixture = try ResourceFixture()
        let item = fixture.service.resource(Items.get(id: 7))
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        #expect(item == fixture.service.resource(Items.get(id: 7)))
        #expect(item.url == "https://new/v2/items/7")
    }

    @Test("Loads of an invalid definition fail with its failure and send nothing")
    func invalid() async throws {
        let fixture = try ResourceFixture()
        let definition = Items.broken
        let expected = #expect(throws: RequestFailure.self) { try definition.build() }
        let item = fixture.service.resource(definition)
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.message == expected?.message)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("Sending a definition with a safe method does not change the state")
    func sendingSafely() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/items/7").answer(json: Item(name: "Grace"))
        let item = fixture.service.resource(Items.get(id: 7))
        item.override(with: Item(name: "Ada"))
        let version = item.state.version
        #expect(try await item.send(Items.get(id: 7)).name == "Grace")
        #expect(item.state.version == version)
        #expect(item.content?.name == "Ada")
    }

    @Test("Sending a definition with another method is a write of the resource")
    func sending() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.put, "/v1/items/7").answer(json: Item(name: "reply"), headerFields: [.eTag: "\"1\""])
        fixture.transport.on(.delete, "/v1/items/7").answer(.noContent)
        fixture.transport.on(.put, "/v1/items/8").answer(json: Item(name: "other"))
        let item = fixture.service.resource(Items.get(id: 7))
        item.override(with: Item(name: "Ada"))
        #expect(try await item.send(Items.rename(id: 7, Item(name: "Grace"))).name == "reply")
        #expect(item.content?.name == "Grace")
        #expect(item.isFresh)
        let other = try await item.send(Items.rename(id: 8, Item(name: "x"))) { $0.name += "!" }
        #expect(other.name == "other")
        #expect(item.content?.name == "Grace!")
        #expect(item.isInvalid)
        try await item.send(Items.delete(id: 7))
        #expect(item.content == nil)
        await fixture.service.close()
        let failure = await #expect(throws: RequestFailure.self) { try await item.send(Items.delete(id: 7)) }
        #expect(failure?.reason == .closed)
    }

    @Test("The Accept field contains the content types of all views")
    func accept() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(fixture.transport.requests.last?.headerFields[.accept] == "application/json")
        let text: Resource<String> = item.resource()
        try await text.load()
        #expect(fixture.transport.requests.last?.headerFields[.accept] == "*/*")
    }
}
