import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct RequestPatternTests {
    private let transport = ScriptedTransport()

    private func fits(_ rule: ScriptedRule, _ request: TransportRequest) async -> Bool {
        rule.answer()
        return await requestFailure { _ = try await transport.send(request) } == nil
    }

    private static let paths: [(String, String, Bool)] = [
        ("/v1/users", "/v1/users", true), ("/v1/users", "/v1/users?a=b", true), ("/v1/users", "/v1/users/", false),
        ("/v1/users", "/v1/Users", false), ("/v1/users", "/v1", false), ("/v1/users", "/v1/users/1", false),
        ("/v1/*/name", "/v1/7/name", true), ("/v1/*/name", "/v1//name", false), ("/v1/*/name", "/v1/7/8/name", false),
        ("/v1/*", "/v1/7", true), ("/v1/*", "/v1/", false), ("/*", "/", false),
        ("/v1/**", "/v1", true), ("/v1/**", "/v1/", true), ("/v1/**", "/v1/7/8", true), ("/v1/**", "/v2/7", false),
        ("/**", "/", true), ("/a%20b", "/a b", true), ("/a b", "/a%20b", true), ("/%7Eann", "/~ann", true),
        ("/a%2Fb", "/a/b", false), ("/%2A", "/x", false), ("/%2A", "/*", true), ("/a*", "/ab", false),
        ("/x/../a", "/a", true),
    ]

    @Test(arguments: paths)
    func `Paths match exactly, except for asterisks`(pattern: String, target: String, fits: Bool) async throws {
        #expect(await self.fits(transport.on(.get, pattern), try scriptedRequest(.get, target)) == fits)
    }

    private static let queries: [(QueryPattern, String, Bool)] = [
        ([:], "/", true), ([:], "/?", true), ([:], "/?a=1", false),
        (["a": "1", "b": "2"], "/?b=2&a=1", true), (["a": "1"], "/?a=1&b=2", false),
        (["a": "1", "b": "2"], "/?a=1", false),
        (["a": "1", "a": "2"], "/?a=2&a=1", true), (["a": "1", "a": "1"], "/?a=1", false),
        (["a": "1"], "/?a=1&a=1", false), (["a b": "ä&="], "/?a%20b=%C3%A4%26%3D", true), (["a": ""], "/?a", true),
        (["a": "1 2"], "/?a=1+2", false), (["a": "1+2"], "/?a=1+2", true), (["a": "1+2"], "/?a=1%2B2", true),
        (.containing(["a": "1"]), "/?b=2&a=1", true), (.containing(["a": "1"]), "/?a=2", false),
        (.text("b=2&a=1"), "/?b=2&a=1", true), (.text("a=1&b=2"), "/?b=2&a=1", false), (.text(""), "/", true),
        (.any, "/?x", true),
    ]

    @Test(arguments: queries)
    func `Queries are compared as items or as text`(
        query: QueryPattern, target: String, fits: Bool
    ) async throws {
        #expect(await self.fits(transport.on(.get, "/", query: query), try scriptedRequest(.get, target)) == fits)
    }

    @Test func `A query in the path is compared as items`() async throws {
        let rule = transport.on(.get, "/a?x=1&y=2")
        #expect(await fits(rule, try scriptedRequest(.get, "/a?y=2&x=1")))
        #expect(await !fits(rule, try scriptedRequest(.get, "/a?y=2")))
    }

    private static let hosts: [(String?, String, Bool)] = [
        (nil, "api.example.com", true), ("API.example.com.", "api.example.com", true),
        ("www.example.com", "api.example.com", false),
    ]

    @Test(arguments: hosts)
    func `Hosts are compared in normalized form`(host: String?, requested: String, fits: Bool) async throws {
        let request = try scriptedRequest(host: requested)
        #expect(await self.fits(transport.on(.get, "/", host: host), request) == fits)
    }

    private static let methods: [(HTTPRequest.Method?, HTTPRequest.Method, Bool)] = [
        (nil, .delete, true), (.get, .delete, false), (.get, .get, true),
    ]

    @Test(arguments: methods)
    func `No method matches any method`(
        method: HTTPRequest.Method?, requested: HTTPRequest.Method, fits: Bool
    ) async throws {
        #expect(await self.fits(transport.on(method, "/"), try scriptedRequest(requested)) == fits)
    }

    private static let fields: [(HTTPFields, Bool)] = [
        ([.accept: "a"], true), ([.accept: "b"], true), ([.accept: "c"], false), ([.eTag: "a"], false),
        ([.accept: "a", .userAgent: "x"], true), ([.accept: "a", .userAgent: "y"], false),
    ]

    @Test(arguments: fields)
    func `A request must have the expected header fields`(fields: HTTPFields, fits: Bool) async throws {
        var given: HTTPFields = [.userAgent: "x"]
        given.append(HTTPField(name: .accept, value: "a"))
        given.append(HTTPField(name: .accept, value: "b"))
        let request = try scriptedRequest(headerFields: given)
        #expect(await self.fits(transport.on(.get, "/", headerFields: fields), request) == fits)
    }

    private static let bodies: [(BodyPattern, String, Bool)] = [
        (.any, "x", true), (.text("ä"), "ä", true), (.text("ä"), "a", false),
        (.data(Data()), "", true), (.data(Data()), "x", false), (.data(Data([97])), "a", true),
        (.json(User(id: 1, name: "Ann")), #" {"name": "Ann", "id": 1.0} "#, true),
        (.json(User(id: 1, name: "Ann")), #"{"name":"Ann"}"#, false), (.json(User(id: 1, name: "Ann")), "no", false),
        (.jsonText(#"{"a":[{"b":1,"c":2}]}"#), #"{"a":[{"c":2,"b":1}]}"#, true),
        (.jsonText("[1,2]"), "[2,1]", false), (.jsonText("{"), "{", false),
    ]

    @Test(arguments: bodies)
    func `Bodies are compared as bytes, text or JSON`(pattern: BodyPattern, body: String, fits: Bool) async throws {
        let request = try scriptedRequest(.post, body: .bytes(Data(body.utf8)))
        #expect(await self.fits(transport.on(.post, "/", body: pattern), request) == fits)
    }

    private static let unreadable: [(String, String?, QueryPattern, String)] = [
        ("users", nil, .any, "The path “users” does not begin with “/”."),
        ("/a/**/b", nil, .any, "The path “/a/**/b” has “**” before its end."),
        ("/%zz", nil, .any, "The URL has a “%” without two hexadecimal digits."),
        ("/", "no host", .any, "“no host” has a character that host names cannot have."),
        ("/?a=1", nil, ["a": "1"], "The query stands in the path and beside it."),
    ]

    @Test(arguments: unreadable)
    func `An invalid pattern matches nothing and is reported as a problem`(
        path: String, host: String?, query: QueryPattern, problem: String
    ) async throws {
        let rule = transport.on(.get, path, query: query, host: host, fileID: "Module/File.swift", line: 7)
        #expect(await !fits(rule, try scriptedRequest()))
        let found = try #require(transport.problems.last)
        #expect(found.hasPrefix("The rule GET “\(path)” (File.swift:7) fits nothing: invalidRequest: \(problem)"))
    }
}
