import EssentialsHTTP
import EssentialsRequests
import Testing

private enum Shop: APIService {
    static let baseURL: RequestBase = "https://h.example/v1"
    static var sharedProperties: RequestProperties { RequestHeaders { ("X-Client", "shop") } }

    enum Films: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "films"
    }
}

private struct Search: ServiceRequest {
    typealias Parent = Shop.Films
    typealias Response = [Note]
    let text: String?
    var pages: [Int] = []

    var method: HTTPRequest.Method { .get }
    var pathComponents: RequestPath {
        "search"
        if text == nil { "all" }
    }
    var queryItems: RequestQuery {
        ("q", text)
        for page in pages { ("page", page) }
    }
    var headers: RequestHeaders {
        RequestHeader.accept(.json)
        if text == nil { ("X-Client", nil) }
    }
}

private struct Create: ServiceRequest {
    typealias Response = Void
    let note: Note?
    var type: MediaType?

    var method: HTTPRequest.Method { .post }
    var contentType: MediaType? { type }
    var body: RequestContent { note }
}

private struct Plain: ServiceRequest {
    typealias Response = Note
    let method: HTTPRequest.Method = .get
}

@Suite("ServiceRequest")
struct ServiceRequestTests {
    @Test("A type is a definition with its parent's URL and properties")
    func properties() throws {
        let some = Search(text: "a/b", pages: [1, 2]).definition
        #expect(try some.url().description == "https://h.example/v1/films/search?q=a%2Fb&page=1&page=2")
        #expect(try some.headerFields["x-client"] == "shop")
        let all = Search(text: nil).definition
        #expect(all.target == "/v1/films/search/all")
        #expect(try all.headerFields["x-client"] == nil)
        #expect(Search(text: "a").definition == Search(text: "a").definition)
    }

    @Test("Only the method and the response type are required; without a parent, the environment is used")
    func defaults() async throws {
        let fixture = try ServiceFixture(StubTransport(#"{"id":1,"text":"x"}"#))
        let note = try await fixture.service.send(Plain())
        #expect(note == Note(id: 1, text: "x"))
        let sent = try fixture.last()
        #expect(sent.url.description == "https://h/v1" || sent.url.description == "https://h/v1/")
        #expect(sent.headerFields[.contentType] == nil)
        #expect(try Plain().build().headerFields.isEmpty)
    }

    @Test("The content type is sent only with a body, and chooses its encoding")
    func contentType() async throws {
        let fixture = try ServiceFixture(StubTransport(status: 204, ""))
        try await fixture.service.send(Create(note: nil, type: .json))
        #expect(try fixture.last().headerFields[.contentType] == nil)
        try await fixture.service.send(Create(note: Note(id: 1, text: "a")))
        #expect(try fixture.last().headerFields[.contentType] == "application/json; charset=utf-8")
        try await fixture.service.send(Create(note: Note(id: 1, text: "a"), type: .form))
        #expect(try fixture.last().headerFields[values: .contentType].count == 1)
        #expect(try fixture.last().bodyText == "id=1&text=a")
    }
}
