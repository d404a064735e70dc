import EssentialsTransport
import Testing

@Suite("Proxies")
struct ProxyTests {
    struct Reading: Sendable, CustomTestStringConvertible {
        var text: String
        var kind = Proxy.Kind.http
        var host = "proxy.test"
        var port: UInt16 = 80
        var user: String?
        var password: String?
        var testDescription: String { text }
    }

    static let readings: [Reading] = [
        Reading(text: "proxy.test"), Reading(text: "proxy.test:"), Reading(text: "proxy.test/"),
        Reading(text: "proxy.test:3128", port: 3128), Reading(text: "http://proxy.test"),
        Reading(text: "HTTP://PROXY.Test.:8080/", port: 8080), Reading(text: "proxy.test:1", port: 1),
        Reading(text: "proxy.test:65535", port: 65_535), Reading(text: "proxy.test:0080", port: 80),
        Reading(text: "https://proxy.test", kind: .https, port: 443),
        Reading(text: "HTTPS://user:x@proxy.test:8443", kind: .https, port: 8443, user: "user", password: "x"),
        Reading(text: "socks5://proxy.test", kind: .socks5, port: 1080),
        Reading(text: "socks5://proxy.test:", kind: .socks5, port: 1080),
        Reading(text: "Socks5H://proxy.test/", kind: .socks5h, port: 1080),
        Reading(text: "socks5h://proxy.test:80", kind: .socks5h, port: 80),
        Reading(text: "192.0.2.1:3128", host: "192.0.2.1", port: 3128),
        Reading(text: "http://[2001:DB8::1]", host: "2001:db8::1"),
        Reading(text: "[::1]:3128", host: "::1", port: 3128),
        Reading(text: "socks5://[::1]", kind: .socks5, host: "::1", port: 1080),
        Reading(text: "http://user:secret@proxy.test:3128", port: 3128, user: "user", password: "secret"),
        Reading(text: "user:secret@proxy.test", user: "user", password: "secret"),
        Reading(text: "http://user@proxy.test", user: "user", password: ""),
        Reading(text: "http://user:@proxy.test", user: "user", password: ""),
        Reading(text: "http://:secret@proxy.test", user: "", password: "secret"),
        Reading(text: "http://user:a:b@proxy.test", user: "user", password: "a:b"),
        Reading(text: "http://me@work:p@ss@proxy.test", user: "me@work", password: "p@ss"),
        Reading(text: "http://u%73er:%40%3a%2F%25%C3%bc@proxy.test", user: "user", password: "@:/%ü"),
        Reading(text: "http://user:a+b@[::1]:81", host: "::1", port: 81, user: "user", password: "a+b"),
        Reading(text: "socks5h://user:ü@proxy.test", kind: .socks5h, port: 1080, user: "user", password: "ü"),
    ]

    @Test("A proxy is parsed from its URL", arguments: readings)
    func reading(expected: Reading) throws {
        let proxy = try Proxy(expected.text)
        #expect(proxy.kind == expected.kind)
        #expect(proxy.host.text == expected.host)
        #expect(proxy.port == expected.port)
        #expect(proxy.user == expected.user)
        #expect(proxy.password == expected.password)
    }

    @Test(
        "A text that is not a proxy is refused",
        arguments: [
            "", " ", "/", "http://", "http:///", "://proxy.test", ":80", "http://:80", "httpss://proxy.test",
            "https://", "https://proxy.test:0", "ftp://proxy.test", "socks://proxy.test", "socks4://proxy.test",
            "socks4a://proxy.test", "socks5s://proxy.test", " http://proxy.test", "http://proxy.test ",
            "http://proxy.test:0", "http://proxy.test:65536", "http://proxy.test:-1", "http://proxy.test:+80",
            "http://proxy.test:80a", "http://proxy.test: 80", "http://proxy.test:8 0", "http://proxy.test:80:80",
            "http://proxy.test/path", "http://proxy.test//", "http://proxy.test/?", "http://proxy.test?query",
            "http://proxy.test/#", "http://proxy.test#fragment", "http://::1:80", "http://[::1", "http://::1]",
            "http://[::1%25lo]:80", "http://pro xy.test", "http://pröxy.test", "http://proxy\\test", "http://0x7f.1",
            "http://proxy.test\0", "http://proxy.test\r\nX: y", "http://proxy.test:80\n", "http://.test",
            "http://user%zz@proxy.test", "http://user:%@proxy.test", "http://user:%4@proxy.test",
            "http://user:%+1@proxy.test", "http://user:%-0@proxy.test", "http://us%3Aer:x@proxy.test",
            "http://user:%00@proxy.test", "http://user:%0d%0a@proxy.test", "http://user:\r\n@proxy.test",
            "http://us\ner:x@proxy.test", "http://user:%7f@proxy.test", "http://user:x\0@proxy.test",
            "http://user:%ff@proxy.test", "http://%c3:x@proxy.test", "http://user:x@",
        ])
    func refused(text: String) {
        let error = #expect(throws: RequestFailure.self) { try Proxy(text) }
        #expect(error?.reason == .invalidRequest)
        #expect(error?.message.isEmpty == false && error?.remedy?.isEmpty == false)
        #expect(error?.description.utf8.contains { $0 < 0x20 } == false)
    }

    @Test(
        "Messages about proxies show no credentials",
        arguments: [
            "httpss://joe:hunter2@proxy.test", "ftp://joe:hunter2@proxy.test", "joe:hunter2://@proxy.test",
            "joe:hunter2://proxy.test", "http://joe:hunter2", "joe:hunter2", "http://joe:hunter2@proxy.test/path",
            "http://joe:hunter2@proxy.test:port", "http://joe:hunter2@proxy.test:99999", "http://joe:hunter2@[::1",
            "http://joe:hunter2@pro xy.test", "http://joe:hunter2@", "http://joe:hunter2%zz@proxy.test",
            "http://joe:hunter2%00@proxy.test", "http://joe:hunter2%ff@proxy.test", "http://jo%3Ae:hunter2@proxy.test",
            "http://joe:hunter2/@proxy.test", "http://joe:hunter2?@proxy.test", "http://joe:hunter2#@proxy.test",
            "http://joe:hunter2@\u{301}proxy.test", "http://joe:hunter2\n@proxy.test", "http://joe:hunter2@proxy@",
            "http://joe:hunter2\\@proxy.test:x", "http:/joe:hunter2@proxy.test", "http//joe:hunter2@proxy.test",
        ])
    func secrecy(text: String) {
        let error = #expect(throws: RequestFailure.self) { try Proxy(text) }
        #expect(
            error.map { "\($0) \($0.message) \($0.remedy ?? "")".contains("hunter2") } == false,
            "\(String(describing: error))")
    }

    @Test("A proxy's description shows no credentials")
    func description() throws {
        let proxy = try Proxy("http://joe:hunter2@[::1]:3128")
        #expect(proxy.description == "http://[::1]:3128")
        #expect(try Proxy("socks5h://joe@Proxy.test").description == "socks5h://proxy.test:1080")
        #expect("\(proxy)" == proxy.description)
        #expect(!String(reflecting: proxy).contains("hunter2"))
        #expect(!"\([proxy] as [Any])".contains("hunter2"))
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("hunter2") && !dumped.contains("joe"))
    }

    @Test("Proxies are equal if kind, host, port and credentials are equal")
    func equality() throws {
        let proxy = try Proxy("http://joe:hunter2@proxy.test:3128")
        let host = try HostName("PROXY.test.")
        #expect(try proxy == Proxy(host: host, port: 3128, user: "joe", password: "hunter2"))
        #expect(try proxy != Proxy(host: host, port: 3128, user: "joe", password: "other"))
        #expect(try proxy != Proxy(host: host, port: 3128))
        #expect(try proxy != Proxy(.socks5, host: host, port: 3128, user: "joe", password: "hunter2"))
    }

    @Test("A proxy accepts all credentials except a colon in the user name and control characters")
    func parts() throws {
        let host = try HostName("proxy.test")
        let proxy = try Proxy(.socks5, host: host, port: 1, user: "ü@ %", password: ":/ü%41")
        #expect(proxy.user == "ü@ %" && proxy.password == ":/ü%41")
        #expect(try Proxy(host: host, port: 1, user: "u").password?.isEmpty == true)
        #expect(try Proxy(host: host, port: 1, password: "unused").password == nil)
        for (user, password) in [
            ("a:b", "x"), ("a:\u{301}b", "x"), ("a\0", "x"), ("a", "x\r\n"), ("a", "\u{7f}"), ("a\u{1b}", "x"),
        ] {
            let error = #expect(throws: RequestFailure.self) {
                try Proxy(host: host, port: 1, user: user, password: password)
            }
            #expect(error?.reason == .invalidRequest)
        }
        #expect(throws: RequestFailure.self) { try Proxy(host: host, port: 0) }
    }
}
