import EssentialsHTTP
import Testing

@testable import EssentialsRequests

/// DATA-REQUESTS.md 1.1: `pathResolution`, and what both ways refuse.
@Suite("A path that is resolved")
struct PathResolutionTests {
    @Test(
        "as a relative reference is the one of RFC 3986, 5.4",
        arguments: [
            // 5.4.1, without those of other schemes and authorities, and without fragments, which are not sent.
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"),
            ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
            // 5.4.2
            ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
            (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"),
            // Of the same origin.
            ("//a/g", "/g"), ("//A:80/g?y", "/g?y"), ("http://a/g", "/g"), ("HTTP://A/../g#s", "/g"),
            // What is no part of a path.
            ("g h", "/b/c/g%20h"), ("é", "/b/c/%C3%A9"), ("g?next=http://evil/", "/b/c/g?next=http://evil/"),
            ("./g:h", "/b/c/g:h"),
        ])
    func reference(path: String, target: String) throws {
        let url = try PathRules.url(path, under: RequestURL("http://a/b/c/d;p?q"), .rfc3986)
        #expect(url.origin.description == "http://a")
        #expect(url.target == target)
    }

    @Test(
        "against a base drops the base's last segment where that has no slash at its end",
        arguments: [
            ("https://h/v1", "users", "/users"), ("https://h/v1/", "users", "/v1/users"),
            ("https://h/v1/", "/users", "/users"), ("https://h", "users", "/users"), ("https://h/v1/", "../x", "/x"),
            ("https://h/v1?x=1", "users", "/users"), ("https://h/v1/?x=1", "users", "/v1/users"),
        ])
    func base(base: String, path: String, target: String) throws {
        #expect(try PathRules.url(path, under: RequestURL(base), .rfc3986).target == target)
    }

    @Test(
        "to another origin, with credentials, or to what is no URL is refused in both ways",
        arguments: [
            "http://h/v1/a", "https://evil/v1/a", "https://h:8443/v1/a", "//evil/v1/a", "//h:99/v1/a", "ftp://h/v1/a",
            "://h/v1/a", "//", "https:///v1/a", "https://u:secret@h/v1/a", "//secret@h/v1/a", "a\r\nb", "a\u{0}", "%",
            "a?%zz", "//h\\@evil/",
        ], [PathResolution.join, .rfc3986])
    func refused(path: String, resolution: PathResolution) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try PathRules.url(path, under: RequestURL("https://h/v1/"), resolution)
        }
        #expect(failure.reason == .invalidRequest)
        #expect(!failure.description.contains("secret"))
    }

    @Test("that names a scheme and no host is refused as a reference", arguments: ["g:h", "https:g", "https:/g", ":g"])
    func schemeAlone(path: String) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try PathRules.url(path, under: RequestURL("https://h/v1/"), .rfc3986)
        }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "by joining may hold colons and URLs, and a query alone belongs to the base itself",
        arguments: [
            ("redirect:https://x/y", "/v1/redirect:https://x/y"),
            ("a:b?next=http://evil/", "/v1/a:b?next=http://evil/"),
            ("https:/h", "/v1/https:/h"), ("12:30//x", "/v1/12:30//x"), ("?b=1", "/v1?b=1"), ("#f?b", "/v1"),
            ("/?b=1", "/v1/?b=1"),
        ])
    func joined(path: String, target: String) throws {
        let url = try PathRules.url(path, under: RequestURL("https://h/v1"), .join)
        #expect(url.origin.description == "https://h")
        #expect(url.target == target)
    }

    @Test("is joined by a service unless it is told otherwise, with the parameters behind its query")
    func service() async throws {
        let joining = try ServiceFixture(base: "https://h/v1/api")
        let resolving = try ServiceFixture(base: "https://h/v1/api") { $0.pathResolution = .rfc3986 }
        for (path, joined, resolved) in [
            ("users", "/v1/api/users?n=v", "/v1/users?n=v"), ("/users?x=1", "/v1/api/users?x=1&n=v", "/users?x=1&n=v"),
            // A question mark in the fragment begins no query.
            ("p#f?x", "/v1/api/p?n=v", "/v1/p?n=v"), ("p?a#f?x=1", "/v1/api/p?a&n=v", "/v1/p?a&n=v"),
        ] {
            let request = DataRequest(.get, path, parameters: ["n": "v"])
            #expect(try await joining.sent(request).url.target == joined)
            #expect(try await resolving.sent(request).url.target == resolved)
        }
    }
}
