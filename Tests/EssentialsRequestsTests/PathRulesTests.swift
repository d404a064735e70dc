import EssentialsHTTP
import TestTools
import Testing

@testable import EssentialsRequests

@Suite struct PathRulesTests {
    @Test(
        "A path is joined to the base with one slash",
        arguments: [
            ("https://h/v1", "users", "https://h/v1/users"), ("https://h/v1/", "users", "https://h/v1/users"),
            ("https://h/v1", "/users", "https://h/v1/users"), ("https://h/v1/", "/users", "https://h/v1/users"),
            ("https://h", "users", "https://h/users"), ("https://h/", "/users", "https://h/users"),
            ("https://h/v1/", "users/", "https://h/v1/users/"), ("https://h/v1/", "a//b", "https://h/v1/a//b"),
            ("https://h/v1", "", "https://h/v1"), ("https://h/v1/", "", "https://h/v1/"),
            ("https://h", "", "https://h/"),
            ("https://h/v1", "/", "https://h/v1/"), ("https://h:8443/v1/", "a", "https://h:8443/v1/a"),
            ("https://h/v1/?x=1", "a", "https://h/v1/a"), ("https://h/v1?x=1", "", "https://h/v1"),
            ("https://h/v1/#f", "a", "https://h/v1/a"),
        ])
    func join(base: String, path: String, expected: String) throws {
        #expect(try PathRules.join(path, to: RequestURL(base)).description == expected)
    }

    @Test(
        "A path keeps its query, drops its fragment, and is percent-encoded",
        arguments: [
            ("a?b=1", "/v1/a?b=1"), ("a?", "/v1/a?"), ("?b=1", "/v1/?b=1"), ("a?b=1#f", "/v1/a?b=1"),
            ("a#f?b", "/v1/a"),
            ("a b", "/v1/a%20b"), ("a%20b", "/v1/a%20b"), ("é", "/v1/%C3%A9"), ("a?q=é", "/v1/a?q=%C3%A9"),
            ("a?next=http://evil/x", "/v1/a?next=http://evil/x"), ("?next=https://evil", "/v1/?next=https://evil"),
            ("a/b://c", "/v1/a/b://c"), ("a?b=//evil", "/v1/a?b=//evil"), ("a:b", "/v1/a:b"), ("a@b", "/v1/a@b"),
            ("a?../../b", "/v1/a?../../b"),
        ])
    func target(path: String, expected: String) throws {
        let url = try PathRules.join(path, to: RequestURL("https://h/v1/"))
        #expect(url.target == expected)
        #expect(url.origin.description == "https://h")
    }

    @Test(
        "Dot segments are resolved within the base's path",
        arguments: [
            ("./a", "/v1/api/a"), ("a/../b", "/v1/api/b"), ("a/.", "/v1/api/a/"), ("a/..", "/v1/api/"),
            ("a/%2e%2e/b", "/v1/api/b"),
            ("..a", "/v1/api/..a"), ("a..", "/v1/api/a.."), (".", "/v1/api/"),
        ])
    func dotsInside(path: String, expected: String) throws {
        #expect(try PathRules.join(path, to: RequestURL("https://h/v1/api")).target == expected)
    }

    @Test(
        "A path that leaves the base's path is refused",
        arguments: [
            "..", "../", "../v2", "../../etc", "a/../../b", "%2e%2e/v2", ".%2E/v2", "/../v2", "../v1x", "../apix",
            "../api2/a",
            "a/b/../../../c", "https://h/v2", "https://h/", "https://h/v1/api/../x", "https://h/v1/apix", "//h/v2",
        ])
    func climbing(path: String) throws {
        for base in ["https://h/v1/api", "https://h/v1/api/"] {
            let failure = try #require(throws: RequestFailure.self) { try PathRules.join(path, to: RequestURL(base)) }
            #expect(failure.reason == .invalidRequest)
            #expect(failure.host == "h")
            #expect(failure.message.contains("/v1/api/"))
        }
    }

    @Test(
        "An absolute URL with the same origin is used unchanged",
        arguments: [
            ("https://h/v1/a", "/v1/a"), ("HTTPS://H/v1/a?b=1", "/v1/a?b=1"), ("https://h:443/v1/a", "/v1/a"),
            ("https://h./v1/a", "/v1/a"), ("//h/v1/a", "/v1/a"), ("//H:443/v1/a", "/v1/a"), ("https://h/v1", "/v1"),
            ("https://h/v1/a?next=http://evil/", "/v1/a?next=http://evil/"),
        ])
    func sameOrigin(path: String, expected: String) throws {
        let url = try PathRules.join(path, to: RequestURL("https://h/v1/"))
        #expect(url.origin.description == "https://h")
        #expect(url.target == expected)
    }

    @Test(
        "Another scheme, host or port is refused",
        arguments: [
            "http://h/v1/a", "https://evil/v1/a", "https://h:8443/v1/a", "https://h.evil/v1/a", "//evil/v1/a",
            "//h:99/v1/a",
            "http://h:443/v1/a", "ftp://h/v1/a", "://h/v1/a", "//", "///v1/a", "https:///v1/a", "//v1/a",
        ])
    func otherOrigin(path: String) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try PathRules.join(path, to: RequestURL("https://h/v1/"))
        }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "User information is refused and not shown",
        arguments: ["https://u:secret@h/v1/a", "//secret@h/v1/a", "https://@h/v1/a"])
    func userInfo(path: String) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try PathRules.join(path, to: RequestURL("https://h/v1/"))
        }
        #expect(failure.reason == .invalidRequest)
        #expect(!failure.description.contains("secret"))
    }

    @Test(
        "Control characters and bad escapes are refused",
        arguments: ["a\r\nb", "a\u{0}", "\n", "a?b\tc", "%", "a%2", "a?%zz"])
    func malformed(path: String) throws {
        let failure = try #require(throws: RequestFailure.self) {
            try PathRules.join(path, to: RequestURL("https://h/v1/"))
        }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "A plain path is joined by the short form with the same result",
        arguments: [
            "https://h", "https://h/v1", "https://h/v1/", "https://h/a%20b/", "https://h/v1?x=1", "https://h/v1/?x=1/",
            "https://h/a//",
        ])
    func plain(base: String) throws {
        let base = try RequestURL(base)
        let pieces = [
            "a", "B", "7", "/", ".", "..", "?", "=", "&", ":", "#", "%2e", "%", " ", "é", "\u{301}", "~", "\\",
        ]
        var numbers = SystemRandomNumberGenerator()
        var (joined, refused) = (0, 0)
        for _ in 0..<4_000 {
            let path = (0..<Int.random(in: 0...6, using: &numbers)).map { _ in
                // Plain pieces are chosen twice as often, otherwise hardly any path would be plain.
                (Bool.random(using: &numbers) ? pieces[..<4] : pieces[...]).randomElement(using: &numbers) ?? ""
            }.joined()
            guard let url = base.joining(plainPath: path) else {
                refused += 1
                continue
            }
            joined += 1
            #expect(try PathRules.joinCarefully(path, to: base) == url, "\(path)")
        }
        #expect(refused > 100)
        #expect(joined > 100 || base.query != nil)
    }
    @Test(
        "A path of two plain parts and a query are joined in one step with the same result",
        arguments: ["https://h", "https://h/v1", "https://h/v1/", "https://h/a%20b/", "https://h/v1?x=1"])
    func plainParts(base: String) throws {
        let base = try RequestURL(base)
        let pieces = ["a", "B", "7", "b/c", "/", ".", "..", "?", "=", "&", ":", "#", "%2e", "%", " ", "é", "~", ";"]
        var numbers = SeededNumbers(state: 22)
        var (joined, refused) = (0, 0)
        for _ in 0..<4_000 {
            let parts = (0..<2).map { _ in
                (0..<Int.random(in: 0...3, using: &numbers)).map { _ in
                    (Int.random(in: 0..<4, using: &numbers) > 0 ? pieces[..<4] : pieces[...])
                        .randomElement(using: &numbers) ?? ""
                }.joined()
            }
            let query = ["", "q=1", "q=%2F..%2f&r=a%3Ab"].randomElement(using: &numbers) ?? ""
            let endsWithSlash = Bool.random(using: &numbers)
            guard
                let url = base.joining(
                    plainPath: parts[0], parts[1], endsWithSlash: endsWithSlash, query: query)
            else {
                refused += 1
                continue
            }
            joined += 1
            var path = parts.filter { !$0.isEmpty }.joined(separator: "/")
            if endsWithSlash { path += "/" }
            if !query.isEmpty { path += "?" + query }
            #expect(try PathRules.joinCarefully(path, to: base) == url, "\(path)")
        }
        #expect(refused > 100)
        #expect(joined > 100 || base.query != nil)
    }
}
