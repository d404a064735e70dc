import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct CookieRulesTests {
    // MARK: Name and value

    @Test(
        "Name and value are separated at the first equals sign and trimmed",
        arguments: [
            ("foo=bar", "foo", "bar"), ("foo=bar=baz", "foo", "bar=baz"), (" foo\t=  bar ;x", "foo", "bar"),
            ("foo=", "foo", ""), ("foo= ; Path=/", "foo", ""), ("foo=\"a b\"", "foo", "\"a b\""),
            ("foo=a\tb", "foo", "a\tb"), ("f o o=b,c", "f o o", "b,c"), ("Foo=bar", "Foo", "bar"),
        ])
    func pairs(line: String, name: String, value: String) throws {
        let cookie = try readCookie(line).get()
        #expect(cookie.name == name)
        #expect(cookie.value == value)
    }

    @Test(
        "A line without an equals sign or without a name is ignored",
        arguments: ["", "foo", ";", "=bar", " =bar", "=", "foo; Path=/; a=b", ";foo=bar", "=__Host-x=1; Secure"])
    func nameless(line: String) throws { #expect(try readCookie(line).refusal == .syntax) }

    @Test("Values outside ASCII come back byte for byte, also if they are not UTF-8")
    func bytes() throws {
        let value: [UInt8] = [0xff, 0xfe, 0x80, 0xe9, 0xc3, 0xa9]
        let cookie = try readCookie(Array("n\u{e9}=".utf8) + value + Array("; Path=/".utf8)).get()
        #expect(cookie.valueBytes == value)
        #expect(cookie.nameBytes == Array("n\u{e9}".utf8))
        var machine = CookieMachine()
        machine.store(cookie, isSecureOrigin: true, now: cookieTime)
        let found = machine.field(for: try RequestURL("https://www.example.com/"), now: cookieTime)
        let field = try #require(found)
        #expect(field.bytes == Array("n\u{e9}=".utf8) + value)
        var fields = HTTPFields()
        field.add(to: &fields)
        let sent = try #require(fields.first).withUnsafeBytesOfValue { Array($0) }
        #expect(sent == field.bytes)
    }

    @Test(
        "A line with a control character is ignored, wherever it is",
        arguments: (0...0x1f).filter { $0 != 9 } + [0x7f] as [UInt8])
    func controls(byte: UInt8) throws {
        for place in ["fo?o=bar", "foo=b?ar", "foo=bar; Pa?th=/", "foo=bar; x=?"] {
            let line = place.utf8.map { $0 == UInt8(ascii: "?") ? byte : $0 }
            #expect(try readCookie(line).refusal == .syntax)
        }
    }

    @Test("Name and value have at most 4,096 bytes together")
    func size() throws {
        let value = String(repeating: "v", count: 4092)
        #expect(try readCookie("name=\(value)").cookie?.value == value)
        #expect(try readCookie("name=\(value)v").refusal == .size)
        #expect(try readCookie("names=\(value)").refusal == .size)
    }

    @Test("An attribute of more than 1,024 bytes is ignored, and the others count")
    func attributeSize() throws {
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(try readCookie("a=b; Path=\(path)").cookie?.path == path)
        let cookie = try readCookie("a=b; Path=\(path)p; Secure").get()
        #expect(cookie.path == "/a")
        #expect(cookie.isSecure)
    }

    @Test("The descriptions and mirrors of cookies and fields contain no value")
    func redaction() throws {
        let cookie = try readCookie("sid=s3cret; Path=/; Max-Age=9").get()
        var machine = CookieMachine()
        machine.store(cookie, isSecureOrigin: true, now: cookieTime)
        let found = machine.field(for: try RequestURL("https://www.example.com/"), now: cookieTime)
        let field = try #require(found)
        for text in ["\(cookie)", String(reflecting: cookie), dumped(cookie), "\(field)", dumped(field)] {
            #expect(!text.contains("s3cret") && !text.contains("115, 51"))
        }
        #expect("\(cookie)" == "sid=… for www.example.com/")
        #expect("\(field)" == "1 cookies, 10 bytes")
    }

    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    // MARK: Attributes

    @Test(
        "Attribute names are compared without case, and unknown attributes are ignored",
        arguments: ["Secure", "SECURE", " secure ", "sEcUrE=no", "x=y; Secure; z"])
    func secure(attributes: String) throws { #expect(try readCookie("a=b;" + attributes).get().isSecure) }

    @Test(
        "HttpOnly and SameSite are kept",
        arguments: [
            ("a=b", false, nil), ("a=b; HttpOnly", true, nil), ("a=b; samesite=LAX", false, Cookie.SameSite.lax),
            ("a=b; SameSite=Strict", false, .strict), ("a=b; SameSite=None", false, .unrestricted),
            ("a=b; SameSite=Lax; SameSite=x", false, nil),
        ] as [(String, Bool, Cookie.SameSite?)])
    func flags(line: String, isHTTPOnly: Bool, sameSite: Cookie.SameSite?) throws {
        let cookie = try readCookie(line).get()
        #expect(cookie.isHTTPOnly == isHTTPOnly)
        #expect(cookie.sameSite == sameSite)
    }

    @Test("SameSite does not change whether a cookie is sent", arguments: ["Strict", "Lax", "None"])
    func sameSiteIsInert(value: String) throws {
        var machine = CookieMachine()
        try machine.store("a=b; SameSite=\(value)", from: "http://a.example.com/")
        #expect(try machine.text(for: "http://a.example.com/") == "a=b")
    }

    @Test(
        "Max-Age beats Expires, zero or less deletes, and invalid values are ignored",
        arguments: [
            ("Max-Age=10", 10.0), ("Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 10),
            ("Expires=Thu, 01 Jan 2026 00:00:20 GMT", 20),
            ("Expires=Thu, 01 Jan 2026 00:00:20 GMT; Max-Age=10", 10),
            ("Max-Age=x; Expires=Thu, 01 Jan 2026 00:00:20 GMT", 20), ("Max-Age=10; Max-Age=30", 30),
            ("Max-Age=10; Max-Age=", 10), ("Expires=Thu, 01 Jan 2026 00:00:20 GMT; Expires=x", 20),
            ("Max-Age=34560000", 34_560_000), ("Max-Age=34560001", 34_560_000),
            ("Max-Age=99999999999999999999999999", 34_560_000), ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 34_560_000),
            ("Max-Age=0", nil), ("Max-Age=-1", nil), ("Max-Age=-99999999999999999999", nil),
            ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", nil), ("Expires=Thu, 01 Jan 2026 00:00:00 GMT", nil),
        ] as [(String, Double?)])
    func expiry(attributes: String, lifetime: Double?) throws {
        let cookie = try readCookie("a=b; " + attributes).get()
        var machine = CookieMachine()
        try machine.store("a=old", from: "https://www.example.com/a/b")
        machine.store(cookie, isSecureOrigin: true, now: cookieTime)
        guard let lifetime else {
            #expect(machine.count == 0)
            return
        }
        #expect(cookie.expires == cookieTime.addingTimeInterval(lifetime))
        #expect(try machine.text(for: "https://www.example.com/a/b") == "a=b")
    }

    @Test(
        "A cookie without a valid lifetime is a session cookie",
        arguments: ["", "Max-Age=-", "Max-Age=1x", "Expires=x"])
    func session(attributes: String) throws { #expect(try readCookie("a=b; " + attributes).get().expires == nil) }

    // MARK: Domain

    @Test(
        "Domain is compared in lower case after one leading dot, and the last one counts",
        arguments: [
            ("", "www.example.com", true), ("Domain=example.com", "example.com", false),
            ("Domain=.example.com", "example.com", false), ("Domain=.EXAMPLE.com", "example.com", false),
            ("Domain=www.example.com", "www.example.com", false), ("Domain=", "www.example.com", true),
            ("Domain", "www.example.com", true), ("Domain=.", "www.example.com", true),
            ("Domain=other.example; Domain=example.com", "example.com", false),
            ("Domain=example.com; Domain=", "example.com", false),
        ])
    func domains(attributes: String, domain: String, isHostOnly: Bool) throws {
        let cookie = try readCookie("a=b; " + attributes).get()
        #expect(cookie.domain == domain)
        #expect(cookie.isHostOnly == isHostOnly)
    }

    @Test(
        "A Domain that is neither the host nor above it is refused",
        arguments: [
            "other.example", "ww.example.com", "a.www.example.com", "xample.com", "example.com.", "..example.com",
            "\"example.com\"", "example.com:443", "www.example.com/", "ex\u{e4}mple.com", "*.example.com",
            ".com.example",
        ])
    func foreignDomains(domain: String) throws {
        #expect(try readCookie("a=b; Domain=\(domain)").refusal == .otherDomain)
    }

    @Test(
        "A Domain that is a public suffix is refused, in any case",
        arguments: [
            ("https://www.example.com/", "com"), ("https://www.example.com/", ".COM"),
            ("https://shop.example.co.uk/", "co.uk"), ("https://shop.example.co.uk/", "co.UK"),
            ("https://a.b.ck/", "b.ck"), ("https://x.xn--55qx5d.cn/", "xn--55qx5d.cn"),
        ])
    func publicSuffixes(url: String, domain: String) throws {
        #expect(try readCookie("a=b; Domain=\(domain)", from: url).refusal == .publicSuffix)
    }

    @Test(
        "A public suffix that is the host itself makes the cookie host-only",
        arguments: [
            ("https://localhost/", "localhost"), ("https://co.uk/", "CO.uk"), ("https://com/", ".com"),
            ("https://b.ck/", "b.ck"),
        ])
    func ownSuffix(url: String, domain: String) throws {
        #expect(try readCookie("a=b; Domain=\(domain)", from: url).get().isHostOnly)
    }

    @Test("An exception of the list is no public suffix")
    func exceptions() throws {
        #expect(try readCookie("a=b; Domain=www.ck", from: "https://x.www.ck/").get().domain == "www.ck")
    }

    @Test(
        "Cookies of addresses are host-only",
        arguments: [
            ("http://127.0.0.1/", "", "127.0.0.1"), ("http://127.0.0.1/", "127.0.0.1", "127.0.0.1"),
            ("http://127.0.0.1/", "0.0.1", nil), ("http://127.0.0.1/", "1", nil), ("http://[::1]/", "", "::1"),
            ("http://[::1]/", "[::1]", "::1"), ("http://[::1]/", "::1", "::1"), ("http://[::1]/", "1", nil),
        ] as [(String, String, String?)])
    func addresses(url: String, domain: String, stored: String?) throws {
        let result = try readCookie("a=b; Domain=\(domain)", from: url)
        #expect(result.cookie?.domain == stored)
        #expect(result.cookie?.isHostOnly ?? true)
        #expect(result.refusal == (stored == nil ? .otherDomain : nil))
    }

    @Test(
        "A host matches a domain in whole labels, and an address only itself",
        arguments: [
            ("example.com", "example.com", true), ("a.example.com", "example.com", true),
            ("a.b.example.com", "example.com", true), ("example.com", "a.example.com", false),
            ("badexample.com", "example.com", false), ("example.com", "com", true), ("1.2.3.4", "1.2.3.4", true),
            ("1.2.3.4", "3.4", false), ("example.com", "", false),
        ])
    func domainMatch(host: String, domain: String, matches: Bool) throws {
        #expect(CookieRules.domain(domain, matches: try HostName(host)) == matches)
    }

    // MARK: Path

    @Test(
        "The default path is the request's path up to its last slash",
        arguments: [
            ("https://a.example", "/"), ("https://a.example/", "/"), ("https://a.example/a", "/"),
            ("https://a.example/a/", "/a"), ("https://a.example/a/b", "/a"), ("https://a.example/a/b/", "/a/b"),
            ("https://a.example/a%2Fb/C", "/a%2Fb"), ("https://a.example/a?b/c", "/"),
            ("https://a.example/a//b", "/a/"),
        ])
    func defaultPath(url: String, path: String) throws {
        #expect(CookieRules.defaultPath(of: try RequestURL(url)) == path)
        #expect(try readCookie("a=b", from: url).get().path == path)
        #expect(try readCookie("a=b; Path=relative", from: url).get().path == path)
        #expect(try readCookie("a=b; Path=", from: url).get().path == path)
    }

    @Test("The last Path counts, undecoded and with its case")
    func lastPath() throws {
        #expect(try readCookie("a=b; Path=/x; path=/Y%41").get().path == "/Y%41")
        #expect(try readCookie("a=b; Path=/x; path=y").get().path == "/a")
    }

    @Test(
        "A path matches in whole segments, undecoded and with its case",
        arguments: [
            ("/", "/", true), ("/", "/a/b", true), ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/b", true),
            ("/a", "/ab", false), ("/a/", "/a", false), ("/a/", "/a/b", true), ("/a/b", "/a", false),
            ("/A", "/a", false), ("/a%62", "/ab", false), ("/%61", "/%61/x", true), ("/a", "/b/a", false),
        ])
    func pathMatch(path: String, request: String, matches: Bool) {
        #expect(CookieRules.path(path, matches: request[...]) == matches)
    }

    // MARK: Security

    @Test("A secure cookie from http is ignored whole")
    func secureOverPlaintext() throws {
        #expect(try readCookie("a=b; Secure", from: "http://www.example.com/").refusal == .insecureOrigin)
        var machine = CookieMachine()
        try machine.store("a=old", from: "http://www.example.com/")
        try machine.store("a=; Secure; Max-Age=0", from: "http://www.example.com/")
        #expect(try machine.text(for: "http://www.example.com/") == "a=old")
    }

    @Test(
        "Names with a prefix are accepted only with the properties that it promises",
        arguments: [
            ("__Secure-a=b; Secure", true), ("__Secure-a=b", false), ("__SECURE-a=b", false),
            ("__secure-a=b; secure; Domain=example.com", true), ("__Host-a=b; Secure; Path=/", true),
            ("__Host-a=b; Secure", false), ("__Host-a=b; Path=/", false),
            ("__Host-a=b; Secure; Path=/; Domain=www.example.com", false), ("__hOsT-a=b; Secure; Path=/a", false),
            ("__host-a=b", false), ("__Host-a=b; Secure; Path=/; Domain=", true), ("__Hosta=b", true), ("__a=b", true),
            ("x__Host-a=b", true),
        ])
    func prefixes(line: String, isAccepted: Bool) throws {
        #expect(try readCookie(line).refusal == (isAccepted ? nil : .prefix))
    }

    @Test(
        "A cookie with a prefix does not come from http",
        arguments: ["__Secure-a=b; Secure", "__Host-a=b; Secure; Path=/"])
    func prefixesOverPlaintext(line: String) throws {
        #expect(try readCookie(line, from: "http://www.example.com/").refusal == .insecureOrigin)
    }
}
