import EssentialsHTTP
import Testing

@testable import EssentialsRequests
@testable import EssentialsResources

@Suite struct GlobTests {
    private let base: ResourceBase

    init() throws { base = ResourceBase(try RequestURL("https://example.com/v1?k=1")) }

    private func matches(_ pattern: String, _ path: String) throws -> Bool {
        try Glob(pattern).matches(base.url(path: path), below: base)
    }

    @Test(
        "A pattern matches these paths",
        arguments: [
            ("users", "users"), ("/users", "users"), ("users", "/users"), ("users/*", "users/7"), ("users/*", "users/"),
            ("users/*/orders", "users/7/orders"), ("*", ""), ("*", "a"), ("**", ""), ("**", "a/b/c"), ("/**", "a"),
            ("users/**", "users/"), ("users/**", "users/a/b"), ("a/**/b", "a/b"), ("a/**/b", "a/x/b"),
            ("a/**/b", "a/x/y/b"), ("a/**/b", "a//b"), ("**/b", "b"), ("**/b", "a/b"), ("**/b", "a/c/b"),
            ("/**/b", "b"), ("a**b", "ab"), ("a**b", "a/x/b"), ("user?", "users"), ("?", "é"), ("???", "aé€"),
            ("?", "😀"),
            ("a*b*c", "abc"), ("a*b*c", "axxbxbyc"), ("*.json", "a.json"), ("é*", "éa"), ("a b", "a b"),
            ("a%*", "a%20"),
            ("", ""), ("/", ""), ("a[1]", "a[1]"), ("**/**/b", "b"), ("**/**/**/b", "a/b"), ("**/*", "a"),
            ("**/*", "a/b"),
            ("**/**", "a/b"), ("a/**/**", "a/b"), ("a/**/*/**/b", "a/x/b"), ("a:b", "a:b"), ("a*", "a%2Fb"),
            ("a#b", "a#b"),
        ])
    func match(pattern: String, path: String) throws { #expect(try matches(pattern, path)) }

    @Test(
        "A pattern does not match these paths",
        arguments: [
            ("users", "users/7"), ("users", "user"), ("users", "users/"), ("users/*", "users"),
            ("users/*", "users/7/x"),
            ("*", "a/b"), ("users/**", "users"), ("a/**/b", "ab"), ("a/**/b", "a/xb"), ("a/**/b", "ax/b"),
            ("**/b", "ab"),
            ("?", ""), ("?", "/"), ("?", "ab"), ("?", "é€"), ("a?b", "a/b"), ("a*b", "a/b"), ("Users", "users"),
            ("*.json", "a.jsonx"), ("v1/users", "users"), ("a.b", "axb"), ("**/b", "a/bc"), ("**/**/b", "ab"),
            ("a/**/**/b", "ab"), ("", "a"), ("/*", "a/b"),
        ])
    func noMatch(pattern: String, path: String) throws { #expect(try !matches(pattern, path)) }

    @Test("An escaped slash is a character of a segment")
    func escapedSlash() throws {
        let url = base.url(segments: ["a", "b/c"])
        #expect(try Glob("a/*").matches(url, below: base))
        #expect(try Glob("a/b?c").matches(url, below: base))
        #expect(try !Glob("a/b/c").matches(url, below: base))
    }

    @Test("Queries of a URL and of the base are ignored")
    func queries() throws {
        let url = base.url(base.url(path: "users"), setting: ["q": "a/b"])
        #expect(try Glob("users").matches(url, below: base))
        #expect(try !Glob("users?*").matches(url, below: base))
        #expect(try Glob("https://example.com/v1/users").matches(url, below: base))
    }

    @Test("A pattern without a scheme matches nothing outside the base")
    func foreign() throws {
        for text in [
            "https://other.example/v1/users", "https://example.com/users", "https://example.com/v1", "nonsense",
        ] {
            let url = base.url(whole: text)
            #expect(try !Glob("**").matches(url, below: base))
            #expect(try !Glob("**/users").matches(url, below: base))
        }
    }

    @Test(
        "A pattern with a scheme matches whole URLs, below the base and outside it",
        arguments: [
            ("https://*.example.com/**", "https://api.example.com/a/b", true),
            ("https://*.example.com/**", "https://api.example.com/", true),
            ("https://*.example.com/**", "https://example.com/", false),
            ("https://*.example.com/**", "https://evil.example/.example.com/x", false),
            ("HTTPS://Example.COM:443/V1/*", "https://example.com/V1/x?y", true),
            ("https://example.com", "https://example.com/", true),
            ("https://example.com", "https://example.com/a", false),
            ("https://example.com/v1/**", "https://example.com/v1/users", true),
            ("http://example.com/**", "https://example.com/v1/users", false),
            ("https://example.com:*/x", "https://example.com:8443/x", true),
            ("https://example.com/%7e%c3%a9", "https://example.com/~é", true),
            ("https://example.com/é?", "https://example.com/é€", true),
            ("https://[::1]/[a]", "https://[::1]/[a]", true),
        ])
    func whole(pattern: String, text: String, isMatch: Bool) throws {
        #expect(try Glob(pattern).matches(base.url(whole: text), below: base) == isMatch)
    }

    @Test("Without a base URL, patterns match the paths of resources, and whole URLs")
    func missingBase() throws {
        let base = ResourceBase.missing
        #expect(try Glob("/users/*").matches(base.url(path: "users/7"), below: base))
        #expect(try !Glob("**").matches(base.url(whole: "https://example.com/users/7"), below: base))
        #expect(try Glob("https://example.com/**").matches(base.url(whole: "https://example.com/x"), below: base))
    }

    @Test(
        "A malformed pattern is refused with an explanation",
        arguments: [
            ("a***b", "three", "stars"), ("ftp://example.com/", "scheme", "scheme"), ("https:///x", "host", "host"),
            ("https://**/x", "host", "**"), ("https://u:secret@example.com/", "credentials", "host"),
            ("https://exämple.com/", "host", "host"), ("https://example.com/%zz", "escape", "hexadecimal"),
            ("a\nb", "control", "control"), ("https://example.com/%*", "escape", "hexadecimal"),
        ])
    func malformed(pattern: String, about: String, word: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try Glob(pattern) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.message.contains(word), "\(about): \(failure.message)")
        #expect(!failure.message.contains("secret"))
    }

    @Test("A pattern of more than 1,024 bytes is refused")
    func tooLong() throws {
        let longest = String(repeating: "*a", count: GlobRules.maximumBytes / 2)
        #expect(try matches(longest, String(repeating: "ba", count: GlobRules.maximumBytes)))
        #expect(throws: RequestFailure.self) { try Glob(longest + "a") }
    }
}
