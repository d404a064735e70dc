import EssentialsHTTP
import Testing

@testable import EssentialsRequests

/// What happens to URLs without a base, and when the base changes.
@Suite struct ResourceBaseChangeTests {
    private func base(_ text: String) throws -> ResourceBase { ResourceBase(try RequestURL(text)) }

    @Test("Without a base URL, loads of paths fail and whole URLs keep working")
    func missing() throws {
        let base = ResourceBase(nil)
        #expect(base.isMissing)
        let url = base.url(path: "users/7")
        #expect(url.failure?.reason == .invalidRequest)
        #expect(!url.isBelowBase && !url.isForeign)
        #expect(base.url(segments: ["users", "7"]) == url)
        #expect(base.child(of: base.url(path: "users"), "7") == url)
        #expect(base.relative(to: base.url(path: "users/"), "7") == url)
        #expect(base.url(path: "../x").place == .unusable(.dotSegment))
        let whole = base.url(whole: "https://example.com/x")
        #expect(try whole.requestURL().description == "https://example.com/x")
        #expect(whole.place == .otherOrigin)
        #expect(base.child(of: base.url(whole: "https://example.com/a"), "x").text == "https://example.com/a/x")
    }

    @Test("Paths that were made without a base URL lie below the base that comes later")
    func laterBase() throws {
        let old = ResourceBase.missing
        let new = try base("https://example.com/v1?k=1")
        #expect(new.url(moving: old.url(path: "users/7"), from: old) == new.url(path: "users/7"))
        let set = old.url(old.url(path: "users"), setting: ["z": "2", "a": "1"])
        #expect(new.url(moving: set, from: old).text == "https://example.com/v1/users?a=1&k=1&z=2")
        #expect(new.url(moving: old.url(path: "a/../b"), from: old).place == .unusable(.dotSegment))
    }

    @Test(
        "A URL below the old base lies at the same place below the new one",
        arguments: [
            // A URL that lacks the query of its base keeps its own.
            ("https://a.example/v1/users", "https://b.example/v2/users"),
            ("https://a.example/v1/users?k=1", "https://b.example/v2/users?k=2"),
            ("https://a.example/v1/users?a=0&k=1", "https://b.example/v2/users?a=0&k=2"),
            ("https://a.example/v1/users?k=1&z=9", "https://b.example/v2/users?k=2&z=9"),
            ("https://a.example/v1/users?k=1&z=9&b=8", "https://b.example/v2/users?k=2&z=9&b=8"),
            ("https://a.example/v1/users?x=5", "https://b.example/v2/users?x=5"),
            ("https://a.example/v2/users", "https://a.example/v2/users"),
            ("https://c.example/v1/users", "https://c.example/v1/users"),
        ])
    func moving(text: String, expected: String) throws {
        let old = try base("https://a.example/v1?k=1")
        let new = try base("https://b.example/v2?k=2")
        #expect(new.url(moving: old.url(whole: text), from: old).text == expected)
        #expect(old.url(moving: old.url(whole: text), from: old).text == text)
    }

    @Test("A whole URL that lies below the new base is the resource of the path there")
    func merging() throws {
        let old = try base("https://a.example/v1")
        let new = try base("https://b.example/v2")
        let foreign = old.url(whole: "https://b.example/v2/users")
        #expect(foreign.place == .otherOrigin)
        #expect(new.url(moving: foreign, from: old) == new.url(path: "users"))
        #expect(new.part(of: new.url(path: "users")) == "users")
        #expect(new.part(of: new.url(whole: "https://a.example/v1/users")) == nil)
    }

    @Test("URLs that cannot be loaded stay as they are under any base")
    func unusable() throws {
        let old = try base("https://a.example/v1")
        let new = try base("https://b.example/v2")
        for text in ["https://a.example/v1/%zz", "nonsense", nil] {
            #expect(new.url(moving: old.url(whole: text), from: old) == old.url(whole: text))
        }
    }
}
