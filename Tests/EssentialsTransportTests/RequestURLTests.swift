import EssentialsTransport
import TestTools
import Testing

@Suite struct RequestURLTests {
    @Test(
        "A URL is parsed into origin, path and query",
        arguments: [
            ("https://example.com", "https://example.com", "/", String?.none),
            ("http://example.com/", "http://example.com", "/", nil),
            ("https://example.com?", "https://example.com", "/", ""),
            ("https://example.com?a=1", "https://example.com", "/", "a=1"),
            ("https://example.com/a/b?x=1&y=2", "https://example.com", "/a/b", "x=1&y=2"),
            ("HTTPS://API.Example.com:443/A", "https://api.example.com", "/A", nil),
            ("http://example.com:8080/a", "http://example.com:8080", "/a", nil),
            ("http://example.com:/a", "http://example.com", "/a", nil),
            ("http://example.com:00080/a", "http://example.com", "/a", nil),
            ("http://127.0.0.1:1/", "http://127.0.0.1:1", "/", nil),
            ("http://[::1]/x", "http://[::1]", "/x", nil), ("http://[0::1]:65535/", "http://[::1]:65535", "/", nil),
            ("https://example.com/a?b=http://c/d", "https://example.com", "/a", "b=http://c/d"),
            ("https://example.com/@a", "https://example.com", "/@a", nil),
            ("https://example.com/a:b", "https://example.com", "/a:b", nil),
            ("https://example.com//a//", "https://example.com", "//a//", nil),
            ("https://example.com/a?b?c", "https://example.com", "/a", "b?c"),
        ])
    func parts(text: String, origin: String, path: String, query: String?) throws {
        let url = try RequestURL(text)
        #expect(url.origin.description == origin)
        #expect(url.path == path)
        #expect(url.query.map(String.init) == query)
        #expect(url.description == origin + url.target)
        #expect(try RequestURL(url.description) == url)
    }

    @Test(
        "A text that is not an absolute URL is refused",
        arguments: [
            "", "example.com", "/a", "//example.com/a", "https:/example.com", "https:example.com", "http:\\\\a",
        ])
    func notAbsolute(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try RequestURL(text) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy == "Write it as https://host/path.")
    }

    @Test(
        "A scheme other than http and https is refused",
        arguments: ["ftp://a/", "file:///etc/passwd", "ws://a", "://a", "httpss://a", " http://a", "javascript://a"])
    func scheme(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try RequestURL(text) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy == "Use http or https.")
    }

    @Test(
        "Credentials in a URL are refused and not shown",
        arguments: [
            "https://user:secret@example.com/", "https://secret@example.com", "https://@example.com",
            "https://a:secret@b@c/", "https://example.com\\@secret/", "user:secret@example.com/a",
            "user:secret@example.com://x", "https://user:secret@\u{301}example.com/", "secret@example.com",
        ])
    func credentials(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try RequestURL(text) }
        #expect(failure.reason == .invalidRequest)
        #expect(!failure.description.contains("secret"))
    }

    @Test(
        "A bad port is refused",
        arguments: ["0", "65536", "99999999999999999999", "-1", "+80", "8a", "80 ", "٨٠", " ", "80:80"])
    func badPort(port: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try RequestURL("http://example.com:\(port)/") }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "A bad host is refused",
        arguments: [
            "http:///a", "http://", "http://:80/", "http://?a", "http://#a", "http://::1/", "http://1::2:80/",
            "http://[::1/", "http://[::1]x/", "http://[fe80::1%25lo]/", "http://a b/", "http://a%62/", "http://a\\b/",
            "http://a..b/", "http://0x7f.1/", "http://a\u{0}b/", "http://a\nb/", "http://münchen.de/",
        ])
    func badHost(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try RequestURL(text) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.description.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test("Every control character in a path or query is refused", arguments: Array(0...0x1f) + [0x7f])
    func controlCharacter(byte: UInt8) throws {
        let character = String(UnicodeScalar(byte))
        for text in [
            "http://a/b\(character)c", "http://a/?b\(character)c", "http://a/\(character)", "http://a/?\(character)",
        ] {
            let failure = try #require(throws: RequestFailure.self) { try RequestURL(text) }
            #expect(failure.reason == .invalidRequest)
            #expect(failure.message.contains("byte \(byte)"))
        }
    }

    @Test(
        "A percent sign that starts no escape is refused",
        arguments: ["/%", "/%1", "/%g0", "/%0g", "/a%", "/?%", "/?a=%2", "/?a=100%&b=1", "/%%20", "/% 20"])
    func badEscape(target: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try RequestURL("https://example.com" + target) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy?.contains("%25") == true)
    }

    @Test(
        "The redacted URL hides the query",
        arguments: [
            ("https://example.com/a", "https://example.com/a"), ("https://example.com/a?", "https://example.com/a?…"),
            ("https://example.com/a?token=secret", "https://example.com/a?…"),
        ])
    func redacted(text: String, expected: String) throws {
        #expect(try RequestURL(text).redacted == expected)
    }

    @Test(
        "A query item is appended with its separator and percent-encoded",
        arguments: [
            ("https://a/b", "n", "v", "/b?n=v"), ("https://a/b?", "n", "v", "/b?n=v"),
            ("https://a/b?x", "n", "v", "/b?x&n=v"), ("https://a/b?x=1&", "n", "v", "/b?x=1&n=v"),
            ("https://a/b#f", "n", "v", "/b?n=v"), ("https://a", "n", "v", "/?n=v"),
            ("https://a/b?x=%26", "n&m", "v=w&#/? +%é", "/b?x=%26&n%26m=v%3Dw%26%23%2F%3F%20%2B%25%C3%A9"),
            ("https://a/b", "", "", "/b?="),
        ])
    func appending(text: String, name: String, value: String, target: String) throws {
        #expect(try RequestURL(text).appending(query: name, value: value).target == target)
    }

    @Test(
        "A path under an origin is parsed like the end of a URL",
        arguments: [
            ("/a?b", "/a?b"), ("a", "/a"), ("", "/"), ("?b", "/?b"), ("/a/../b#c", "/b"), ("//other/a", "//other/a"),
            ("https://other/a", "/https://other/a"), ("@other", "/@other"), (":81", "/:81"),
        ])
    func pathUnderOrigin(path: String, target: String) throws {
        let origin = try RequestURL("https://example.com").origin
        let url = try RequestURL(origin: origin, path: path)
        #expect(url.origin == origin)
        #expect(url.target == target)
    }

    @Test("Parsing never traps, and accepted URLs are valid in a request line", arguments: 0..<8)
    func randomText(seed: Int) throws {
        var generator = SeededNumbers(state: UInt64(seed))
        let pieces = [
            "http", "https", "://", "/", "?", "#", "@", ":", "[", "]", "%", "%2e", "%2", "..", ".", "::1", "1.2.3.4",
            "example", "com", "80", " ", "\t", "\r\n", "\u{0}", "\u{7f}", "\u{301}", "é", "日", "\\", "|", "=", "&",
        ]
        var accepted = 0
        for _ in 0..<4_000 {
            var text = generator.next() % 2 == 0 ? "http://example.com/" : ""
            for _ in 0..<Int.random(in: 0..<12, using: &generator) {
                text += pieces.randomElement(using: &generator) ?? ""
            }
            if generator.next() % 4 == 0 {
                let bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                text += String(decoding: bytes, as: UTF8.self)
            }
            guard let url = try? RequestURL(text) else { continue }
            accepted += 1
            #expect(url.target.hasPrefix("/"), "\(text.debugDescription)")
            #expect(url.description.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "\(text.debugDescription)")
            #expect(!url.target.utf8.contains(UInt8(ascii: "#")), "\(text.debugDescription)")
            #expect(!url.origin.authority.contains("@"), "\(text.debugDescription)")
            #expect(try RequestURL(url.description) == url, "\(text.debugDescription)")
        }
        #expect(accepted > 100)
    }
}
