import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("JSON literals as bodies")
struct JSONLiteralTests {
    private struct User: Codable, Hashable, Sendable {
        var id = 1
        var name = "Ada"
    }

    private let fixture: ServiceFixture

    init() throws {
        fixture = try ServiceFixture(StubTransport(#"{"id":1,"name":"Ada"}"#))
    }

    private var service: any DataRequestService { fixture.service }

    /// The type and the body of the last request.
    private var sent: String {
        get throws {
            let request = try fixture.last()
            return "\(request.headerFields[.contentType] ?? "-") \(request.bodyText ?? "no body")"
        }
    }

    private static let json = "application/json; charset=utf-8"

    @Test("A literal of different types is sent as JSON by each method, with its members sorted")
    func methods() async throws {
        let expected = #"\#(Self.json) {"id":1,"name":"Ada","tags":["a",2.5,null,true,{"x":{}},[]]}"#
        try await service.post("x", body: ["name": "Ada", "tags": ["a", 2.5, nil, true, ["x": [:]], []], "id": 1])
        #expect(try sent == expected)
        try await service.put("x", body: ["name": "Ada", "tags": ["a", 2.5, nil, true, ["x": [:]], []], "id": 1])
        #expect(try sent == expected)
        try await service.patch("x", body: ["name": "Ada", "tags": ["a", 2.5, nil, true, ["x": [:]], []], "id": 1])
        #expect(try sent == expected)
        try await service.send(
            .post("x", body: ["name": "Ada", "tags": ["a", 2.5, nil, true, ["x": [:]], []], "id": 1]))
        #expect(try sent == expected)
        try await service.send(
            .put("x", body: ["name": "Ada", "tags": ["a", 2.5, nil, true, ["x": [:]], []], "id": 1]))
        #expect(try sent == expected)
        try await service.send(
            .patch("x", body: ["name": "Ada", "tags": ["a", 2.5, nil, true, ["x": [:]], []], "id": 1]))
        #expect(try sent == expected)
        #expect(fixture.transport.requests.map(\.method) == [.post, .put, .patch, .post, .put, .patch])
    }

    @Test("A literal of different types is sent where a model is read")
    func models() async throws {
        let created: User = try await service.post("x", body: ["name": "Ada", "id": 1])
        let put = try await service.put("x", body: ["name": "Ada", "id": 1], as: User.self)
        let patched: User = try await service.patch("x", body: ["name": "Ada", "id": 1], expecting: 200)
        #expect([created, put, patched] == [User(), User(), User()])
        let bodies = fixture.transport.requests.compactMap(\.bodyText)
        #expect(bodies == Array(repeating: #"{"id":1,"name":"Ada"}"#, count: 3))
    }

    @Test("A literal of different types is sent by the functions with handlers")
    func handlers() async throws {
        typealias Model = Result<User, RequestFailure>
        typealias Response = Result<DataResponse, RequestFailure>
        let model = await withCheckedContinuation { (done: CheckedContinuation<Model, Never>) in
            service.send(.post("x", body: ["id": 1, "a": nil]), deserializeTo: User.self) { done.resume(returning: $0) }
        }
        #expect(try model.get() == User())
        let put = await withCheckedContinuation { (done: CheckedContinuation<Model, Never>) in
            service.send(.put("x", body: ["id": 1, "a": "b"]), deserializeTo: User.self) { done.resume(returning: $0) }
        }
        let patched = await withCheckedContinuation { (done: CheckedContinuation<Model, Never>) in
            service.send(.patch("x", body: ["id": 1, "a": "b"]), deserializeTo: User.self) {
                done.resume(returning: $0)
            }
        }
        #expect(try [put.get(), patched.get()] == [User(), User()])
        let response = await withCheckedContinuation { (done: CheckedContinuation<Response, Never>) in
            service.send(.post("x", body: ["id": 1, "a": "b"])) { done.resume(returning: $0) }
        }
        #expect(try response.get().status == .ok)
        _ = await withCheckedContinuation { (done: CheckedContinuation<Response, Never>) in
            service.send(.put("x", body: ["id": 1, "a": "b"])) { done.resume(returning: $0) }
        }
        _ = await withCheckedContinuation { (done: CheckedContinuation<Response, Never>) in
            service.send(.patch("x", body: ["id": 1, "a": "b"])) { done.resume(returning: $0) }
        }
        #expect(
            fixture.transport.requests.compactMap(\.bodyText)
                == [#"{"a":null,"id":1}"#] + Array(repeating: #"{"a":"b","id":1}"#, count: 5))
    }

    @Test("Empty literals and nil are JSON values")
    func empty() async throws {
        try await service.post("x", body: [])
        #expect(try sent == "\(Self.json) []")
        try await service.post("x", body: [:])
        #expect(try sent == "\(Self.json) {}")
        try await service.post("x", body: .json(nil))
        #expect(try sent == "\(Self.json) null")
        let model: User = try await service.post("x", body: [:])
        #expect(model == User())
    }

    @Test("Single literals keep their default types: text is plain text, numbers and Booleans are JSON")
    func scalars() async throws {
        try await service.post("x", body: "text")
        #expect(try sent == "text/plain; charset=utf-8 text")
        try await service.post("x", body: "\(1)")
        #expect(try sent == "text/plain; charset=utf-8 1")
        try await service.post("x", body: 5)
        #expect(try sent == "\(Self.json) 5")
        try await service.post("x", body: 2.5)
        #expect(try sent == "\(Self.json) 2.5")
        try await service.post("x", body: true)
        #expect(try sent == "\(Self.json) true")
    }

    @Test("Variables of models, dictionaries, optionals, bytes and JSON values are encoded by their types")
    func variables() async throws {
        let dictionary: [String: String] = ["b": "2", "a": "1"]
        try await service.post("x", body: dictionary)
        #expect(try sent == #"\#(Self.json) {"a":"1","b":"2"}"#)
        let user: User? = User()
        try await service.post("x", body: user)
        #expect(try sent == #"\#(Self.json) {"id":1,"name":"Ada"}"#)
        try await service.post("x", body: nil as User?)
        #expect(try sent == "\(Self.json) null")
        let value: JSONValue = "x"
        try await service.post("x", body: value)
        #expect(try sent == #"\#(Self.json) "x""#)
        try await service.post("x", body: value as JSONValue?)
        #expect(try sent == #"\#(Self.json) "x""#)
        let byte: UInt8 = 65
        try await service.post("x", body: [byte, 66])
        #expect(try sent == "application/octet-stream AB")
        try await service.post("x", body: [1, 2])
        #expect(try sent == "\(Self.json) [1,2]")
        let (id, name) = (7, "Ada")
        try await service.post("x", body: ["id": JSONValue(id), "name": "\(name)", "value": value, "n": 1, "z": nil])
        #expect(try sent == #"\#(Self.json) {"id":7,"n":1,"name":"Ada","value":"x","z":null}"#)
        try await service.post("x", body: [name: name, "b": "\(id)"])
        #expect(try sent == #"\#(Self.json) {"Ada":"Ada","b":"7"}"#)
    }

    @Test("A literal gives the same bytes as a dictionary and as a JSON value")
    func sameBytes() async throws {
        func same(_ text: String, _ bodies: DataRequest...) async throws {
            for body in bodies {
                try await service.send(body)
                #expect(try sent == "\(Self.json) \(text)")
            }
        }
        try await same(
            #"{"a":1,"b":2}"#, .post("x", body: ["b": 2, "a": 1]), .post("x", body: ["b": 2, "a": 1] as JSONValue),
            .post("x", body: ["b": 2, "a": 1] as [String: Int]))
        try await same(
            #"{"a":0.1,"b":2,"c":1e+100}"#, .post("x", body: ["a": 0.1, "b": 2, "c": 1e100]),
            .post("x", body: ["a": 0.1, "b": 2, "c": 1e100] as JSONValue))
        try await same(
            #"{"10":null,"9":"é/\"\n","Z":"","a":"x"}"#,
            .post("x", body: ["a": "x", "9": "é/\"\n", "10": nil, "Z": ""]),
            .post("x", body: ["a": "x", "9": "é/\"\n", "10": nil, "Z": ""] as JSONValue))
        try await same(
            "[[1],[2,3],[]]", .post("x", body: [[1], [2, 3], []]), .post("x", body: [[1], [2, 3], []] as JSONValue))
    }

    @Test("A request's body and a builder take JSON of another media type")
    func bodies() async throws {
        let problem = try MediaType("application/problem+json")
        try await service.send(DataRequest(.post, "x", body: .json(["a": [1, nil, true]])))
        #expect(try sent == #"\#(Self.json) {"a":[1,null,true]}"#)
        try await service.send(DataRequest(.post, "x", body: .json("text")))
        #expect(try sent == #"\#(Self.json) "text""#)
        try await service.send(DataRequest(.post, "x", body: .json(["a": 1], as: problem)))
        #expect(try sent == #"application/problem+json; charset=utf-8 {"a":1}"#)
        try await service.post("x", body: .json(["a": 1, "b": "c"], as: problem))
        #expect(try sent == #"application/problem+json; charset=utf-8 {"a":1,"b":"c"}"#)
        try await service.send(RequestBuilder(.post, "x").body(json: ["a": [1, nil, true]]))
        #expect(try sent == #"\#(Self.json) {"a":[1,null,true]}"#)
        try await service.send(RequestBuilder(.post, "x").contentEncoding(problem).body(json: nil))
        #expect(try sent == "application/problem+json; charset=utf-8 null")
        let twice = #expect(throws: RequestFailure.self) {
            try RequestBuilder(.post, "x").body(json: 1).body(model: User()).build()
        }
        #expect(twice?.message == "“body(model:)” was set, and “body(json:)” before it.")
    }

    @Test("A number that is not finite fails as encoding before anything is sent")
    func notFinite() async throws {
        let failure = await #expect(throws: RequestFailure.self) {
            try await service.post("x", body: ["a": JSONValue(Double.nan), "b": "c"])
        }
        #expect(failure?.reason == .encoding)
        #expect(fixture.transport.requests.isEmpty)
    }
}
