import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("JSON literals in scripts")
struct JSONLiteralTests {
    private let transport = ScriptedTransport()

    private func text() async throws -> String {
        let response = try await transport.send(scriptedRequest())
        let text = String(decoding: response.body.data ?? Data(), as: UTF8.self)
        return "\(response.headerFields[.contentType] ?? "-") \(text)"
    }

    @Test("An answer can be a literal of different types, whose members are sorted")
    func answers() async throws {
        let dictionary = ["b": "2", "a": "1"]
        let user: User? = nil
        let value: JSONValue = [1, "a"]
        transport.on(.get, "/")
            .answer(json: ["name": "a", "id": 1, "list": [1, nil, true, ["x": [:]]]])
            .thenAnswer(.ok, json: ["id": 1, "name": "a"])
            .thenAnswer(json: ["id": 1]).thenAnswer(json: []).thenAnswer(json: [:]).thenAnswer(json: nil)
            .thenAnswer(json: "text").thenAnswer(json: 5).thenAnswer(json: dictionary).thenAnswer(json: user)
            .thenAnswer(json: value).thenAnswer(ScriptedAnswer(json: ["a": 1, "b": "c"]))
            .thenAnswer(json: User(id: 1, name: "a"))
        var texts: [String] = []
        for _ in 0..<13 { texts.append(try await text()) }
        #expect(
            texts
                == [
                    #"{"id":1,"list":[1,null,true,{"x":{}}],"name":"a"}"#, #"{"id":1,"name":"a"}"#, #"{"id":1}"#, "[]",
                    "{}", "null", #""text""#, "5", #"{"a":"1","b":"2"}"#, "null", #"[1,"a"]"#, #"{"a":1,"b":"c"}"#,
                    #"{"id":1,"name":"a"}"#,
                ].map { "application/json \($0)" })
        #expect(transport.problems == [])
    }

    @Test("A rule can match a body with a literal of different types")
    func patterns() async throws {
        transport.on(.post, "/", body: .json(["id": 1, "name": "a", "tags": [1, nil]])).answer(.created)
        transport.on(.post, "/", body: .json([])).answer(.accepted)
        func status(_ text: String) async throws -> Int {
            try await transport.send(scriptedRequest(.post, body: .bytes(Data(text.utf8)))).status.code
        }
        #expect(try await status(#" {"tags": [1.0, null], "name": "a", "id": 1}"#) == 201)
        #expect(try await status("[]") == 202)
        #expect(await requestFailure { _ = try await status(#"{"id":1}"#) }?.reason == .invalidRequest)
    }

    @Test("An expectation can be a literal of different types")
    func expectations() async throws {
        transport.on(.post, "/").answer()
        let body = RequestBody.bytes(Data(#"{"name":"a","id":1,"tags":[1,null]}"#.utf8))
        _ = try await transport.send(scriptedRequest(.post, body: body))
        let request = try await transport.request(number: 1)
        try request.expect(json: ["id": 1, "name": "a", "tags": [1, nil]])
        let other = mismatch { () throws(RequestMismatch) in
            try request.expect(json: ["id": 2, "name": "a", "tags": [1, nil]])
        }
        #expect(other == ["body: $.id: expected 2, was 1"])
        #expect(mismatch { () throws(RequestMismatch) in try request.expect(json: nil) }.count == 1)
        #expect(mismatch { () throws(RequestMismatch) in try request.expect(json: ["id": 1]) }.count == 2)
        #expect(mismatch { () throws(RequestMismatch) in try request.expect(json: User(id: 1, name: "a")) }.count == 1)
    }

    @Test("A literal that is not valid JSON is a problem of the script")
    func invalid() async throws {
        transport.on(.get, "/").answer(json: ["a": JSONValue(Double.infinity), "b": "c"])
        #expect(await requestFailure { _ = try await text() }?.reason == .encoding)
        #expect(transport.problems.count == 1)
        transport.on(.post, "/", body: .json(["a": JSONValue(Double.nan), "b": "c"])).answer()
        #expect(transport.problems.contains { $0.contains("JSONValue") })
    }
}
