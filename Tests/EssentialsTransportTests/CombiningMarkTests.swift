import EssentialsTransport
import Testing

/// A delimiter followed by a combining mark is one `Character`, but parsers of bytes still see the delimiter.
@Suite struct CombiningMarkTests {
    @Test("The authority of a URL ends at its slash even before a combining mark")
    func authority() throws {
        let url = try RequestURL("https://example.com/\u{301}a?\u{301}b")
        #expect(url.origin.host.text == "example.com")
        #expect(url.target == "/%CC%81a?%CC%81b")
        #expect(throws: RequestFailure.self) { try RequestURL("https://example.com\u{301}/") }
    }

    @Test("The entries of a bypass list end at a comma even before a combining mark")
    func bypass() throws {
        let bypass = ProxyBypass("a.example,\u{301}x,b.example\r\nc.example")
        for host in ["a.example", "b.example", "c.example"] {
            #expect(bypass.matches(try RequestURL("https://\(host)/").origin), "\(host)")
        }
    }

    @Test("The credentials of a proxy are split at delimiters even before a combining mark")
    func credentials() throws {
        let proxy = try Proxy("http://user:\u{301}word@proxy.example:3128")
        #expect(proxy.user == "user")
        #expect(proxy.password?.utf8.elementsEqual("\u{301}word".utf8) == true)
        #expect(throws: RequestFailure.self) { try Proxy("http://proxy.example:3128/\u{301}") }
    }
}
