import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("RequestPath")
struct RequestPathTests {
    @Test(
        "A component is one segment, whatever it contains",
        arguments: [
            ("a/b", "a%2Fb"), ("a b", "a%20b"), ("é", "%C3%A9"), ("a?b#c", "a%3Fb%23c"), ("50%", "50%25"),
            ("a:b@c", "a:b@c"), ("a;b", "a%3Bb"), ("...", "..."), ("{id}", "%7Bid%7D"), ("/", "%2F"), ("\\", "%5C"),
            ("\u{0}\r\n", "%00%0D%0A"), ("a/\u{301}", "a%2F%CC%81"), ("http://x", "http:%2F%2Fx"),
            ("%252e%252e", "%25252e%25252e"),
        ])
    func component(_ text: String, _ encoded: String) throws {
        let path = RequestPath { text }
        #expect(path.encoded == encoded)
        #expect(path.components == [text])
        #expect(definition { path }.target == "/v1/" + encoded)
        #expect(("x/\(text)" as RequestPath).encoded == "x/" + encoded)
        #expect(RequestPath(template: "x/{value}", ["value": text]).encoded == "x/" + encoded)
    }

    @Test(
        "A component that could leave the base path is refused",
        arguments: ["..", ".", "%2e%2e", "%2E.", "..;x", ".;", "..\\", "../", "..\\..", "a/../../b", "..%2f"])
    func leaving(_ text: String) async throws {
        #expect(throws: RequestFailure.self) { try definition { RequestPath { text } }.url() }
        #expect(throws: RequestFailure.self) { try definition("a/\(text)/b").url() }
        #expect(throws: RequestFailure.self) { try definition(RequestPath(template: "{x}", ["x": text])).url() }
        let fixture = try ServiceFixture()
        let request = definition(base: .environment) { RequestPath { text } }
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.data(of: request) }
        #expect(failure?.reason == .invalidRequest)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("Dots that only together are a dot segment are refused")
    func joinedDots() {
        let dot = "."
        #expect(throws: RequestFailure.self) { try definition("a/\(dot).").url() }
        #expect(throws: RequestFailure.self) { try definition(RequestPath(template: "{a}{a}", ["a": "."])).url() }
    }

    @Test("A builder takes values of any type, arrays and optionals, and drops nil and empty text")
    func builder() {
        let (none, some): (Int?, [String]?) = (nil, ["x", "y/z"])
        let path = RequestPath {
            "users"
            7
            none
            ""
            [1, 2]
            some
            [Int]?.none
            UUID(uuidString: "00000000-0000-0000-0000-000000000001")
            RequestPath { "end" }
        }
        #expect(path.encoded == "users/7/1/2/x/y%2Fz/00000000-0000-0000-0000-000000000001/end")
        #expect(RequestPath("users", none, 7, "", "a/b", some, [1, 2]).encoded == "users/7/a%2Fb/x/y%2Fz/1/2")
    }

    @Test("A path inside another path keeps its segments and is not escaped again")
    func nested() throws {
        let inner = RequestPath {
            "a/b"; "50%"
        }
        let optional: RequestPath? = inner
        let whole = "x/a%2Fb/50%25/y"
        #expect(
            RequestPath {
                "x"; optional; "y"
            }.encoded == whole)
        #expect(RequestPath("x", inner, "y").encoded == whole)
        #expect(RequestPath("x", [inner], "y").encoded == whole)
        #expect(
            RequestPath {
                "x"; [inner]; "y"
            }.encoded == whole)
        #expect(("x/\(inner)/y" as RequestPath).encoded == whole)
        #expect(("v\(inner)x" as RequestPath).encoded == "va%2Fb/50%25x")
        #expect(RequestPath(template: "x/{p}/y", ["p": inner]).encoded == whole)
        let invalid = RequestPath { ".." }
        for path in [RequestPath("x", invalid), "x/\(invalid)", RequestPath(template: "x/{p}", ["p": invalid])] {
            let failure = #expect(throws: RequestFailure.self) { try definition(path).url() }
            #expect(failure?.message.contains("“..”") == true)
        }
        #expect(throws: RequestFailure.self) { try definition("x/\(RequestPath())").url() }
    }

    @Test("A builder supports if, else, switch, for and #available")
    func controlFlow() {
        func path(_ kind: Int) -> RequestPath {
            RequestPath {
                if kind == 0 { "zero" }
                if kind == 1 { "one" } else { "other" }
                switch kind {
                case 2: "two"
                case 3:
                    "three"
                    3
                default: RequestPath()
                }
                for index in 0..<kind { index }
                if #available(macOS 15, *) { "new" }
            }
        }
        #expect(path(0).encoded == "zero/other/new")
        #expect(path(1).encoded == "one/0/new")
        #expect(path(3).encoded == "other/three/3/0/1/2/new")
        #expect(RequestPath {}.isEmpty)
    }

    @Test("Written text is split at slashes, and empty segments are dropped")
    func literal() {
        let path: RequestPath = "//users//archive/"
        #expect(path.components == ["users", "archive"])
        let id = "a/b"
        #expect(("/users/\(id)/posts/" as RequestPath).components == ["users", "a/b", "posts"])
        #expect(("v\(2)-\(id)/x" as RequestPath).components == ["v2-a/b", "x"])
    }

    @Test(
        "A template with a missing, unused or empty value, or without a brace, is refused",
        arguments: [
            RequestPath(template: "users/{id}", [:]), RequestPath(template: "users", ["id": 7]),
            RequestPath(template: "users/{id}", ["id": ""]), RequestPath(template: "users/{id", ["id": 7]),
            RequestPath(template: "users/id}", [:]), RequestPath(template: "users/{}", [:]),
            RequestPath(template: "users/{{id}}", ["id": 7]), "users/{id}", "users/{id}/\(7)",
            RequestPath(template: "users/{Id}", ["id": 7]),
        ])
    func faultyTemplate(_ path: RequestPath) {
        let failure = #expect(throws: RequestFailure.self) { try definition(path).url() }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.remedy != nil)
    }

    @Test("A template takes typed values, whole segments and parts, and a name can occur twice")
    func template() {
        let path = RequestPath(
            template: "/users/{id}/posts/{year}-{month}/{id}/{b}", ["id": 7, "year": 2026, "month": "1/2", "b": "}{"])
        #expect(path.components == ["users", "7", "posts", "2026-1/2", "7", "}{"])
    }

    @Test("An empty value in a literal is refused, because the path would name something else")
    func emptyValue() {
        let failure = #expect(throws: RequestFailure.self) { try definition("users/\("")").url() }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.request == nil)
        let built = #expect(throws: RequestFailure.self) { try definition("users/\("")").build() }
        #expect(built?.request == "GET users")
    }

    @Test("A path is encoded as its text, and an invalid one is not encoded")
    func codable() throws {
        let path: RequestPath = "a/\("b/c é")"
        let data = try JSONEncoder().encode([path])
        #expect(try JSONDecoder().decode([RequestPath].self, from: data) == [path])
        #expect(throws: RequestFailure.self) { try JSONEncoder().encode([RequestPath { ".." }]) }
        let dots = try JSONDecoder().decode([RequestPath].self, from: Data(#"["a/%2e%2e"]"#.utf8))
        #expect(throws: RequestFailure.self) { try definition(dots[0]).url() }
    }
}
