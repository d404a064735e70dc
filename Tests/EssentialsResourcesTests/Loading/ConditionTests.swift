import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import Testing

@Suite("Resource: conditional loads", .leavesNothing)
struct ConditionTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test("Content with a date and no entity tag is loaded again with If-Modified-Since")
    func modificationDate() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item")
            .answer(json: Item(name: "a"), headerFields: [.lastModified: Self.date]).thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(try await item.load().name == "a")
        #expect(fixture.transport.requests[0].headerFields[.ifModifiedSince] == nil)
        #expect(fixture.transport.requests[1].headerFields[.ifModifiedSince] == Self.date)
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == nil)
    }

    @Test("An entity tag is the only condition if the content has a date as well")
    func entityTagBeforeDate() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item")
            .answer(json: Item(name: "a"), headerFields: [.lastModified: Self.date, .eTag: "\"1\""])
            .thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(try await item.load().name == "a")
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == "\"1\"")
        #expect(fixture.transport.requests[1].headerFields[.ifModifiedSince] == nil)
    }

    @Test(
        "Weak and malformed entity tags are sent back byte for byte",
        arguments: [
            "W/\"a\"", "w/\"a\"", "W/a", "W/", "\"\"", "abc", "a b", "\"a", "a\"", "\"a\"b\"", "\"a\", \"b\"", "'a'",
            "*", "\"a\\\"b\"", "\"a  b\"", "W/W/\"a\"", "\"%61\"", "\"A\"",
        ])
    func entityTags(tag: String) async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: tag])
            .thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(item.state.entity?.entityTag == tag)
        #expect(try await item.load().name == "a")
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == tag)
    }

    @Test("A validator with a control character is not sent back", arguments: [HTTPField.Name.eTag, .lastModified])
    func controlCharacters(name: HTTPField.Name) async throws {
        let fixture = try ResourceFixture()
        let fields = HTTPFields([HTTPField(name: name, lenientValue: Array("\"a\u{1}b\"".utf8))])
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: fields)
            .thenAnswer(json: Item(name: "b"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(try await item.load().name == "b")
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == nil)
        #expect(fixture.transport.requests[1].headerFields[.ifModifiedSince] == nil)
    }

    @Test("A caller's own request keeps its condition, and gets none if it has none")
    func ownCondition() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""])
            .thenAnswer(.notModified).thenAnswer(json: Item(name: "b"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let request = DataRequest(.get, "item", headerFields: [.ifNoneMatch: "\"own\""])
        let failure = await #expect(throws: RequestFailure.self) { try await item.load(using: request) }
        #expect(failure?.reason == .status)
        #expect(try await item.load(using: DataRequest(.get, "item")).name == "b")
        let sent = fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] }
        #expect(sent == [nil, "\"own\"", nil])
    }

    @Test("A 304 to a load without content is a protocol violation, and keeps the response")
    func unexpectedNotModified() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .protocolViolation)
        #expect(failure?.status == .notModified)
        #expect(item.state.failure?.reason == .protocolViolation)
        #expect(item.content == nil)
    }

    @Test("A 304 to a caller's own conditional request goes to the caller, even if there is no content")
    func notModifiedOfOwnRequest() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        let request = DataRequest(.get, "item", headerFields: [.ifNoneMatch: "\"own\""])
        let failure = await #expect(throws: RequestFailure.self) { try await item.load(using: request) }
        #expect(failure?.reason == .status && failure?.status == .notModified)
        #expect(item.content == nil && item.state.failure == nil)
    }

    @Test("A view with an unreadable type leaves the next loads conditional")
    func strangeView() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""])
            .thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let number: Resource<Int> = item.resource()
        #expect(number.state.failure?.reason == .decoding)
        #expect(try await item.load().name == "a")
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == "\"1\"")
        #expect(fixture.transport.requestCount == 2)
        // The confirmed content still cannot be read as a number.
        let failure = await #expect(throws: RequestFailure.self) { try await number.load() }
        #expect(failure?.reason == .decoding)
        #expect(fixture.transport.requests[2].headerFields[.ifNoneMatch] == "\"1\"")
        #expect(fixture.transport.requestCount == 3)
        #expect(item.content?.name == "a" && item.isFresh && number.state.failure?.reason == .decoding)
    }

    @Test("After a large body, a view with an unreadable type costs one load without a condition")
    func strangeViewOfLargeBody() async throws {
        let fixture = try ResourceFixture()
        let large = Item(name: String(repeating: "a", count: 20_000))
        fixture.transport.on(.get, "/v1/item").answer(json: large, headerFields: [.eTag: "\"1\""])
            .thenAnswer(json: large, headerFields: [.eTag: "\"1\""]).thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(item.resource(as: Int.self).content == nil)
        for _ in 0..<3 { #expect(try await item.load() == large) }
        let sent = fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] }
        #expect(sent == [nil, nil, "\"1\"", "\"1\""])
    }
}
