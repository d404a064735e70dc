import Testing

@testable import EssentialsHTTP

@Suite struct RedirectLocationTests {
    private func resolve(_ reference: String, _ base: String) throws -> String {
        try RedirectLocation.resolve(Array(reference.utf8), against: RequestURL(base)).description
    }

    private func failure(_ reference: String, _ base: String = "https://example.com/a/b?c") throws -> RequestFailure {
        try #require(throws: RequestFailure.self) { try resolve(reference, base) }
    }

    @Test(
        "References are resolved as in RFC 3986, 5.4.1, without their fragments",
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"),
            ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
        ])
    func normal(reference: String, target: String) throws {
        #expect(try resolve(reference, "http://a/b/c/d;p?q") == "http://a" + target)
    }

    @Test(
        "Unusual references are resolved as in RFC 3986, 5.4.2, without their fragments",
        arguments: [
            ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
            (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/./x", "/b/c/g"), ("g#s/../x", "/b/c/g"),
        ])
    func abnormal(reference: String, target: String) throws {
        #expect(try resolve(reference, "http://a/b/c/d;p?q") == "http://a" + target)
    }

    @Test(
        "A reference with a host replaces the base's, and one without a scheme keeps the base's scheme",
        arguments: [
            ("//g", "https://g/"), ("//g?y", "https://g/?y"), ("//g/x/../y", "https://g/y"), ("//G:443", "https://g/"),
            ("//g:8443/x", "https://g:8443/x"), ("//[::1]:81/x", "https://[::1]:81/x"), ("http://g", "http://g/"),
            ("HTTP://G/x", "http://g/x"), ("https://g#s", "https://g/"), ("https://g:/", "https://g/"),
            ("https://example.com/x", "https://example.com/x"), ("http://g?u=http://h", "http://g/?u=http://h"),
        ])
    func otherHost(reference: String, expected: String) throws {
        #expect(try resolve(reference, "https://example.com/a/b?c") == expected)
    }

    @Test(
        "A path that resembles another host stays on the origin",
        arguments: [
            ("/\\evil.example", "/%5Cevil.example"), ("\\\\evil.example", "/a/%5C%5Cevil.example"),
            ("/.//evil.example", "//evil.example"), ("..//evil.example/x", "//evil.example/x"), ("./u:p", "/a/u:p"),
            ("@evil.example", "/a/@evil.example"), ("?u=//evil.example", "/a/b?u=//evil.example"),
            ("x?u=http://h/", "/a/x?u=http://h/"), ("x/http://h", "/a/x/http://h"), ("/http://h", "/http://h"),
        ])
    func staysOnOrigin(reference: String, target: String) throws {
        #expect(try resolve(reference, "https://example.com/a/b?c") == "https://example.com" + target)
    }

    @Test(
        "A reference is merged with a base that has a short or unusual path",
        arguments: [
            ("https://a", "g", "/g"), ("https://a?q", "g", "/g"), ("https://a?q", "", "/?q"),
            ("https://a", "?y", "/?y"),
            ("https://a/x?q", "?", "/x?"), ("https://a/x?q/r/s", "g", "/g"), ("https://a/x/", "g", "/x/g"),
            ("https://a//", "g", "//g"), ("https://a/x?", "#s", "/x?"), ("https://a/%C3%A9/b", "c", "/%C3%A9/c"),
        ])
    func oddBases(base: String, reference: String, target: String) throws {
        #expect(try resolve(reference, base) == "https://a" + target)
    }

    @Test(
        "Bytes that a URL cannot contain are percent-encoded in any charset",
        arguments: [
            (Array("/é".utf8), "/%C3%A9"), ([0x2f, 0xe9], "/%E9"), (Array("/a b?c d".utf8), "/a%20b?c%20d"),
            (Array("/?é".utf8), "/?%C3%A9"), ([0x3f, 0xe9, 0xff], "/a/b?%E9%FF"), ([0xe9], "/a/%E9"),
            ([0x2f, 0x80, 0x2e, 0x2e], "/%80.."), (Array("/%c3%a9%2F".utf8), "/%c3%a9%2F"),
            (Array("/?\u{301}".utf8), "/?%CC%81"), (Array("/\u{301}x".utf8), "/%CC%81x"),
            (Array("/x#é".utf8), "/x"), (Array("/\"<>{}|^`".utf8), "/%22%3C%3E%7B%7D%7C%5E%60"),
        ] as [([UInt8], String)])
    func rawBytes(reference: [UInt8], target: String) throws {
        let url = try RedirectLocation.resolve(reference, against: RequestURL("https://example.com/a/b?c"))
        #expect(url.target == target)
    }

    @Test(
        "A reference that is not a URL violates the protocol",
        arguments: [
            "http:g", "https:/g", "http:", "https:?q", "//", "///g", "https:///g", "//:80/", "https://", ":g", "1a:b",
            "a b:c", "é:g", "//a b/", "//exämple.com/", "https://münchen.de/", "//a%62/", "//a\\b/", "//a..b/",
            "//a:0/", "//a:65536/", "//a:x/", "//[::1/", "//0x7f.1/", "//2130706433/", "/%", "/%g1", "?100%", "/a%2",
            "/a\tb", "/a\u{0}b", "?a\nb", "//a\r\nb/",
        ])
    func noURL(reference: String) throws {
        let failure = try failure(reference)
        #expect(failure.reason == .protocolViolation)
        #expect(failure.phase == .receiving)
        #expect(failure.host == "example.com")
        #expect(failure.remedy?.contains("Location") == true)
    }

    @Test(
        "Another scheme is refused with a message that names it",
        arguments: [
            ("ftp://g/", "ftp"), ("g:h", "g"), ("javascript:alert(1)", "javascript"), ("file:///etc/passwd", "file"),
            ("data:text/plain,x", "data"), ("ws://g/", "ws"), ("example.com:80/x", "example.com"),
        ])
    func scheme(reference: String, name: String) throws {
        let failure = try failure(reference)
        #expect(failure.reason == .redirectRefused)
        #expect(failure.message.contains("“\(name)”"))
        #expect(failure.host == "example.com")
    }

    @Test(
        "Credentials are refused", arguments: ["//u@h/", "https://u:p@h/x", "http://@h", "//u:p@", "https://h\\@g/"])
    func credentials(reference: String) throws {
        let failure = try failure(reference)
        #expect(failure.reason == .redirectRefused)
        #expect(failure.message.contains("credentials"))
    }

    @Test(
        "No failure contains a query, credentials, or a path after an invalid host",
        arguments: [
            "secret:secret@h/", "https://u:secret@h/?secret", "//h h/?secret", "//h h/#secret", "/?secret%",
            "ftp://h/?secret", "http:?secret", "secret@h:x/", "a b:secret", "//secret@h:0/", "x%?secret", "?a=secret%2",
        ])
    func noSecrets(reference: String) throws {
        #expect(!(try failure(reference, "https://example.com/?secret").description.contains("secret")))
    }

    @Test("No bytes crash the parser, and every accepted result is a URL", arguments: 0..<8)
    func randomBytes(seed: Int) throws {
        var state = UInt64(seed) &+ 1
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        let base = try RequestURL("https://example.com/a/b?c")
        let pieces = [
            "http", "https", ":", "/", "//", "?", "#", "@", "[", "]", "%", "%2e", "..", ".", "::1", "g", ".com", "80",
            " ", "\t", "\u{0}", "é", "\u{301}", "\\",
        ]
        var accepted = 0
        for _ in 0..<3_000 {
            var bytes: [UInt8] = []
            for _ in 0..<next(10) { bytes += Array(pieces[next(pieces.count)].utf8) }
            if next(4) == 0 { bytes += (0..<next(12)).map { _ in UInt8(next(256)) } }
            guard let url = try? RedirectLocation.resolve(bytes, against: base) else { continue }
            accepted += 1
            #expect(try RequestURL(url.description) == url, "\(bytes)")
            #expect(url.description.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "\(bytes)")
        }
        #expect(accepted > 100)
    }
}
