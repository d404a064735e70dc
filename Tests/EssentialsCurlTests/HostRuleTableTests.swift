import EssentialsHTTP
import Testing

@testable import EssentialsCurl

@Suite("The table of rules by host")
struct HostRuleTableTests {
    @Test("The table finds the same rule as a search through all rules of the policy")
    func equivalence() throws {
        var numbers = SystemRandomNumberGenerator()
        let pins = try PinSet([strangePin(1), strangePin(2)])
        let labels = ["a", "b", "com", "ab", "xn--a"]
        func name() -> String {
            let count = Int.random(in: 1...4, using: &numbers)
            return (0..<count).map { _ in labels.randomElement(using: &numbers) ?? "a" }.joined(separator: ".")
        }
        for _ in 0..<200 {
            let names = (0..<Int.random(in: 0...12, using: &numbers)).map { _ in
                (["", "*.", "**."].randomElement(using: &numbers) ?? "") + name()
            }
            let hosts = Set(names + ["127.0.0.1", "::1"])
            let unlisted = [TrustPolicy.UnlistedHosts.anchorsOnly, .refused, .pinned(pins)]
            let policy = try TrustPolicy(
                hosts: hosts.map { try HostRule($0, pins: pins) },
                unlistedHosts: unlisted.randomElement(using: &numbers) ?? .refused)
            let table = HostRuleTable(policy)
            for _ in 0..<50 {
                for host in try [HostName(name()), HostName("127.0.0.1"), HostName("::1"), HostName("1.2.3.4")] {
                    let found = table.index(for: host).map { table.entries[$0] }
                    #expect(found?.pattern == policy.rule(for: host)?.pattern, "\(host) in \(hosts)")
                    #expect((found == nil) == (policy.requirement(for: host) == .refused), "\(host) in \(hosts)")
                }
            }
        }
    }
}
