import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite("Path resolution")
struct PathResolutionTests {
    @Test(
        "A relative reference is resolved as in RFC 3986, 5.4",
        arguments: [
            // Section 5.4.1, without other schemes and authorities, and without fragments, which are not sent.
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"),
            ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
            // Section 5.4.2.
            ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
            (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"),
            // References to the same origin.
            ("//a/g", "/g"), ("//A:80/g?y", "/g?y"), ("http://a/g", "/g"), ("HTTP://A/../g#s", "/g"),
            // Characters that are escaped or are not part of the path.
            ("g h", "/b/c/g%20h"), ("é", "/b/c/%C3%A9"), ("g?next=http://evil/", "/b/c/g?next=http://evil/"),
            ("./g:h", "/b/c/g:h"),
        ])
    func reference(path: String, target: String) throws {
        let url = try PathRules.url(path, under: RequestURL("http://a/b/c/d;p?q"), .rfc3986)
        #expect(url.origin.description == "http://a")
        #expect(url.target == target)
    }

    @Test(
        "A relative reference replaces the last segment of a base without a slash at its end",
        arguments: [
            ("https://h/v1", "users", "/users"), ("https://h/v1/", "users", "/v1/users"),
            ("https://h/v1/", "/users", "/users"), ("https://h", "users", "/users"), ("https://h/v1/", "../x", "/x"),
            ("https://h/v1?x=1", "users", "/users"), ("https://h/v1/?x=1", "users", "/v1/users"),
        ])
    func base(base: String, path: String, target: String) throws {
        #expect(try PathRules.url(path, under: RequestURL(base), .rfc3986).target == target)
    }

    @Test(
        "A path to another origin, with credentials, or with an invalid URL is refused in both resolutions",
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

    @Test(
        "A path that hides a dot segment from some readers is refused in both resolutions",
        arguments: [
            "..%2f", "..%2F", "..%2fb", "..%2f..%2fetc", "a/..%2fb", "a%2f..%2fb", "a%2f..", "%2f..", "..%5c", "..%5Cb",
            "..\\", "..\\b", "a\\..\\b", "a/..\\b", "\\..\\b", "%2e%2e%2f", "%2E%2e%5c", ".%2e%2fb", "%2e.%2fb",
            "%252e%252e", "%252e%252e/b", ".%252e/b", "%2e%252e/b", "%252e./b", "..%252f", "..%252Fb", "..%255cb",
            "%252e%252e%252fb", "%252e%252e%255cb", "%25%32%65%25%32%65/b", ".%2fb", "a%2f.%2fb", "..;/b", "..;x=1/b",
            "%2e%2e;/b", "%252e%252e;/b", "..%3b/b", "a/..;", "..%2fb?c=d", "..%2fb#c", "https://h/v1/api/..%2fb",
            "//h/v1/api/..%2fb", "/..%2fb",
        ], [PathResolution.join, .rfc3986])
    func hidden(path: String, resolution: PathResolution) throws {
        for base in ["https://h/v1/api", "https://h/v1/api/", "https://h"] {
            let failure = try #require(throws: RequestFailure.self) {
                try PathRules.url(path, under: RequestURL(base), resolution)
            }
            #expect(failure.reason == .invalidRequest)
            #expect(failure.host == "h")
            #expect(failure.remedy?.contains("Remove the dots") == true)
        }
    }

    @Test(
        "A path whose escapes, backslashes and semicolons hide no dot segment is sent",
        arguments: [
            ("a%2fb", "/v1/a%2fb"), ("a%5cb", "/v1/a%5cb"), ("a\\b", "/v1/a%5Cb"), ("a%252fb", "/v1/a%252fb"),
            ("a..%2fb", "/v1/a..%2fb"), ("...%2fb", "/v1/...%2fb"), ("%2e%2e%2e", "/v1/%2e%2e%2e"),
            ("a%2f..b", "/v1/a%2f..b"), ("a;..", "/v1/a;.."), ("a;x=..%2fb", "/v1/a;x=..%2fb"),
            ("a?b=..%2f..%2fc", "/v1/a?b=..%2f..%2fc"), ("?b=../c", "/v1/?b=../c"), ("v1.2%2f", "/v1/v1.2%2f"),
            ("a/%2e%2e/b", "/v1/b"), ("%2e/b", "/v1/b"), ("100%25", "/v1/100%25"), ("%25%32%66", "/v1/%25%32%66"),
        ], [PathResolution.join, .rfc3986])
    func unhidden(vector: (path: String, target: String), resolution: PathResolution) throws {
        #expect(try PathRules.url(vector.path, under: RequestURL("https://h/v1/"), resolution).target == vector.target)
    }

    @Test("A reference with a scheme but no host is refused", arguments: ["g:h", "https:g", "https:/g", ":g"])
    func schemeAlone(path: String) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try PathRules.url(path, under: RequestURL("https://h/v1/"), .rfc3986)
        }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "A joined path may contain colons and URLs, and a query alone extends the base itself",
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

    @Test("A service joins paths by default, and adds parameters after the query")
    func service() async throws {
        let joining = try ServiceFixture(base: "https://h/v1/api")
        let resolving = try ServiceFixture(base: "https://h/v1/api") { $0.pathResolution = .rfc3986 }
        for (path, joined, resolved) in [
            ("users", "/v1/api/users?n=v", "/v1/users?n=v"), ("/users?x=1", "/v1/api/users?x=1&n=v", "/users?x=1&n=v"),
            // A question mark in the fragment starts no query.
            ("p#f?x", "/v1/api/p?n=v", "/v1/p?n=v"), ("p?a#f?x=1", "/v1/api/p?a&n=v", "/v1/p?a&n=v"),
        ] {
            let request = DataRequest(.get, path, parameters: ["n": "v"])
            #expect(try await joining.sent(request).url.target == joined)
            #expect(try await resolving.sent(request).url.target == resolved)
        }
    }
}
