import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Resource: projections")
struct ProjectionTests {
    private static let png = Data([
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0x01, 0x2c, 0, 0,
        0x02,
        0x05,
    ])

    private static let imageType: HTTPFields = [.contentType: "image/png"]

    private func text(_ charset: String) -> HTTPFields { [.contentType: "text/plain; charset=\(charset)"] }

    @Test("Text, JSON and a model are views of one content, which is loaded once")
    func views() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        #expect(item.text.content == nil)
        #expect(try await item.load().name == "a")
        #expect(item.text.content == #"{"name":"a"}"#)
        #expect(item.json.content?["name"] == "a")
        #expect(item.any.json == item.json)
        #expect(try await item.any.text.loadIfNeeded() == #"{"name":"a"}"#)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A view that cannot be read has its own failure, and the others keep their content")
    func ownFailures() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(text: "no JSON")
        let text = fixture.service.resource("item", as: String.self)
        #expect(try await text.load() == "no JSON")
        #expect(text.json.content == nil)
        #expect(text.json.state.failure?.reason == .decoding)
        #expect(text.imageHeader.state.failure?.reason == .decoding)
        #expect(text.state.failure == nil)
        #expect(text.content == "no JSON")
    }

    @Test("Text without a charset is UTF-8, and an unknown charset is a failure of that view alone")
    func charsets() async throws {
        let fixture = try ResourceFixture()
        let body = Data("é".utf8)
        fixture.transport.on(.get, "/v1/item").answer(data: body, headerFields: text("nonsense"))
            .thenAnswer(data: body, headerFields: [.contentType: "text/plain"])
            .thenAnswer(data: Data([0xe9]), headerFields: text("latin1"))
            .thenAnswer(data: Data([0xff, 0xfe, 0xe9, 0]), headerFields: text("nonsense"))
        let item = fixture.service.resource("item", as: Data.self)
        #expect(try await item.load() == body)
        let failure = await #expect(throws: RequestFailure.self) { try await item.text.loadIfNeeded() }
        #expect(failure?.reason == .decoding)
        #expect(failure?.message.contains("“nonsense”") == true)
        #expect(failure?.remedy?.contains("request Data") == true)
        #expect(item.state.failure == nil)
        for _ in 0..<3 { #expect(try await item.text.load() == "é") }
    }

    @Test(
        "JSON is read by its media type, regardless of the type before the slash",
        arguments: ["text/json", "model/json"])
    func jsonTypes(type: String) async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(
            data: Data(#"[1,"a",null]"#.utf8), headerFields: [.contentType: type])
        #expect(try await fixture.service.resource("item", as: Data.self).json.load() == [1, "a", nil])
    }

    @Test("The header of an image is read from its bytes, regardless of the media type")
    func image() async throws {
        let fixture = try ResourceFixture()
        let transport = fixture.transport
        transport.on(.get, "/v1/logo").answer(data: Self.png, headerFields: Self.imageType)
            .thenAnswer(data: Data("GIF89a\u{3}\u{0}\u{2}\u{0}".utf8), headerFields: [.contentType: "text/plain"])
            .thenAnswer(data: Self.png.prefix(20), headerFields: Self.imageType).thenAnswer(.noContent)
        let logo = fixture.service.resource("logo", as: Data.self)
        let header = try await logo.imageHeader.load()
        #expect(header.format == .png && header.width == 300 && header.height == 517)
        #expect(logo.content == Self.png)
        #expect(transport.requests.first?.headerFields[.accept] == "*/*")
        let other = try await logo.imageHeader.load()
        #expect(other.format == .gif && other.width == 3 && other.height == 2)
        let failure = await #expect(throws: RequestFailure.self) { try await logo.imageHeader.load() }
        #expect(failure?.reason == .decoding)
        #expect(failure?.host == "h")
        #expect(failure?.request == "GET https://h/v1/logo")
        #expect(failure?.response?.body == Self.png.prefix(20))
        #expect(logo.content == Self.png.prefix(20))
        let empty = await #expect(throws: RequestFailure.self) { try await logo.imageHeader.load() }
        #expect(empty?.reason == .emptyBody)
        #expect(empty?.message.contains("204") == true)
    }

    @Test("A projection that is added after a large body has no content, and its next load has no condition")
    func largeBody() async throws {
        let fixture = try ResourceFixture()
        var fields = Self.imageType
        fields[.eTag] = "\"1\""
        let large = Self.png + Data(repeating: 0, count: 16 << 10)
        fixture.transport.on(.get, "/v1/logo").answer(data: large, headerFields: fields)
        let logo = fixture.service.resource("logo", as: Data.self)
        try await logo.load()
        #expect(logo.imageHeader.content == nil)
        #expect(try await logo.imageHeader.loadIfNeeded().width == 300)
        #expect(fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, nil])
        // All views have content now, so the next load is conditional.
        try await logo.load()
        #expect(fixture.transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
    }

    @Test("A projection of content that was set without bytes has no content")
    func withoutBytes() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "a"))
        #expect(item.json.content == nil)
        #expect(item.json.state.failure == nil)
        #expect(item.imageHeader.content == nil)
        let header = try ImageHeader(Self.png)
        item.imageHeader.override(with: header)
        #expect(item.imageHeader.content == header)
    }
}
