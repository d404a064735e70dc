import Glibc
import Testing

@testable import EssentialsReachability

@Suite struct ReachabilityTargetTests {
    @Test(
        "An address is parsed with or without brackets and formatted in its shortest form",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:DB8::0:1", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"), ("fe80::1%7", "fe80::1%7"), ("fe80::1%lo", "fe80::1%1"), ("::", "::"),
        ])
    func addresses(text: String, shown: String) throws {
        #expect(try #require(NetworkAddress(text)).description == shown)
        let target = try ReachabilityTarget(text)
        #expect(target.description == text)
        #expect(target.kind == .addresses([try #require(NetworkAddress(text))]))
    }

    @Test(
        "A text that is not an address is not parsed",
        arguments: [
            "", "[]", "1.2.3", "1.2.3.4.5", "[1.2.3.4]", "::1::", "fe80::1%", "fe80::1%nowhere", "1.2.3.4\0", "g::1",
        ])
    func noAddresses(text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test("Four or sixteen bytes are an address")
    func bytes() {
        #expect(NetworkAddress(bytes: [127, 0, 0, 1])?.description == "127.0.0.1")
        #expect(NetworkAddress(bytes: [127, 0, 0, 1], scope: 4)?.scope == 0)
        #expect(NetworkAddress(bytes: [UInt8](repeating: 0, count: 15) + [1])?.description == "::1")
        for count in [0, 3, 5, 15, 17] { #expect(NetworkAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test(
        "A name is kept unchanged",
        arguments: ["localhost", "api.example.com", "Example.COM.", "_x.xn--mnchen-3ya.de"])
    func names(text: String) throws {
        #expect(try ReachabilityTarget(text).kind == .name(text))
    }

    @Test(
        "An invalid host is refused with a message that contains no credentials and no query",
        arguments: [
            ("", ""), (".", "."), ("a..b", "a..b"), ("https://a.example", "https://a.example"),
            ("a.example:80", "a.example:80"),
            ("münchen.de", "münchen.de"), ("u:secret@a.example/", "a.example/"),
            ("a.example/?key=secret", "a.example/"),
            ("a b", "a b"), ("a\nb", "a b"), (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
            (String(repeating: "a.", count: 127) + "a", String(repeating: "a.", count: 40)),
        ])
    func refused(text: String, shown: String) {
        let error = #expect(throws: ReachabilityError.self) { try ReachabilityTarget(text) }
        #expect(error?.reason == .invalidTarget)
        #expect(error?.message == "“\(shown)” is neither a host name nor an address.")
        #expect(error?.description.contains("secret") == false)
    }

    @Test("The default route has a public address of each family")
    func defaultRoute() {
        guard case .addresses(let addresses) = ReachabilityTarget.defaultRoute.kind else {
            Issue.record("The default route is no list of addresses.")
            return
        }
        #expect(addresses.map(\.description) == ["8.8.8.8", "2001:4860:4860::8888"])
    }

    @Test("The system's resolver resolves localhost and reports why it cannot resolve another name")
    func systemResolver() async throws {
        let addresses = try await SystemAddressResolver().addresses(of: "localhost")
        let own: Set<NetworkAddress?> = [NetworkAddress("127.0.0.1"), NetworkAddress("::1")]
        #expect(!addresses.isEmpty)
        #expect(Set(addresses.map(Optional.some)).isSubset(of: own))
        let error = await #expect(throws: ReachabilityError.self) {
            try await SystemAddressResolver().addresses(of: "label-with-\(String(repeating: "x", count: 60)).invalid")
        }
        #expect(error?.reason == .resolution)
    }
}
