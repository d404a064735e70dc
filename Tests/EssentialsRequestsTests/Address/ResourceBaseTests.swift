import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite struct ResourceBaseTests {
    private let base: ResourceBase

    init() throws { base = try Self.base("https://example.com/v1") }

    static func base(_ text: String) throws -> ResourceBase { ResourceBase(try RequestURL(text)) }

    // MARK: - Paths

    @Test(
        "A path text is appended to the base, and all its characters except the slash stand for themselves",
        arguments: [
            ("users/7", "users/7"), ("/users/7", "users/7"), ("//users", "/users"), ("", ""), ("/", ""),
            ("users/", "users/"), ("a//b", "a//b"), ("a b", "a%20b"), ("what?x=1", "what%3Fx=1"), ("a#b", "a%23b"),
            ("100%", "100%25"), ("%2F", "%252F"), ("é", "%C3%A9"), ("http://evil.example/x", "http://evil.example/x"),
            ("mailto:x", "mailto:x"), ("a\nb", "a%0Ab"), ("a\\b", "a%5Cb"), ("[1]", "%5B1%5D"),
            ("a+b&c=d;e,f", "a+b&c=d;e,f"),
            ("u:p@h", "u:p@h"), ("...", "..."), (".well-known/x", ".well-known/x"), ("a..", "a.."),
            ("?\u{301}", "%3F%CC%81"),
        ])
    func path(text: String, part: String) throws {
        let url = base.url(path: text)
        #expect(url.text == "https://example.com/v1/" + part)
        #expect(url.isBelowBase)
        #expect(try url.requestURL().description == url.text)
        #expect(try base.requestURL(of: url) == url.requestURL())
    }

    @Test("The path of a base gets a slash at its end, and its query stays behind every path")
    func basePath() throws {
        let base = try Self.base("HTTPS://Example.com:443/v1?key=%7e1")
        #expect(base.url(path: "users").text == "https://example.com/v1/users?key=~1")
        #expect(base.url(segments: ["users", "7"]).text == "https://example.com/v1/users/7?key=~1")
        #expect(try Self.base("https://example.com").url(path: "x").text == "https://example.com/x")
        #expect(try Self.base("https://example.com/v1/?").url(path: "x").text == "https://example.com/v1/x")
    }

    @Test(
        "Segments are joined with slashes, a slash inside one is escaped, and empty ones are left out",
        arguments: [
            (["users", "7"], "users/7"), (["files", "a/b"], "files/a%2Fb"), (["a", ""], "a"),
            (["", "a", "", "b"], "a/b"),
            ([], ""), ([""], ""), (["a", "?x#y%z"], "a/%3Fx%23y%25z"), (["/"], "%2F"),
        ])
    func segments(segments: [String], part: String) {
        #expect(base.url(segments: segments).text == "https://example.com/v1/" + part)
    }

    @Test(
        "A dot segment stays in the identity, and a load fails",
        arguments: ["..", ".", "../x", "a/../b", "a/.", "/./a", "a/..", "./", "../"])
    func dotSegments(text: String) {
        let url = base.url(path: text)
        #expect(url.text == "https://example.com/v1/" + (text.hasPrefix("/") ? String(text.dropFirst()) : text))
        #expect(url.place == .unusable(.dotSegment))
        #expect(url.failure?.reason == .invalidRequest)
        #expect(throws: RequestFailure.self) { try url.requestURL() }
        #expect(base.child(of: url, "x").place == .unusable(.dotSegment))
        #expect(base.child(of: base.url(path: "a"), text).place == .unusable(.dotSegment))
        #expect(!PathText.isPlain(text))
    }

    @Test("A segment that is a dot segment makes loads fail, and one that contains dots does not")
    func dotsInSegments() {
        #expect(base.url(segments: ["users", ".."]).place == .unusable(.dotSegment))
        #expect(base.url(segments: ["users", "a.."]).isBelowBase)
    }

    @Test(
        "A child is a path below a resource, whose query is kept",
        arguments: [
            ("users", "7", "users/7"), ("users/", "7", "users/7"), ("users", "/7", "users/7"), ("users", "", "users/"),
            ("users/", "", "users/"), ("users", "a?b", "users/a%3Fb"), ("", "x", "x"),
        ])
    func child(path: String, text: String, part: String) throws {
        #expect(base.child(of: base.url(path: path), text).text == "https://example.com/v1/" + part)
        let queried = try Self.base("https://example.com/v1?k=1")
        #expect(queried.child(of: queried.url(path: path), text).text == "https://example.com/v1/\(part)?k=1")
    }

    @Test("A child of a URL outside the base can lie below the base")
    func childBelow() {
        let url = base.url(whole: "https://example.com/v1")
        #expect(url.place == .sameOrigin)
        #expect(base.child(of: url, "users") == base.url(path: "users"))
    }

    @Test("A path can be joined below another URL")
    func belowAnother() {
        let url = base.child(of: base.url(whole: "https://other.example/x?k=1"), "/a?b")
        #expect(url.text == "https://other.example/x/a%3Fb?k=1")
        #expect(url.isForeign)
        #expect(base.child(of: base.url(whole: "https://example.com/v1"), "users") == base.url(path: "users"))
        #expect(base.child(of: base.url(whole: "ftp://other.example"), "users").place == .unusable(.malformed))
    }

    // MARK: - References

    @Test("A reference without a slash replaces the last segment of a resource")
    func lastSegment() {
        let items = base.url(whole: "https://example.com/items")
        #expect(base.relative(to: items, "./7")?.text == "https://example.com/7")
        #expect(base.relative(to: base.url(path: "items/"), "7") == base.url(path: "items/7"))
    }

    @Test("A reference to another host gives a foreign URL, and no reference gives no URL")
    func otherHosts() throws {
        let url = base.url(path: "items")
        #expect(base.relative(to: url, "//other.example/x")?.text == "https://other.example/x")
        #expect(base.relative(to: url, "http://example.com/v1/x")?.place == .otherOrigin)
        #expect(base.relative(to: url, nil) == nil)
        let refused = try #require(base.relative(to: url, "http:x"))
        #expect(refused.failure?.reason == .invalidRequest)
        #expect(base.relative(to: url, "ftp://example.com/")?.failure?.reason == .invalidRequest)
    }

    @Test("A URL that cannot be loaded resolves whole URLs only")
    func referencesOfUnusable() {
        let url = base.url(path: "a/../b")
        #expect(base.relative(to: url, "https://example.com/v1/x") == base.url(path: "x"))
        #expect(base.relative(to: url, "x")?.place == .unusable(.dotSegment))
    }

    // MARK: - Whole URLs

    @Test(
        "Spellings of one URL are one resource",
        arguments: [
            [
                "https://example.com/~a", "https://example.com/%7Ea", "HTTPS://EXAMPLE.com:443/%7ea#x",
                "https://example.com./~a",
            ],
            ["https://example.com/", "https://example.com", "https://example.com:/", "https://example.com/#"],
            ["https://example.com/%C3%A9", "https://example.com/%c3%a9", "https://example.com/é"],
            [
                "https://example.com/b", "https://example.com/a/../b", "https://example.com/%2e/b",
                "https://example.com/./b",
            ],
            ["https://example.com/a%2Fb", "https://example.com/a%2fb"],
            ["http://[::1]:8080/x", "http://[0:0::1]:8080/x"],
            [
                "https://xn--bcher-kva.example/x", "https://XN--BCHER-KVA.example/x",
                "HTTPS://Xn--Bcher-kva.EXAMPLE.:443/x",
            ],
        ])
    func spellings(texts: [String]) throws {
        let urls = Set(texts.map { base.url(whole: $0) })
        #expect(urls.count == 1)
        let url = try #require(urls.first)
        #expect(url.text == texts[0])
        #expect(try url.requestURL().description == url.text)
    }

    @Test("The order of a query, an empty query and escapes of reserved characters make other resources")
    func distinct() {
        let texts = [
            "https://example.com/x", "https://example.com/x?", "https://example.com/x?a&b", "https://example.com/x?b&a",
            "https://example.com/x/", "https://example.com/X", "https://example.com/a%2Fb", "https://example.com/a/b",
            "http://example.com/x", "https://example.com:444/x", "https://example.com/x?a=%2B",
            "https://example.com/x?a=+",
        ]
        #expect(Set(texts.map { base.url(whole: $0) }).count == texts.count)
    }

    @Test(
        "A URL is below the base, on its origin or on another one",
        arguments: [
            ("https://example.com/v1/users", ResourceURL.Place.below), ("https://example.com/v1/", .below),
            ("https://EXAMPLE.com:443/v1/x?y", .below), ("https://example.com/v1", .sameOrigin),
            ("https://example.com/v12/x", .sameOrigin), ("https://example.com/", .sameOrigin),
            ("https://example.com/v1/../x", .sameOrigin), ("https://example.com:444/v1/x", .otherOrigin),
            ("http://example.com/v1/x", .otherOrigin), ("https://example.com.evil.example/v1/x", .otherOrigin),
            ("https://sub.example.com/v1/x", .otherOrigin),
        ])
    func places(text: String, place: ResourceURL.Place) throws {
        let url = base.url(whole: text)
        #expect(url.place == place)
        #expect(url.isForeign == (place != .below))
        #expect(try base.requestURL(of: url) == url.requestURL())
    }

    @Test(
        "A text that is no web URL is one resource for equal texts, and its loads fail",
        arguments: [
            "", "users/7", "ftp://example.com/", "https://", "https://a b/", "https://example.com/%zz",
            "mailto:a@example.com",
            "https://user:secret@example.com/", "user:secret@example.com", "https://example.com:99999/",
            "https://exämple.com/",
        ])
    func malformed(text: String) {
        let url = base.url(whole: text)
        #expect(url == base.url(whole: text))
        #expect(url != base.url(whole: text + "x"))
        #expect(url.failure?.reason == .invalidRequest)
        #expect(throws: RequestFailure.self) { try base.requestURL(of: url) }
        #expect(!url.isBelowBase && !url.isForeign)
        #expect(!"\(url) \(url.failure.map { "\($0)" } ?? "")".contains("secret"))
        #expect(base.child(of: url, "x").failure?.reason == .invalidRequest)
        #expect(base.url(url, setting: ["a": "b"]).failure?.reason == .invalidRequest)
    }

    @Test(
        "A host outside ASCII is not converted, and the failure of its loads recommends the xn-- form",
        arguments: [
            "https://b\u{fc}cher.example/x", "https://bu\u{308}cher.example/x", "https://公司.cn/",
            // Letters and a dot that IDNA would map to ASCII.
            "https://\u{ff45}xample.com/v1/x", "https://example\u{3002}com/v1/x", "https://\u{212a}.example/",
        ])
    func hostOutsideASCII(text: String) throws {
        let url = base.url(whole: text)
        #expect(url.place == .unusable(.malformed))
        #expect(url == base.url(whole: text))
        let failure = try #require(url.failure)
        #expect(failure.reason == .invalidRequest)
        #expect(failure.message.contains("outside ASCII"))
        #expect(failure.remedy?.contains("xn--") == true)
    }

    @Test("A missing URL is one resource whose loads fail")
    func noURL() {
        #expect(base.url(whole: nil) == base.url(whole: nil))
        #expect(base.url(whole: nil) != base.url(whole: ""))
        #expect(base.url(whole: nil).failure?.reason == .invalidRequest)
        #expect(base.url(whole: nil).description == "(no URL)")
    }

    @Test("A URL of more than 64 KiB is kept in a short form, and its loads fail")
    func tooLong() {
        let long = String(repeating: "a", count: ResourceURL.maximumBytes)
        let urls = [
            base.url(path: long), base.url(path: long + "b"), base.url(whole: "https://example.com/" + long),
            base.child(of: base.url(path: "x"), long), base.url(base.url(path: "x"), setting: ["a": long]),
            base.url(path: String(repeating: "é", count: 12_000)),
        ]
        for url in urls {
            #expect(url.place == .unusable(.tooLong))
            #expect(url.text.utf8.count < 2048)
            #expect(url.failure?.reason == .invalidRequest)
        }
        #expect(urls[0] != urls[1])
        let fitting = String(repeating: "a", count: ResourceURL.maximumBytes - base.prefix.utf8.count)
        #expect(base.url(path: fitting).isBelowBase)
        #expect(base.url(path: fitting + "a").place == .unusable(.tooLong))
    }

    @Test("A description shows neither queries nor credentials")
    func description() {
        #expect(base.url(whole: "https://example.com/v1/x?token=secret").description == "https://example.com/v1/x?…")
        #expect(base.url(path: "a/../b").description == "https://example.com/v1/a/../b")
        #expect(base.url(whole: "https://u:secret@example.com/").description == "…")
        #expect(base.url(whole: "nonsense?secret").description == "nonsense")
        #expect(ResourceBase.missing.url(path: "users/7").description == "/users/7")
    }
}
