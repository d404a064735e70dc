import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("RequestContent")
struct RequestContentTests {
    private let note = Note(id: 1, text: "é")

    private func sent(
        _ method: HTTPRequest.Method = .post, _ headers: RequestHeaders = RequestHeaders(),
        @RequestContentBuilder _ body: () -> RequestContent
    ) async throws -> TransportRequest {
        let fixture = try ServiceFixture()
        let request = APIRequest<DataResponse>(
            method, "n", in: APIContext(base: .environment),
            RequestProperties {
                headers; body()
            })
        try await fixture.service.send(request)
        return try fixture.last()
    }

    @Test("The content type follows the body")
    func types() async throws {
        let model = try await sent { note }
        #expect(model.headerFields[values: .contentType] == ["application/json; charset=utf-8"])
        #expect(model.bodyText == #"{"id":1,"text":"é"}"#)
        let text = try await sent { "a b" }
        #expect(text.headerFields[.contentType] == "text/plain; charset=utf-8")
        #expect(text.bodyText == "a b")
        let data = try await sent { Data("x".utf8) }
        #expect(data.headerFields[.contentType] == "application/octet-stream")
        #expect(data.bodyText == "x")
        let form = try await sent { RequestContent(form: ["b": "x y", "a": 1]) }
        #expect(form.headerFields[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true)
        #expect(form.bodyText == "a=1&b=x%20y" || form.bodyText == "a=1&b=x+y")
        let json = try await sent { RequestContent(json: ["a": [1, nil]]) }
        #expect(json.headerFields[.contentType] == "application/json; charset=utf-8")
        #expect(json.bodyText == #"{"a":[1,null]}"#)
        let literal = try await sent { ["name": "Ada"] }
        #expect(literal.bodyText == #"{"name":"Ada"}"#)
        let kind = try await sent { DataRequest.Body.text("t", type: try? MediaType("text/csv")) }
        #expect(kind.headerFields[.contentType]?.hasPrefix("text/csv") == true)
    }

    @Test("A type in the header fields encodes a model, and replaces the default type of bytes")
    func explicitType() async throws {
        let form = try await sent(.post, RequestHeaders(.contentType(.form))) { note }
        #expect(form.bodyText?.hasPrefix("id=1&text=%C3%A9") == true)
        let bytes = try await sent(.put, RequestHeaders(.contentType(try MediaType("image/png")))) { Data([1, 2]) }
        #expect(bytes.headerFields[values: .contentType] == ["image/png"])
    }

    @Test("A request without a body has no Content-Type", arguments: [HTTPRequest.Method.get, .post, .delete])
    func none(_ method: HTTPRequest.Method) async throws {
        let model: Note? = nil
        #expect(try await sent(method) {}.headerFields[.contentType] == nil)
        #expect(try await sent(method) { model }.headerFields[.contentType] == nil)
        #expect(try await sent(method) { DataRequest.Body.raw(.none) }.headerFields[.contentType] == nil)
        #expect(try definition { RequestContent(.raw(.none)) }.snapshot().headerFields.isEmpty)
    }

    @Test("Two bodies fail when the request is built")
    func two() throws {
        let both = definition {
            RequestContent(note); RequestContent(form: ["a": 1])
        }
        let failure = #expect(throws: RequestFailure.self) { try both.build() }
        #expect(failure?.reason == .invalidRequest)
        #expect(throws: RequestFailure.self) {
            try definition {
                RequestContent {
                    "a"; "b"
                }
            }.build()
        }
        #expect(throws: RequestFailure.self) {
            try definition { RequestContent { for text in ["a", "b"] { text } } }.build()
        }
        var context = APIContext(base: "https://h.example/")
        context.properties = RequestProperties { RequestContent("a") }
        #expect(throws: RequestFailure.self) {
            try APIRequest<Note>(.post, in: context, RequestProperties { RequestContent("b") }).build()
        }
        #expect(throws: Never.self) {
            try definition {
                RequestContent(note); RequestContent()
            }.build()
        }
    }

    @Test("A builder supports if, else, switch, for and #available")
    func controlFlow() async throws {
        func content(_ kind: Int) -> RequestContent {
            RequestContent {
                if kind == 0 { "zero" }
                if kind == 1 { "one" } else { RequestContent() }
                switch kind {
                case 2: "two"
                default: RequestContent()
                }
                for text in kind == 3 ? ["three"] : [] { text }
                if #available(macOS 15, *) { RequestContent() }
            }
        }
        for (kind, text) in ["zero", "one", "two", "three"].enumerated() {
            #expect(try await sent { content(kind) }.bodyText == text)
        }
        #expect(content(4).isEmpty)
    }

    @Test("A body that cannot be created or encoded fails before anything is sent")
    func failures() async throws {
        struct Faulty: Encodable, Sendable { let number = Double.nan }
        let fixture = try ServiceFixture()
        let cases: [(RequestContent, RequestFailure.Reason)] = [
            (RequestContent(Faulty()), .encoding), (RequestContent(try .file("/nonexistent/file")), .file),
            (RequestContent(.text("é", type: try MediaType("text/plain; charset=us-ascii"))), .encoding),
        ]
        for (content, reason) in cases {
            let request = APIRequest<DataResponse>(
                .post, "n", in: APIContext(base: .environment), RequestProperties { content })
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }
            #expect(failure?.reason == reason)
            #expect(failure?.request?.hasPrefix("POST ") == true)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("Descriptions show no content")
    func secrets() {
        var text = "\(RequestContent("s3cret"))"
        dump(RequestContent(["a": "s3cret"]), to: &text)
        #expect(!text.contains("s3cret"))
    }
}
