import EssentialsTransport
import Testing

@Suite struct HostNameTests {
    @Test(
        "Spellings of one name have the same normalized text",
        arguments: [
            ("example.com", "example.com"), ("API.Example.COM", "api.example.com"), ("example.com.", "example.com"),
            ("localhost", "localhost"), ("a", "a"), ("a_b.example", "a_b.example"), ("-x.example", "-x.example"),
            ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"), ("XN--MNCHEN-3YA.de", "xn--mnchen-3ya.de"),
            ("1.example", "1.example"), ("1.2.3.4a", "1.2.3.4a"), ("0x7g", "0x7g"), ("3com", "3com"),
        ])
    func name(host: String, text: String) throws {
        let name = try HostName(host)
        #expect(name.text == text)
        #expect(!name.isAddress)
        #expect(name.description == text)
        #expect(try HostName(name.text) == name)
    }

    @Test(
        "IPv4 addresses are accepted as four decimal numbers",
        arguments: ["127.0.0.1", "0.0.0.1", "255.255.255.255", "10.0.0.9", "127.0.0.1."])
    func dottedQuad(host: String) throws {
        let name = try HostName(host)
        #expect(name.isAddress)
        #expect(name.text == (host.hasSuffix(".") ? String(host.dropLast()) : host))
    }

    @Test(
        "Texts that some resolvers treat as IPv4 addresses are refused",
        arguments: [
            "0x7f.1", "0x7f000001", "0X7F.0.0.1", "2130706433", "127.1", "127.0.1", "256.1.1.1", "1.2.3.256",
            "01.2.3.4", "1.2.3.04", "0177.0.0.1", "1.2.3.4.5", "0", "0x", "example.1", "example.0x7f", "1.2.3.0x4",
            "127.0.0.0x", "1.2.3.4444", "99999999999999999999",
        ])
    func numericForm(host: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostName(host) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy == "Write the address as four decimal numbers.")
    }

    @Test(
        "A name outside ASCII is refused with the advice to use its xn-- form",
        arguments: [
            "münchen.de", "例え.jp", "exаmple.com", "１２７.0.0.1", "example。com", "a\u{301}.de", "\u{212a}.example",
        ])
    func nonASCII(host: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostName(host) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy?.contains("xn--") == true)
    }

    @Test(
        "Empty hosts and empty labels are refused",
        arguments: ["", ".", "..", ".example.com", "a..b", "example.com..", "..a"])
    func emptyLabel(host: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostName(host) }
        #expect(failure.reason == .invalidRequest)
    }

    @Test("A label may have at most 63 bytes")
    func labelLength() throws {
        let label = String(repeating: "a", count: 63)
        #expect(try HostName("\(label).example").text == "\(label).example")
        #expect(throws: RequestFailure.self) { try HostName("\(label)a.example") }
    }

    @Test("A name may have at most 253 bytes without its trailing dot")
    func nameLength() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(longest.utf8.count == 253)
        #expect(try HostName(longest).text == longest)
        #expect(try HostName(longest + ".").text == longest)
        let failure = try #require(throws: RequestFailure.self) { try HostName(longest + "b") }
        #expect(failure.message.contains("253"))
    }

    @Test(
        "A character that is not allowed in host names is refused",
        arguments: [
            "a b", "a/b", "a?b", "a#b", "a\\b", "a@b", "a%62", "a\u{0}b", "a\r\nb", "a\tb", "a\u{7f}b", "*.example.com",
            "a,b", "a;b", "(a)", "a<b", "a\"b", "a|b", "a^b", "a~b", "a!b", "a$b", "a&b", "a'b", "a+b", "a=b",
        ])
    func badCharacter(host: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostName(host) }
        #expect(failure.reason == .invalidRequest)
    }

    @Test(
        "The message about a refused host shows neither credentials nor invisible characters",
        arguments: [
            "user:secret@example.com", "secret@example.com", "a\r\nb", "a\u{0}b.example", "\u{7f}", "[se\rcret",
            "a\u{202E}b", "a\u{2066}b", "a\u{200F}b", "a\u{9B}31mb", "a\u{2028}b", "a\u{200B}b", "[\u{85}::1]",
        ])
    func redaction(host: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostName(host) }
        #expect(!failure.description.contains("secret"))
        #expect(
            failure.description.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator].contains($0.properties.generalCategory)
            })
    }

    @Test("An IPv6 address is normalized, with and without brackets")
    func addressIPv6() throws {
        let name = try HostName("[2001:DB8::0:1]")
        #expect(name.isAddress)
        #expect(name.text == "2001:db8::1")
        #expect(name.description == "[2001:db8::1]")
        #expect(try HostName("2001:0db8:0:0:0:0:0:1") == name)
        #expect(try HostName(name.description) == name)
    }

    @Test(
        "Zones and malformed IPv6 addresses are refused",
        arguments: [
            "fe80::1%eth0", "[fe80::1%25eth0]", "[fe80::1", "fe80::1]", "[[::1]]", "[]", "[", "[::1]x", "[::1].",
            "[example.com]", "[127.0.0.1]", "localhost:80", "[v1.fe80]", ":",
        ])
    func badIPv6(host: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostName(host) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy?.contains("without a zone") == true)
    }

    @Test(
        "An IPv4-mapped or IPv4-compatible address becomes the IPv4 address",
        arguments: [
            // RFC 4291, sections 2.2 and 2.5.5.
            ("::FFFF:129.144.52.38", "129.144.52.38"), ("0:0:0:0:0:FFFF:129.144.52.38", "129.144.52.38"),
            ("::ffff:127.0.0.1", "127.0.0.1"), ("::ffff:7f00:1", "127.0.0.1"), ("::FFFF:7F00:0001", "127.0.0.1"),
            ("0:0:0:0:0:ffff:7f00:1", "127.0.0.1"), ("0000:0000:0000:0000:0000:ffff:7f00:0001", "127.0.0.1"),
            ("0::ffff:127.0.0.1", "127.0.0.1"), ("::0:ffff:7f00:1", "127.0.0.1"),
            ("::ffff:255.255.255.255", "255.255.255.255"),
            ("::ffff:0.0.0.1", "0.0.0.1"),
        ])
    func embedded(host: String, text: String) throws {
        for spelling in [host, "[\(host)]"] {
            let name = try HostName(spelling)
            #expect(name.text == text)
            #expect(name.description == text)
            #expect(name.isAddress)
            #expect(try name == HostName(text))
        }
    }

    @Test(
        "An IPv6 address that contains no IPv4 address stays an IPv6 address",
        arguments: [
            "::1", "::2", "::ff:ffff", "::fffe:7f00:1", "::1:ffff:7f00:1", "1::ffff:7f00:1", "2002:7f00:1::",
            "64:ff9b::1:7f00:1", "64:ff9b:2::7f00:1", "64:ff9a::7f00:1", "::fffe:0:7f00:1", "fe80::1",
        ])
    func notEmbedded(host: String) throws {
        let name = try HostName(host)
        #expect(name.text == host)
        #expect(name.description == "[\(host)]")
    }

    @Test(
        "A translator's address for an IPv4 host is refused with the advice to use the IPv4 address",
        arguments: [
            // RFC 6052, sections 2.4 and 3.1.
            "64:ff9b::192.0.2.33", "64:ff9b::c000:221", "64:FF9B:0:0:0:0:C000:0221", "0064:ff9b::7f00:1",
            // RFC 8215 and RFC 2765.
            "64:ff9b:1::7f00:1", "64:ff9b:1:7f00:0:100::", "64:ff9b:1:ffff::", "::ffff:0:127.0.0.1",
            "0:0:0:0:ffff:0:7f00:1",
        ])
    func translated(host: String) throws {
        for spelling in [host, "[\(host)]"] {
            let failure = try #require(throws: RequestFailure.self) { try HostName(spelling) }
            #expect(failure.reason == .invalidRequest)
            #expect(failure.remedy?.contains("Write the IPv4 address") == true)
        }
    }

    @Test(
        "An IPv4-compatible address is refused with the advice to write the IPv4 address",
        arguments: [
            // RFC 4291, section 2.5.5.1.
            ("::13.1.68.3", "13.1.68.3"), ("0:0:0:0:0:0:13.1.68.3", "13.1.68.3"), ("::127.0.0.1", "127.0.0.1"),
            ("::7f00:1", "127.0.0.1"), ("0::0:7F00:0001", "127.0.0.1"), ("::1.0.0.0", "1.0.0.0"),
            ("::255.255.255.255", "255.255.255.255"),
        ])
    func compatible(host: String, text: String) throws {
        for spelling in [host, "[\(host)]"] {
            let failure = try #require(throws: RequestFailure.self) { try HostName(spelling) }
            #expect(failure.reason == .invalidRequest)
            #expect(failure.remedy == "Write the IPv4 address \(text).")
        }
        #expect(throws: RequestFailure.self) { try RequestURL("http://[\(host)]/") }
    }

    @Test(
        "The unspecified address is refused, because the system would connect to this machine",
        arguments: [
            "0.0.0.0", "0.0.0.0.", "::", "[::]", "0:0:0:0:0:0:0:0", "::0.0.0.0", "::ffff:0.0.0.0", "[::ffff:0:0]",
        ])
    func unspecified(host: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try HostName(host) }
        #expect(failure.reason == .invalidRequest)
        #expect(failure.remedy == "Write 127.0.0.1 or [::1] for this machine.")
    }
}
