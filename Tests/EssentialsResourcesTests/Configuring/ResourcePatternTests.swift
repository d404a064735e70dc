import EssentialsHTTP
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite struct ResourcePatternTests {
    private let base: ResourceBase

    init() throws { base = ResourceBase(try RequestURL("https://example.com/v1")) }

    @Test("A literal is a pattern with wildcards")
    func literal() throws {
        let pattern: ResourcePattern = "/users/*"
        #expect(pattern.matches(base.url(path: "users/7"), below: base))
        #expect(!pattern.matches(base.url(path: "users/7/x"), below: base))
        #expect(pattern.problem == nil)
        #expect(pattern.description == "/users/*")
        let text = "users/?"
        #expect(try ResourcePattern(text).matches(base.url(path: "users/7"), below: base))
    }

    @Test("A malformed literal matches nothing and keeps its failure, which the initializer throws")
    func malformed() throws {
        let pattern: ResourcePattern = "/users/***"
        #expect(pattern.problem?.reason == .invalidRequest)
        #expect(!pattern.matches(base.url(path: "users/7"), below: base))
        let text = "/users/***"
        #expect(throws: RequestFailure.self) { try ResourcePattern(text) }
    }

    @Test("A regular expression is searched in the whole URL with its query")
    func regex() {
        let pattern = ResourcePattern.regex(/example\.com.*role=admin/)
        let url = base.url(base.url(path: "users"), setting: ["role": "admin"])
        #expect(pattern.matches(url, below: base))
        #expect(!pattern.matches(base.url(path: "users"), below: base))
        #expect(pattern.matches(base.url(whole: "https://api.example.com/?role=admin"), below: base))
    }

    @Test("A predicate receives the URL")
    func predicate() {
        let pattern = ResourcePattern.matching { $0.isForeign }
        #expect(pattern.matches(base.url(whole: "https://other.example/"), below: base))
        #expect(!pattern.matches(base.url(path: "users"), below: base))
    }

    @Test("An exact URL matches one resource, and moves with the base")
    func exact() throws {
        let pattern = ResourcePattern.url(base.url(path: "users/7"))
        #expect(pattern.matches(base.url(segments: ["users", "7"]), below: base))
        #expect(!pattern.matches(base.url(path: "users/8"), below: base))
        let new = ResourceBase(try RequestURL("https://staging.example.com/v2"))
        #expect(pattern.moved(from: base, to: new).matches(new.url(path: "users/7"), below: new))
        #expect(!pattern.matches(new.url(path: "users/7"), below: new))
    }
}
