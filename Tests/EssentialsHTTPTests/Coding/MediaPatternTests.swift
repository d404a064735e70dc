import EssentialsHTTP
import Testing

@Suite struct MediaPatternTests {
    @Test(
        "A pattern matches exactly the types that it describes",
        arguments: [
            ("application/json", ["application/json"]), ("Application/JSON", ["application/json"]),
            ("application/*", ["application/json", "application/problem+json"]),
            ("text/*", ["text/plain", "text/x+json"]),
            ("*/json", ["application/json"]), ("*/problem+json", ["application/problem+json"]),
            ("*/*+json", ["application/problem+json", "text/x+json"]),
            ("application/*+json", ["application/problem+json"]),
            ("*/*", ["application/json", "application/problem+json", "text/plain", "text/x+json", "image/png"]),
        ])
    func matching(text: String, matches: [String]) throws {
        let pattern = try MediaPattern(text)
        let all = ["application/json", "application/problem+json", "text/plain", "text/x+json", "image/png"]
        #expect(try all.filter { try pattern.matches(MediaType($0)) } == matches)
        #expect(pattern.description == text.lowercased())
        #expect(try MediaPattern(pattern.description) == pattern)
    }

    @Test("A pattern ignores the parameters of a type")
    func parameters() throws {
        #expect(try MediaPattern("text/plain").matches(MediaType("text/plain; charset=utf-8")))
        #expect(try MediaPattern(MediaType("text/plain; charset=utf-8")) == MediaPattern("text/plain"))
    }

    @Test("Patterns are ordered by specificity and then by text")
    func order() throws {
        let ordered = [
            "*/*", "application/*", "text/*", "*/*+json", "*/*+xml", "application/*+json", "text/*+json",
            "*/json", "application/json", "application/problem+json", "text/plain",
        ]
        let patterns = try ordered.map { try MediaPattern($0) }
        #expect(patterns.reversed().sorted() == patterns)
        #expect(patterns[0] == .any)
    }

    @Test(
        "An invalid pattern is refused",
        arguments: [
            "", "json", "*", "app*/json", "application/js*", "application/*json", "a/b;c=d", "a/*+", "a/*+*",
            "a/*+b+c", "a/b/c", "a /b", "**/*", "/",
        ])
    func malformed(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try MediaPattern(text) }
        #expect(failure.reason == .invalidRequest)
    }
}
