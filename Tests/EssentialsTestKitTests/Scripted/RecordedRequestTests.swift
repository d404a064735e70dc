import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct RecordedRequestTests {
    private func request(_ body: String = "") async throws -> RecordedRequest {
        try await recorded(
            scriptedRequest(
                .post, "/v1/users?role=admin&role=a%20b&x", headerFields: [.accept: "a", .userAgent: "u"],
                body: .bytes(Data(body.utf8))))
    }

    @Test func `A recorded request contains what was sent and when`() async throws {
        let transport = ScriptedTransport()
        transport.on(.post, "/v1/users").answer()
        transport.clock.advance(by: .seconds(3))
        var sent = try scriptedRequest(
            .post, "/v1/users?a=1", headerFields: [.accept: "a"], body: .bytes(Data(#"{"id":1,"name":"Ann"}"#.utf8)))
        sent.options.totalTimeout = .seconds(9)
        _ = try await transport.send(sent)
        let found = try await transport.request(number: 1)
        #expect(found.method == .post)
        #expect(found.url == sent.url)
        #expect(found.headerFields == [.accept: "a"])
        #expect(found.bodyText == #"{"id":1,"name":"Ann"}"#)
        #expect(found.options == sent.options)
        #expect(found.time == ManualClock.Instant(elapsed: .seconds(3)))
        #expect(try found.decoded(as: User.self) == User(id: 1, name: "Ann"))
        #expect(throws: RequestMismatch.self) { try found.decoded(as: [Int].self) }
    }

    @Test func `Query items keep their order`() async throws {
        let items = try await request().queryItems
        #expect(items.map(\.name) == ["role", "role", "x"])
        #expect(items.map(\.value) == ["admin", "a b", ""])
    }

    @Test func `Matching expectations pass`() async throws {
        let found = try await request(#"{"b":{"d":[1,{"f":2,"e":null}],"c":"x"},"a":0.50}"#)
        try found.expect(method: .post, path: "/v1/*")
        try found.expect(query: ["x": "", "role": "a b", "role": "admin"])
        try found.expect(query: .containing(["role": "admin"]))
        try found.expect(queryNames: ["role", "x"], absent: ["page"])
        try found.expect(headerFields: [.accept: "a"])
        try found.expect(headerNames: [.accept, .userAgent], absent: [.cookie])
        try found.expect(jsonText: #"{ "a": 5e-1, "b": {"c": "x", "d": [1.0, {"e": null, "f": 2}]} }"#)
        try found.expect(text: found.bodyText)
        try found.expect(body: found.body)
        try await request().expect(body: Data())
        try await request(#"{"name":"Ann","id":1}"#).expect(json: User(id: 1, name: "Ann"))
    }

    @Test func `Each difference is described in a line`() async throws {
        let found = try await request("abc")
        typealias Check = () throws(RequestMismatch) -> Void
        let checks: [(Check, [String])] = [
            (
                { () throws(RequestMismatch) in try found.expect(method: .put, path: "/v1/*/x") },
                ["method: expected PUT, was POST", "path: expected /v1/*/x, was /v1/users"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(query: ["role": "user", "page": "1"]) },
                [
                    "query: expected “role=user”, was “admin”, “a b”", "query: expected “page=1”, there is none",
                    "query: “x=” not expected",
                ]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(query: .text("x")) },
                ["query: expected the text “x”, was “role=admin&role=a%20b&x”"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(queryNames: ["page"], absent: ["x", "y"]) },
                ["query: no item “page”", "query: an item “x” not expected"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(headerFields: [.accept: "b", .eTag: "c"]) },
                ["header Accept: expected “b”, was “a”", "header ETag: expected “c”, there is none"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(headerNames: [.cookie], absent: [.accept]) },
                ["header: no Cookie", "header: a Accept not expected"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(text: "abd") },
                ["body: expected “abd”, was 3 bytes, “abc”"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(body: Data()) },
                ["body: expected none, was 3 bytes, “abc”"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(json: 1) },
                ["body: expected JSON, was 3 bytes, “abc”"]
            ),
            (
                { () throws(RequestMismatch) in try found.expect(jsonText: "}") },
                ["body: the expected text is no JSON: “}”"]
            ),
        ]
        for (check, lines) in checks { #expect(mismatch(check) == lines) }
    }

    private static let documents: [(expected: String, found: String, lines: [String])] = [
        (#"{"a":{"b":[1,2]}}"#, #"{"a":{"b":[1,3]}}"#, ["body: $.a.b[1]: expected 2, was 3"]),
        (#"{"a":1,"b":2}"#, #"{"b":2,"c":"x"}"#, ["body: $.a: expected 1, is missing", "body: $.c: “x” not expected"]),
        ("[1,2,3]", "[1]", ["body: $: expected 3 elements, were 1"]),
        (#"{"a b":{"":true}}"#, #"{"a b":{"":false}}"#, ["body: $[“a b”][“”]: expected true, was false"]),
        ("1", "true", ["body: $: expected 1, was true"]), ("null", "0", ["body: $: expected null, was 0"]),
        (#"{"a":null}"#, "{}", ["body: $.a: expected null, is missing"]),
        ("9007199254740993", "9007199254740992", ["body: $: expected 9007199254740993, was 9007199254740992"]),
        (
            "18446744073709551615", "18446744073709551614",
            [
                "body: $: expected 18446744073709551615, was 18446744073709551614"
            ]
        ),
        ("0.1", "0.10", []), ("100", "1e2", []), ("1e200", "10e199", []), (#""\u00e4""#, #""ä""#, []),
        (#"[{"a":[1,2,3,4,5]}]"#, "{}", ["body: $: expected [{a: [1, 2, 3, 4, …]}], was {}"]),
    ]

    @Test(arguments: documents) func `Differences in JSON are shown with their path`(
        expected: String, found: String, lines: [String]
    ) async throws {
        let request = try await request(found)
        #expect(mismatch { () throws(RequestMismatch) in try request.expect(jsonText: expected) } == lines)
    }

    @Test func `A long list of differences is shortened`() async throws {
        let found = try await request("[\((0..<30).map { "\($0)" }.joined(separator: ","))]")
        let lines = mismatch { () throws(RequestMismatch) in try found.expect(json: (1...30).map { $0 }) }
        #expect(lines.count == 21)
        #expect(lines.last == "body: … and 10 more differences")
    }

    @Test func `A model that cannot be encoded matches no body`() async throws {
        let found = try await request("1")
        let lines = mismatch { () throws(RequestMismatch) in try found.expect(json: [Double.nan]) }
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("body: the expected Array<Double> cannot be written as JSON: "))
    }
}
