import EssentialsTransport
import Testing

@Suite("Proxy bypass lists")
struct ProxyBypassTests {
    /// A list, with origins that bypass the proxy and origins that do not.
    struct Rule: Sendable, CustomTestStringConvertible {
        var list: String
        var direct: [String] = []
        var proxied: [String] = []
        var testDescription: String { list }

        init(_ list: String, direct: [String] = [], proxied: [String] = []) {
            (self.list, self.direct, self.proxied) = (list, direct, proxied)
        }
    }

    private func check(_ rule: Rule) throws {
        let bypass = ProxyBypass(rule.list)
        for host in rule.direct {
            #expect(bypass.matches(try RequestURL("http://\(host)/").origin), "\(host) should be direct")
        }
        for host in rule.proxied {
            #expect(!bypass.matches(try RequestURL("http://\(host)/").origin), "\(host) should be proxied")
        }
    }

    static let subdomains = ["example.com", "a.example.com", "a.b.EXAMPLE.com", "example.com.", "example.com:8080"]
    static let others = ["notexample.com", "example.com.test", "com", "example.org", "10.0.0.1", "[::1]"]

    @Test(
        "A name in a bypass list matches itself and all names below it",
        arguments: [
            "example.com", ".example.com", "*.example.com", "EXAMPLE.Com", "example.com.", ".example.com.",
            "\texample.com\n",
        ])
    func names(list: String) throws {
        try check(Rule(list, direct: Self.subdomains, proxied: Self.others))
    }

    static let addresses: [Rule] = [
        Rule("*", direct: subdomains + others),
        Rule("10.0.0.1", direct: ["10.0.0.1", "10.0.0.1:81"], proxied: ["10.0.0.2", "10.0.0.1.test", "[::1]"]),
        Rule("::1", direct: ["[::1]", "[0:0:0:0:0:0:0:1]:81"], proxied: ["[::2]", "127.0.0.1", "[::1:0]"]),
        Rule("[::1]", direct: ["[::1]"], proxied: ["[::2]"]),
        Rule("2001:DB8:0::7", direct: ["[2001:db8::7]"], proxied: ["[2001:db8::8]"]),
        // Several spellings of one address (RFC 4291, section 2.5.5).
        Rule("[::ffff:10.0.0.1]", direct: ["[::ffff:a00:1]", "10.0.0.1"], proxied: ["10.0.0.2", "[::1]"]),
        // An IPv4-compatible address names no host.
        Rule("::10.0.0.1", direct: [], proxied: ["10.0.0.1", "10.0.0.2"]),
        Rule("::ffff:10.0.0.1/128", direct: ["10.0.0.1"], proxied: ["10.0.0.2"]),
        Rule("[::ffff:10.0.0.0]/104:81", direct: ["10.9.9.9:81"], proxied: ["11.0.0.1:81", "10.9.9.9"]),
        Rule("::ffff:0:0/96", direct: ["10.0.0.1", "[::ffff:9.9.9.9]"], proxied: ["[::1]", "[::2]"]),
        Rule(
            "10.0.0.1 127.0.0.0/8", direct: ["[::ffff:10.0.0.1]", "[::ffff:127.0.0.2]"], proxied: ["[::ffff:8.0.0.1]"]),
    ]

    static let networks: [Rule] = [
        Rule("0.0.0.0/0", direct: ["10.0.0.1", "255.255.255.255"], proxied: ["[::1]", "example.com", "[::2]"]),
        Rule("::/0", direct: ["[::1]", "[ff00::]"], proxied: ["10.0.0.1", "example.com"]),
        Rule("10.1.2.3/32", direct: ["10.1.2.3"], proxied: ["10.1.2.2"]),
        Rule("10.1.2.3/8", direct: ["10.0.0.0", "10.255.255.255"], proxied: ["9.255.255.255", "11.0.0.0"]),
        Rule("10.1.128.0/17", direct: ["10.1.128.0", "10.1.255.255"], proxied: ["10.1.127.255", "10.2.128.0"]),
        Rule("10.1.2.4/31", direct: ["10.1.2.4", "10.1.2.5"], proxied: ["10.1.2.3", "10.1.2.6"]),
        Rule("128.0.0.0/1", direct: ["128.0.0.0", "255.0.0.1"], proxied: ["127.255.255.255"]),
        Rule("172.16.0.0/12", direct: ["172.16.0.0", "172.31.255.255"], proxied: ["172.15.0.0", "172.32.0.0"]),
        Rule("fe80::/10", direct: ["[fe80::1]", "[febf::1]"], proxied: ["[fec0::1]", "[fe00::1]"]),
        Rule("[2001:db8::]/33", direct: ["[2001:db8:7fff::1]"], proxied: ["[2001:db8:8000::1]"]),
        Rule("2001:db8::1/128", direct: ["[2001:db8::1]"], proxied: ["[2001:db8::]"]),
        Rule("2001:db8::/127", direct: ["[2001:db8::1]"], proxied: ["[2001:db8::2]"]),
    ]

    static let ports: [Rule] = [
        Rule(
            "example.com:81", direct: ["example.com:81", "b.example.com:81"], proxied: ["example.com:8"]),
        Rule(".example.com:80", direct: ["example.com"], proxied: ["example.com:81"]),
        Rule("10.0.0.1:81", direct: ["10.0.0.1:81"], proxied: ["10.0.0.1"]),
        Rule("10.0.0.0/8:81", direct: ["10.0.0.1:81"], proxied: ["10.0.0.1"]),
        Rule("[::1]:81", direct: ["[::1]:81"], proxied: ["[::1]"]),
        Rule("[2001:db8::]/32:81", direct: ["[2001:db8::1]:81"], proxied: ["[2001:db8::1]", "[2001:db9::1]:81"]),
        // An IPv6 address without brackets has no port.
        Rule("::81", direct: ["[::81]"], proxied: ["[::80]:81"]),
        Rule("2001:db8::1:81", direct: ["[2001:db8::1:81]"], proxied: ["[2001:db8::1]:81"]),
    ]

    @Test("A bypass list matches addresses, networks and ports", arguments: addresses + networks + ports)
    func rules(rule: Rule) throws { try check(rule) }

    static let nothing = [
        "", " ", ",", ", ,", ".", "*.", "..", "**", "*example.com", "exa*mple.com", "*.*.com", "http://example.com",
        "example.com/", "example.com/8", "example..com", "éxample.com", "example.com:", "example.com:x",
        "example.com:65536", "example.com:+80", "example.com:-80", "*:80", "10.0.0", "10.0.0.0.1", "010.0.0.1",
        "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/+8", "10.0.0.1/8/8", "10.0.0.1/255.0.0.0", "10.0.0.1/a",
        "10.0.0.1/99999999999999999999", "::1/129", "::1/", "[::1", "::1]", "[::1]]", "[]", "[10.0.0.1", "::1%lo",
        "0x0a.0.0.1", "/8", "@", "\0", "user@example.com",
    ]

    @Test("An invalid entry of a bypass list matches nothing", arguments: nothing)
    func empty(list: String) throws {
        try check(Rule(list, proxied: Self.subdomains + Self.others + ["10.0.0.1:80", "[::1]"]))
    }

    @Test(
        "Entries of a bypass list are separated by commas and blanks",
        arguments: [
            "a.test,10.0.0.0/8,[::1]", "a.test 10.0.0.0/8 ::1", " , a.test\t,,\n10.0.0.0/8\r\n , ::1 ,",
            "a.test, nonsense..x, 10.0.0.0/8, 1/2/3, ::1",
        ])
    func lists(list: String) throws {
        try check(Rule(list, direct: ["a.test", "10.9.9.9", "[::1]"], proxied: ["b.test", "11.0.0.0", "[::2]"]))
    }

    @Test("The bypass list `nothing` matches no host")
    func none() throws {
        #expect(ProxyBypass.nothing == ProxyBypass(""))
        #expect(try !ProxyBypass.nothing.matches(RequestURL("http://localhost/").origin))
    }

    @Test("A port in a bypass list matches the scheme's default port")
    func schemePort() throws {
        let bypass = ProxyBypass("example.com:443")
        #expect(try bypass.matches(RequestURL("https://example.com/").origin))
        #expect(try !bypass.matches(RequestURL("http://example.com/").origin))
    }
}
