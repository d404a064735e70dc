import EssentialsTransport
import Testing

@Suite("Proxy policies")
struct ProxyPolicyTests {
    /// The proxies for `http://api.test/` and `https://api.test/` with these variables.
    private func proxies(_ variables: [String: String]) throws -> [String?] {
        let policy = try ProxyPolicy.environment.resolved { variables[$0] }
        return try ["http", "https"].map {
            try policy.proxy(for: RequestURL("\($0)://api.test/").origin)?.description
        }
    }

    struct Environment: Sendable, CustomTestStringConvertible {
        var variables: [String: String]
        var http: String?
        var https: String?
        var testDescription: String {
            variables.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ")
        }
    }

    static let environments: [Environment] = [
        Environment(variables: [:]),
        Environment(variables: ["no_proxy": "*"]),
        Environment(variables: ["http_proxy": "a:1"], http: "http://a:1"),
        Environment(variables: ["https_proxy": "a:1"], https: "http://a:1"),
        Environment(variables: ["HTTPS_PROXY": "a:1"], https: "http://a:1"),
        Environment(variables: ["https_proxy": "a:1", "HTTPS_PROXY": "b:1"], https: "http://a:1"),
        Environment(variables: ["https_proxy": "", "HTTPS_PROXY": "b:1"], https: "http://b:1"),
        Environment(variables: ["all_proxy": "a:1"], http: "http://a:1", https: "http://a:1"),
        Environment(variables: ["ALL_PROXY": "a:1"], http: "http://a:1", https: "http://a:1"),
        Environment(variables: ["all_proxy": "a:1", "ALL_PROXY": "b:1"], http: "http://a:1", https: "http://a:1"),
        Environment(
            variables: ["all_proxy": "socks5://a:1", "http_proxy": "b:1"], http: "http://b:1", https: "socks5://a:1"),
        Environment(
            variables: ["ALL_PROXY": "socks5://a:1", "HTTPS_PROXY": "b:1"], http: "socks5://a:1", https: "http://b:1"),
        Environment(variables: ["http_proxy": "", "https_proxy": "", "all_proxy": "", "ALL_PROXY": ""]),
        // The client of a CGI program can set this variable with a Proxy field.
        Environment(variables: ["HTTP_PROXY": "a:1"]),
        Environment(variables: ["HTTP_PROXY": "a:1", "all_proxy": "b:1"], http: "http://b:1", https: "http://b:1"),
        Environment(variables: ["all_proxy": "a:1", "no_proxy": "api.test"]),
        Environment(variables: ["all_proxy": "a:1", "NO_PROXY": ".test"]),
        Environment(variables: ["all_proxy": "a:1", "NO_PROXY": "*"]),
        Environment(variables: ["all_proxy": "a:1", "no_proxy": "", "NO_PROXY": "api.test"]),
        Environment(
            variables: ["all_proxy": "a:1", "no_proxy": "b", "NO_PROXY": "*"], http: "http://a:1", https: "http://a:1"),
        Environment(variables: ["all_proxy": "a:1", "no_proxy": "api.test:443"], http: "http://a:1"),
    ]

    @Test("The environment policy reads its variables", arguments: environments)
    func environment(expected: Environment) throws {
        #expect(try proxies(expected.variables) == [expected.http, expected.https])
    }

    @Test("The environment policy never reads HTTP_PROXY, and reads each variable once")
    func lookups() throws {
        var names: [String] = []
        let policy = try ProxyPolicy.environment.resolved { name in
            names.append(name)
            return name == "all_proxy" ? "http://a:1" : nil
        }
        let count = names.count
        #expect(!names.contains("HTTP_PROXY"))
        _ = try policy.proxy(for: RequestURL("http://api.test/").origin)
        _ = try policy.resolved { _ in "http://other:1" }
        #expect(names.count == count)
        #expect(try policy.proxy(for: RequestURL("http://api.test/").origin)?.description == "http://a:1")
    }

    @Test(
        "The environment policy uses no proxy for this machine",
        arguments: [
            "localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.255.255.254", "[::1]", "[::ffff:127.0.0.1]",
            "localhost:8080",
        ], [nil, "", "example.com,", "example.com"])
    func loopback(host: String, bypass: String?) throws {
        let variables = ["all_proxy": "http://a:1", "no_proxy": bypass].compactMapValues { $0 }
        let policy = try ProxyPolicy.environment.resolved { variables[$0] }
        for scheme in ["http", "https"] {
            #expect(try policy.proxy(for: RequestURL("\(scheme)://\(host)/").origin) == nil)
        }
        #expect(try policy.proxy(for: RequestURL("http://localhost.test/").origin) != nil)
    }

    @Test(
        "The environment policy names a variable with an invalid proxy and shows no credentials",
        arguments: ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        [
            "httpss://joe:hunter2@proxy.test", "joe:hunter2://proxy.test", "http://joe:hunter2@proxy.test/path",
            "joe:hunter2", "http://joe:hunter2@pro xy", "http://joe:hunter2%00@proxy.test", "socks4://joe:hunter2@a",
        ])
    func malformed(name: String, value: String) {
        let error = #expect(throws: RequestFailure.self) {
            try ProxyPolicy.environment.resolved { $0 == name ? value : nil }
        }
        #expect(error?.reason == .invalidRequest)
        #expect(error?.message.contains(" \(name) ") == true)
        #expect(error.map { "\($0) \($0.message) \($0.remedy ?? "")".contains("hunter2") } == false)
    }

    @Test("The environment policy is direct until the variables are read")
    func unread() throws {
        #expect(try ProxyPolicy.environment.proxy(for: RequestURL("http://api.test/").origin) == nil)
    }

    @Test("The direct policy reads no variable")
    func direct() throws {
        let policy = try ProxyPolicy.direct.resolved { _ in "http://a:1" }
        #expect(try policy.proxy(for: RequestURL("http://api.test/").origin) == nil)
    }

    @Test("A fixed proxy is bypassed only for the listed hosts")
    func fixed() throws {
        let proxy = try Proxy("socks5://a:1")
        let all = try ProxyPolicy.fixed(proxy).resolved { _ in "http://b:1" }
        for url in ["http://api.test/", "https://api.test/", "http://localhost/", "https://[::1]/"] {
            #expect(try all.proxy(for: RequestURL(url).origin) == proxy)
        }
        let some = ProxyPolicy.fixed(proxy, except: ProxyBypass("api.test, localhost"))
        #expect(try some.proxy(for: RequestURL("http://api.test/").origin) == nil)
        #expect(try some.proxy(for: RequestURL("http://localhost/").origin) == nil)
        #expect(try some.proxy(for: RequestURL("http://127.0.0.1/").origin) == proxy)
    }

    @Test("A deciding policy is called with each origin")
    func deciding() throws {
        let proxy = try Proxy("socks5://a:1")
        let policy = ProxyPolicy.deciding { $0.scheme == .https && $0.port == 444 ? proxy : nil }
        #expect(try policy.proxy(for: RequestURL("https://api.test:444/").origin) == proxy)
        #expect(try policy.proxy(for: RequestURL("https://api.test/").origin) == nil)
        #expect(try policy.proxy(for: RequestURL("http://api.test:444/").origin) == nil)
    }

    @Test("A deciding policy that throws fails with `proxy` and the underlying error")
    func throwing() throws {
        struct Undecided: Error {}
        let policy = ProxyPolicy.deciding { _ in throw Undecided() }
        let origin = try RequestURL("https://api.test/").origin
        let error = #expect(throws: RequestFailure.self) { try policy.proxy(for: origin) }
        #expect(error?.reason == .proxy)
        #expect(error?.host == "api.test")
        #expect(error?.underlying is Undecided)
        #expect(error?.message.contains("api.test") == true)
    }
}
