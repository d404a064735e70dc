import EssentialsTransport
import TestTools
import Testing

@Suite struct HostPatternTests {
    @Test(
        "A pattern is parsed as its breadth and its normalized host",
        arguments: [
            ("example.com", HostPattern.Breadth.exact, "example.com"), ("*.example.com", .oneLabel, "example.com"),
            ("**.example.com", .anyDepth, "example.com"), ("API.Example.COM.", .exact, "api.example.com"),
            ("*.Example.COM.", .oneLabel, "example.com"), ("**.EXAMPLE.com.", .anyDepth, "example.com"),
            ("localhost", .exact, "localhost"), ("*.localhost", .oneLabel, "localhost"), ("*.com", .oneLabel, "com"),
            ("XN--MNCHEN-3YA.de", .exact, "xn--mnchen-3ya.de"), ("127.0.0.1", .exact, "127.0.0.1"),
            ("[2001:DB8::0:1]", .exact, "2001:db8::1"), ("2001:db8:0::1", .exact, "2001:db8::1"),
            ("_srv.example.com", .exact, "_srv.example.com"), ("*.1.example", .oneLabel, "1.example"),
        ])
    func reading(text: String, breadth: HostPattern.Breadth, host: String) throws {
        let pattern = try HostPattern(text)
        #expect(pattern.breadth == breadth)
        #expect(pattern.host.text == host)
        #expect(try HostPattern(pattern.description) == pattern)
    }

    @Test("A pattern's description is its normalized form")
    func description() throws {
        #expect(try HostPattern("API.example.com.").description == "api.example.com")
        #expect(try HostPattern("*.API.example.com").description == "*.api.example.com")
        #expect(try HostPattern("**.API.example.com").description == "**.api.example.com")
        #expect(try HostPattern("2001:DB8::1").description == "[2001:db8::1]")
    }

    @Test("Spellings of one pattern are equal, and patterns of different breadth are not")
    func equality() throws {
        #expect(try HostPattern("*.EXAMPLE.com.") == HostPattern("*.example.com"))
        #expect(try HostPattern("*.EXAMPLE.com.").hashValue == HostPattern("*.example.com").hashValue)
        #expect(try HostPattern("::1") == HostPattern("[0:0:0:0:0:0:0:1]"))
        let same = try Set(["example.com", "*.example.com", "**.example.com"].map { try HostPattern($0) })
        #expect(same.count == 3)
    }

    @Test(
        "An exact pattern matches only its host",
        arguments: [
            ("api.example.com", true), ("API.EXAMPLE.COM", true), ("api.example.com.", true), ("example.com", false),
            ("a.api.example.com", false), ("xapi.example.com", false), ("api.example.com.evil.test", false),
            ("api-example.com", false),
        ])
    func exact(host: String, isMatch: Bool) throws {
        #expect(try HostPattern("Api.Example.com").matches(HostName(host)) == isMatch)
    }

    @Test(
        "The prefix “*.” matches exactly one more label",
        arguments: [
            ("a.example.com", true), ("A.Example.Com.", true), ("xn--mnchen-3ya.example.com", true),
            ("example.com", false), ("b.a.example.com", false), ("aexample.com", false), ("a.example.org", false),
            ("a.example.com.evil.test", false), ("com", false),
        ])
    func oneLabel(host: String, isMatch: Bool) throws {
        #expect(try HostPattern("*.example.com").matches(HostName(host)) == isMatch)
    }

    @Test(
        "The prefix “**.” matches the host and all names below it",
        arguments: [
            ("example.com", true), ("EXAMPLE.com.", true), ("a.example.com", true), ("c.b.a.example.com", true),
            ("aexample.com", false), ("com", false), ("example.com.evil.test", false), ("a.example.org", false),
        ])
    func anyDepth(host: String, isMatch: Bool) throws {
        #expect(try HostPattern("**.example.com").matches(HostName(host)) == isMatch)
    }

    @Test("An address is matched in any spelling, but never by an asterisk")
    func addresses() throws {
        #expect(try HostPattern("127.0.0.1").matches(HostName("127.0.0.1")))
        #expect(try HostPattern("::1").matches(HostName("[0:0::1]")))
        #expect(try !HostPattern("127.0.0.1").matches(HostName("127.0.0.2")))
        // “1.com” is not the end of an address, and an address is not the end of a name.
        #expect(try !HostPattern("**.com").matches(HostName("1.2.3.4")))
        #expect(try !HostPattern("**.localhost").matches(HostName("::1")))
    }

    @Test(
        "An asterisk that is not a leading label is refused with a correct example",
        arguments: [
            "*", "**", "***.example.com", "a*.example.com", "*a.example.com", "a.*.example.com", "*.*.example.com",
            "**.*.example.com", "*.**.example.com", "example.*", "example.com*", "* .example.com", "*example.com",
        ])
    func misplaced(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostPattern(text) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.remedy?.contains("“*.example.com”") == true)
        #expect(failure.message.contains(text))
    }

    @Test(
        "The text after the asterisks must be a host",
        arguments: [
            "", "*.", "**.", ".", "*..", "*..example.com", "**..example.com", "a..b", ".example.com", "example com",
            "https://example.com", "example.com:443", "example.com/", "münchen.de", "*.münchen.de", "0x7f.1", "127.1",
            "*.0x7f", "[::1", "\u{0}", "a\nb", "*.\u{301}a", "*\u{301}.a", "＊.example.com",
        ])
    func noHost(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostPattern(text) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.remedy?.isEmpty == false)
        #expect(failure.message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(
        "An asterisk before an address is refused",
        arguments: ["*.127.0.0.1", "**.127.0.0.1", "*.[::1]", "**.::1", "*.2001:db8::1"])
    func starredAddress(text: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostPattern(text) }
        #expect(failure.reason == .invalidPolicy)
        #expect(failure.remedy == "List each address.")
    }

    @Test("Parsing never traps, and accepted patterns are parsed the same again", arguments: 0..<5)
    func randomText(seed: Int) throws {
        var numbers = SeededNumbers(state: UInt64(seed))
        let pieces = [
            "*", "**", "*.", "**.", ".", "..", "a", "example", "com", "-", "_", "xn--", "1", "127.0.0.1", "0x7f", "::1",
            "[", "]", ":", "A", "é", "\u{301}", "日", " ", "\u{0}", "\r\n", "/", "@", "?", "%2e",
            String(repeating: "a", count: 63), String(repeating: "b.", count: 126), "😀",
        ]
        var accepted = 0
        for _ in 0..<2_000 {
            let text = numbers.text(of: pieces, upTo: 6)
            do {
                let pattern = try HostPattern(text)
                accepted += 1
                #expect(try HostPattern(pattern.description) == pattern, "\(text.debugDescription)")
                #expect(pattern.matches(pattern.host) == (pattern.breadth != .oneLabel), "\(text.debugDescription)")
                #expect(!pattern.host.text.contains("*"), "\(text.debugDescription)")
            } catch {
                #expect(error.reason == .invalidPolicy, "\(text.debugDescription)")
            }
        }
        #expect(accepted > 50)
    }
}
