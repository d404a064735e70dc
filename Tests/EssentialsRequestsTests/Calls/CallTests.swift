import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Single calls")
struct CallTests {
    private struct Sent: Equatable, CustomStringConvertible {
        var method: String
        var target: String
        var type: String?
        var body: String?

        init(_ method: String, _ target: String, _ type: String? = nil, _ body: String? = nil) {
            (self.method, self.target, self.type, self.body) = (method, target, type, body)
        }

        init(_ request: TransportRequest) {
            self.init(
                request.method.rawValue, request.url.target, request.headerFields[.contentType], request.bodyText)
        }

        var description: String { "\(method) \(target) \(type ?? "-") \(body ?? "-")" }
    }

    private static let json = "application/json; charset=utf-8"
    private static let form = "application/x-www-form-urlencoded; charset=utf-8"
    private let body = Note(id: 1, text: "a")
    private let bodyText = #"{"id":1,"text":"a"}"#
    private let parameters: FormParameters = ["b": 1, "a": ["x", nil]]
    private let query: QueryItems = [("q", "2"), ("q", "1")]

    private func fixture() throws -> ServiceFixture { try ServiceFixture(StubTransport(bodyText)) }

    @Test("A reading call has its parameters in the query and no body")
    func reading() async throws {
        let fixture = try fixture()
        let service = fixture.service
        var models: [Note] = []
        models.append(try await service.get("p", parameters: parameters, query: query))
        models.append(try await service.delete("p", parameters: parameters, query: query))
        try await service.get("p", parameters: parameters, query: query)
        try await service.delete("p", parameters: parameters, query: query)
        _ = try await service.head("p", parameters: parameters, query: query)
        _ = try await service.options("p", parameters: parameters, query: query)
        #expect(models == [body, body])
        let methods = ["GET", "DELETE", "GET", "DELETE", "HEAD", "OPTIONS"]
        let target = "/v1/p?q=2&q=1&a[]=x&a[]&b=1"
        #expect(fixture.transport.requests.map(Sent.init) == methods.map { Sent($0, target) })
    }

    @Test("A writing call has parameters or a model in the body, in the chosen encoding, and may have a query")
    func writing() async throws {
        let fixture = try fixture()
        let service = fixture.service
        let target = "/v1/p?q=2&q=1"
        let parametersText = #"{"a":["x",null],"b":1}"#
        _ = try await service.post("p", body: body, query: query, as: Note.self)
        _ = try await service.put("p", body: body, query: query, as: Note.self)
        _ = try await service.patch("p", body: body, query: query, as: Note.self)
        try await service.post("p", body: body, query: query)
        try await service.put("p", body: body, query: query)
        try await service.patch("p", body: body, query: query)
        let models = ["POST", "PUT", "PATCH", "POST", "PUT", "PATCH"].map { Sent($0, target, Self.json, bodyText) }
        #expect(fixture.transport.requests.map(Sent.init) == models)

        let other = try self.fixture()
        _ = try await other.service.post("p", body: .parameters(parameters), query: query, as: Note.self)
        _ = try await other.service.put("p", body: .parameters(parameters), query: query, as: Note.self)
        _ = try await other.service.patch("p", body: .parameters(parameters), query: query, as: Note.self)
        try await other.service.post("p", body: .parameters(parameters), query: query)
        try await other.service.put("p", body: .parameters(parameters, as: .form), query: query)
        try await other.service.patch("p", body: .parameters(parameters, as: .form), query: query)
        let sent = other.transport.requests.map(Sent.init)
        #expect(
            sent[..<4] == ["POST", "PUT", "PATCH", "POST"].map { Sent($0, target, Self.json, parametersText) }[...])
        #expect(sent[4...] == ["PUT", "PATCH"].map { Sent($0, target, Self.form, "a[]=x&a[]&b=1") }[...])
    }

    @Test("A call with a completion handler sends the same request")
    func handlers() async throws {
        let (plain, called) = (try fixture(), try fixture())
        let (one, two) = (plain.service, called.service)
        let type = Note.self
        _ = try await one.get("p", parameters: parameters, query: query, as: type)
        _ = try await one.delete("p", parameters: parameters, query: query, as: type)
        try await one.get("p", query: query)
        try await one.delete("p", query: query)
        _ = try await one.head("p", query: query)
        _ = try await one.options("p", query: query)
        try await one.post("p", body: .model(body, as: .form))
        _ = try await one.put("p", body: body, query: query, as: type)
        _ = try await one.patch("p", body: .parameters(parameters, as: .form), as: type)
        try await one.post("p", body: .parameters(parameters), query: query)
        typealias Models = CheckedContinuation<Note, any Error>
        typealias Responses = CheckedContinuation<DataResponse, any Error>
        func model(
            _ start: (@escaping @Sendable (Result<Note, RequestFailure>) -> Void) -> CancellableToken
        ) async throws {
            let note = try await withCheckedThrowingContinuation { (continuation: Models) in
                _ = start { continuation.resume(with: $0) }
            }
            #expect(note == body)
        }
        func response(
            _ start: (@escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void) -> CancellableToken
        ) async throws {
            let response = try await withCheckedThrowingContinuation { (continuation: Responses) in
                _ = start { continuation.resume(with: $0) }
            }
            #expect(response.status == .ok)
        }
        try await model { two.get("p", parameters: parameters, query: query, deserializeTo: type, completion: $0) }
        try await model {
            two.send(.delete("p", parameters: parameters, query: query), deserializeTo: type, completion: $0)
        }
        try await response { two.get("p", query: query, completion: $0) }
        try await response { two.send(.delete("p", query: query), completion: $0) }
        try await response { two.send(.head("p", query: query), completion: $0) }
        try await response { two.send(.options("p", query: query), completion: $0) }
        try await response { two.send(.post("p", body: .model(body, as: .form)), completion: $0) }
        try await model { two.send(.put("p", body: body, query: query), deserializeTo: type, completion: $0) }
        try await model {
            two.send(.patch("p", body: .parameters(parameters, as: .form)), deserializeTo: type, completion: $0)
        }
        try await response { two.send(.post("p", body: .parameters(parameters), query: query), completion: $0) }
        #expect(called.transport.requests.map(Sent.init) == plain.transport.requests.map(Sent.init))
        #expect(called.transport.requests.count == 10)
    }

    @Test("A call with a custom method has its parameters in the body")
    func custom() async throws {
        let fixture = try fixture()
        let method = try #require(HTTPRequest.Method("SEARCH"))
        let sent = try await fixture.sent(DataRequest(method, "p", parameters: ["a": 1], query: query))
        #expect(Sent(sent) == Sent("SEARCH", "/v1/p?q=2&q=1", Self.json, #"{"a":1}"#))
    }

    @Test("A call without parameters has neither a question mark nor a body")
    func none() async throws {
        let fixture = try fixture()
        try await fixture.service.get("p", parameters: ["a": [] as [Int]])
        try await fixture.service.post("p")
        try await fixture.service.send(DataRequest(.post, "p", parameters: [:]))
        #expect(
            fixture.transport.requests.map(Sent.init) == [
                Sent("GET", "/v1/p"), Sent("POST", "/v1/p"), Sent("POST", "/v1/p"),
            ])
    }

    @Test("A call with a body and parameters for the body is a conflict that names both")
    func conflict() async throws {
        let fixture = try fixture()
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.service.send(DataRequest(.post, "p", parameters: ["a": 1], body: .text("x")))
        }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.underlying as? SettingConflict == SettingConflict("parameters", "body"))
        #expect(fixture.transport.requests.isEmpty)
        let both = try await fixture.sent(DataRequest(.delete, "p", parameters: ["a": 1], body: .text("x")))
        #expect(Sent(both) == Sent("DELETE", "/v1/p?a=1", "text/plain; charset=utf-8", "x"))
    }

    @Test("A call's content type is that of its body or the given one")
    func types() async throws {
        let fixture = try fixture()
        let png = try MediaType("image/png")
        let bodies: [(DataRequest.Body, String?)] = [
            (.data(Data("x".utf8)), "application/octet-stream"), (.data(Data("x".utf8), type: png), "image/png"),
            (.text("x"), "text/plain; charset=utf-8"), (.text("x", type: png), "image/png"),
            (.raw(.bytes(Data("x".utf8))), nil), (.raw(.bytes(Data("x".utf8)), type: png), "image/png"),
            (.model(["x"]), Self.json), (.model("x"), "text/plain; charset=utf-8"), (.model("x", as: .json), Self.json),
            (try .file(#filePath), "application/octet-stream"), (.none, nil), (.raw(.none, type: png), nil),
        ]
        for (body, type) in bodies {
            let sent = try await fixture.sent(DataRequest(.put, "p", body: body))
            #expect(sent.headerFields[.contentType] == type)
        }
    }
}
