import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

private enum Shop: APIService {
    static var configuration: APIConfiguration {
        var configuration = APIConfiguration()
        configuration.idempotencyKey = .automatic
        configuration.cookies = .off
        return configuration
    }

    static let getAll: APIRequest<[Note]> = request(.get, "notes")
    static func create(_ note: Note) -> APIRequest<Void> { request(.post, "notes") { RequestContent(note) } }
}

private struct Order: ServiceRequest {
    let id: String
    var method: HTTPRequest.Method { .post }
    var idempotencyKey: IdempotencyKey? { .text(id) }
}

@Suite("Idempotency keys of definitions")
struct DefinitionKeyTests {
    private let note = Note(id: 1, text: "a")
    private let field = HTTPField.Name("Idempotency-Key")

    private func keys(_ transport: StubTransport) throws -> [String?] {
        let name = try #require(field)
        return transport.requests.map { $0.headerFields[name] }
    }

    @Test("The key of a configuration is new for each request that changes something, and safe requests have none")
    func configuration() async throws {
        let fixture = try ServiceFixture(StubTransport("[]"))
        try await fixture.service.send(Shop.create(note))
        try await fixture.service.send(Shop.create(note))
        _ = try await fixture.service.send(Shop.getAll)
        let sent = try keys(fixture.transport)
        #expect(sent.count == 3)
        #expect(sent[0]?.count == 36)
        #expect(sent[1]?.count == 36)
        #expect(sent[0] != sent[1])
        #expect(sent[2] == nil)
        #expect(try Shop.create(note).build().cookies == .off)
    }

    @Test("The key of a request wins over that of its configuration, and nil removes both")
    func modifier() async throws {
        let fixture = try ServiceFixture(StubTransport("[]"))
        try await fixture.service.send(Shop.create(note).idempotencyKey(.text("order-7")))
        try await fixture.service.send(Shop.create(note).idempotencyKey(nil))
        _ = try await fixture.service.send(Shop.getAll.idempotencyKey(.text("list-1")))
        try await fixture.service.send(Order(id: "order-8"))
        #expect(try keys(fixture.transport) == ["order-7", nil, "list-1", "order-8"])
    }

    @Test("A definition with a key is retried whatever its method, always with the same key")
    func retried() async throws {
        let fixture = try RetryFixture([.status(503), .status(503), .status(200)])
        _ = try await fixture.send(APIRequest(.post, "orders").idempotencyKey(.automatic).build()).result.get()
        let name = try #require(field)
        let sent = Set(fixture.transport.requests.map { $0.headerFields[name] })
        #expect(fixture.transport.requests.count == 3)
        #expect(sent.count == 1)
    }

    @Test("A key that is a text is one of the header fields that are shown and compared")
    func shown() throws {
        let create = Shop.create(note)
        let first = create.idempotencyKey(.text("1"))
        #expect(try first.headerFields["idempotency-key"] == "1")
        #expect(try first.snapshot(showsSecrets: true).headerFields.contains { $0.value == "1" })
        #expect(
            try first.curlCommand(under: RequestURL("https://h.example"), showsSecrets: true)
                .contains("Idempotency-Key: 1"))
        #expect(first == create.idempotencyKey(.text("1")))
        #expect(first == create.idempotencyKey(nil).settingHeader("Idempotency-Key", "1"))
        #expect(first != create.idempotencyKey(.text("2")))
        #expect(create != create.idempotencyKey(nil))
        #expect(try create.headerFields["idempotency-key"] == nil)
        #expect(first.reading(Note.self).idempotencyKey == .text("1"))
    }

    @Test("An empty key and one with a control character fail when the request is built")
    func invalid() {
        for text in ["", "a\nb"] {
            let failure = #expect(throws: RequestFailure.self) {
                try Shop.create(note).idempotencyKey(.text(text)).build()
            }
            #expect(failure?.reason == .invalidRequest)
        }
    }

    @Test("Retries, idempotence and cookies of a definition reach its request")
    func others() throws {
        let request = try Shop.create(note).retry(.attempts(4)).idempotent(false).build()
        #expect(request.retry == .attempts(4))
        #expect(request.isIdempotent == false)
        #expect(try Shop.create(note).idempotent().build().isIdempotent == true)
        #expect(try Shop.create(note).build().isIdempotent == nil)
    }
}
