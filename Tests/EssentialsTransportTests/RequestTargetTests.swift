import Testing

@testable import EssentialsTransport

@Suite struct RequestTargetTests {
    @Test(
        "Dot segments are removed as in RFC 3986",
        arguments: [
            // Section 5.2.4.
            ("/a/b/c/./../../g", "/a/g"), ("mid/content=5/../6", "/mid/6"),
            // Section 5.4, merged with the base path /b/c/.
            ("/b/c/g", "/b/c/g"), ("/b/c/./g", "/b/c/g"), ("/b/c/g/", "/b/c/g/"), ("/b/c/.", "/b/c/"),
            ("/b/c/./", "/b/c/"), ("/b/c/..", "/b/"), ("/b/c/../", "/b/"), ("/b/c/../g", "/b/g"),
            ("/b/c/../..", "/"), ("/b/c/../../", "/"), ("/b/c/../../g", "/g"), ("/b/c/../../../g", "/g"),
            ("/b/c/../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("/b/c/g.", "/b/c/g."),
            ("/b/c/.g", "/b/c/.g"), ("/b/c/g..", "/b/c/g.."), ("/b/c/..g", "/b/c/..g"), ("/b/c/./../g", "/b/g"),
            ("/b/c/./g/.", "/b/c/g/"), ("/b/c/g/./h", "/b/c/g/h"), ("/b/c/g/../h", "/b/c/h"),
            ("/b/c/g;x=1/./y", "/b/c/g;x=1/y"), ("/b/c/g;x=1/../y", "/b/c/y"),
            // An escaped dot is a dot.
            ("/a/%2e%2e/b", "/b"), ("/a/%2E%2e/b", "/b"), ("/a/.%2e/b", "/b"), ("/a/%2e./b", "/b"),
            ("/a/%2e/b", "/a/b"),
            ("/a/%2E", "/a/"), ("/a/%2e%2e", "/"), ("/a/%2e%2e%2e", "/a/%2e%2e%2e"),
            ("/a/%252e%252e/b", "/a/%252e%252e/b"),
            // Empty segments are kept.
            ("//..", "/"), ("/a//../b", "/a/b"), ("/..//a", "//a"), ("", "/"), ("/", "/"), ("..", "/"), (".", "/"),
        ])
    func dotSegments(path: String, expected: String) throws {
        #expect(try RequestTarget.read(path[...]) == expected)
    }

    @Test("Dots in a query are kept", arguments: ["/a?b/../c", "/a?..", "/a?x=./y", "/a?%2e%2e/"])
    func dotsInQuery(target: String) throws {
        #expect(try RequestTarget.read(target[...]) == target)
    }

    @Test(
        "A fragment is dropped even if a combining mark follows its delimiter",
        arguments: [
            ("/a#b", "/a"), ("/a?b#c", "/a?b"), ("/a#b?c", "/a"), ("#", "/"), ("/#/../x", "/"), ("?a#", "/?a"),
            ("/a#%", "/a"), ("/a#\r\nb", "/a"), ("/a#\u{301}b", "/a"), ("/a?b#\u{fe0f}", "/a?b"),
        ])
    func fragment(text: String, expected: String) throws {
        #expect(try RequestTarget.read(text[...]) == expected)
    }

    @Test("A query begins at its delimiter even if a combining mark follows")
    func combiningMarkAfterQuestionMark() throws {
        #expect(try RequestTarget.read("/a?\u{301}/../b") == "/a?%CC%81/../b")
    }

    @Test(
        "Characters that a request line cannot contain are percent-encoded, and existing escapes are kept",
        arguments: [
            ("/a b", "/a%20b"), ("/é", "/%C3%A9"), ("/日本", "/%E6%97%A5%E6%9C%AC"), ("/a%20b", "/a%20b"),
            ("/%c3%a9", "/%c3%a9"), ("/%2F", "/%2F"), ("/?a b=c d", "/?a%20b=c%20d"),
            ("/\"<>\\^`{|}", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("/?\"<>\\^`{|}", "/?%22%3C%3E%5C%5E%60%7B%7C%7D"), ("/-._~!$&'()*+,;=:@", "/-._~!$&'()*+,;=:@"),
            ("/?a[]=1&b[c]=2", "/?a[]=1&b[c]=2"), ("/a[1]/b]?c[]=2", "/a%5B1%5D/b%5D?c[]=2"),
            ("/a%5b1%5D", "/a%5b1%5D"), ("/?a=%25", "/?a=%25"), ("/😀", "/%F0%9F%98%80"), ("/a+b", "/a+b"),
        ])
    func escapes(text: String, expected: String) throws {
        #expect(try RequestTarget.read(text[...]) == expected)
    }

    @Test("Encoding a text changes everything except the unreserved characters")
    func encoded() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(RequestTarget.encoded(unreserved) == unreserved)
        for byte in UInt8(0)...127 where !unreserved.utf8.contains(byte) {
            let digits = String(byte, radix: 16, uppercase: true)
            #expect(RequestTarget.encoded(String(UnicodeScalar(byte))) == "%" + (byte < 16 ? "0" : "") + digits)
        }
        #expect(RequestTarget.encoded("é 😀") == "%C3%A9%20%F0%9F%98%80")
        #expect(RequestTarget.encoded("") == "")
    }
}
