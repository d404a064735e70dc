import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct TrustPolicyRuleTests {
    private static func pin(_ byte: UInt8, scope: Pin.Scope = .any) throws -> Pin {
        try Pin(kind: .publicKey, digest: Array(repeating: byte, count: 32), scope: scope)
    }

    private static func pins(_ byte: UInt8) throws -> PinSet { try PinSet([pin(byte), pin(byte &+ 1)]) }

    private static func policy(
        _ patterns: [String], unlisted: TrustPolicy.UnlistedHosts = .anchorsOnly
    ) throws
        -> TrustPolicy
    {
        try TrustPolicy(
            hosts: patterns.enumerated().map { try HostRule($1, pins: pins(UInt8($0 * 2))) }, unlistedHosts: unlisted)
    }

    static let patterns = [
        "**.example.com", "*.example.com", "example.com", "api.example.com", "*.api.example.com", "**.a.b.example.com",
        "*.b.example.com", "127.0.0.1", "::1", "**.com", "*.org",
    ]

    @Test(
        "The most specific rule applies in any order of rules",
        arguments: [
            // For the host of “**.” itself the exact rule comes first, and “*.” does not match.
            ("example.com", "example.com"), ("EXAMPLE.com.", "example.com"),
            // The longest host comes first, and for equal hosts “*.” before “**.”.
            ("api.example.com", "api.example.com"), ("x.example.com", "*.example.com"),
            ("x.y.example.com", "**.example.com"), ("x.api.example.com", "*.api.example.com"),
            ("y.x.api.example.com", "**.example.com"), ("a.b.example.com", "**.a.b.example.com"),
            ("z.a.b.example.com", "**.a.b.example.com"), ("c.b.example.com", "*.b.example.com"),
            ("b.example.com", "*.example.com"), ("d.c.b.example.com", "**.example.com"), ("com", "**.com"),
            ("other.com", "**.com"), ("xexample.com", "**.com"), ("a.org", "*.org"), ("127.0.0.1", "127.0.0.1"),
            ("[0::1]", "[::1]"),
        ])
    func mostSpecific(host: String, expected: String) throws {
        for patterns in [Self.patterns, Self.patterns.reversed()] {
            let rule = try Self.policy(patterns).rule(for: HostName(host))
            #expect(rule?.pattern.description == expected)
        }
    }

    @Test("A host that no rule matches is unlisted", arguments: ["org", "b.a.org", "localhost", "127.0.0.2", "::2"])
    func unlisted(host: String) throws {
        let name = try HostName(host)
        let others = try Self.pins(200)
        #expect(try Self.policy(Self.patterns).rule(for: name) == nil)
        #expect(try Self.policy(Self.patterns).requirement(for: name) == .anchorsOnly)
        #expect(try Self.policy(Self.patterns, unlisted: .refused).requirement(for: name) == .refused)
        #expect(try Self.policy(Self.patterns, unlisted: .pinned(others)).requirement(for: name) == .pinned(others))
    }

    @Test("A host's own rule applies instead of the rule for unlisted hosts")
    func listed() throws {
        let (wide, narrow) = (try Self.pins(1), try Self.pins(3))
        let rules = try [
            HostRule("**.example.com", pins: wide), HostRule.unpinned("static.example.com"),
            HostRule("*.static.example.com", pins: narrow),
        ]
        for unlisted in [TrustPolicy.UnlistedHosts.anchorsOnly, .refused, .pinned(try Self.pins(5))] {
            let policy = try TrustPolicy(hosts: rules, unlistedHosts: unlisted)
            #expect(try policy.requirement(for: HostName("example.com")) == .pinned(wide))
            #expect(try policy.requirement(for: HostName("a.b.example.com")) == .pinned(wide))
            #expect(try policy.requirement(for: HostName("static.example.com")) == .anchorsOnly)
            #expect(try policy.requirement(for: HostName("a.static.example.com")) == .pinned(narrow))
            #expect(try policy.requirement(for: HostName("b.a.static.example.com")) == .pinned(wide))
        }
    }

    @Test("Pins without rules apply to every host")
    func everywhere() throws {
        let policy = try TrustPolicy(pins: [Self.pin(1), Self.pin(2)])
        let expected = TrustPolicy.Requirement.pinned(try PinSet([Self.pin(1), Self.pin(2)]))
        for host in ["example.com", "localhost", "127.0.0.1", "::1"] {
            #expect(try policy.requirement(for: HostName(host)) == expected)
        }
        #expect(try TrustPolicy.system.requirement(for: HostName("example.com")) == .anchorsOnly)
    }

    @Test(
        "Two spellings of the same pattern are refused",
        arguments: [
            ["example.com", "example.com"], ["example.com", "EXAMPLE.COM."], ["*.a.test", "a.test", "*.A.test"],
            ["**.a.test", "*.a.test", "**.a.test."], ["::1", "[0:0:0:0:0:0:0:1]"], ["127.0.0.1", "127.0.0.1."],
        ])
    func duplicates(patterns: [String]) throws {
        let failure = try #require(throws: RequestFailure.self) { try Self.policy(patterns) }
        #expect(failure.reason == .invalidPolicy)
        #expect(try failure.message.contains("“\(HostPattern(try #require(patterns.last)))”"))
        let pinned = try HostRule(try #require(patterns.first), pins: Self.pins(1))
        let unpinned = try HostRule.unpinned(try #require(patterns.last))
        #expect(throws: RequestFailure.self) {
            _ = try TrustPolicy(hosts: [HostRule(patterns[patterns.count - 1], pins: Self.pins(9)), unpinned])
        }
        #expect(pinned != unpinned)
    }

    @Test("A set without pins is refused in every mode")
    func noPins() throws {
        for mode in [PinSet.Mode.enforce, .reportOnly] {
            for single in [false, true] {
                let failure = try #require(throws: RequestFailure.self) {
                    try PinSet([], mode: mode, acceptsSinglePin: single)
                }
                #expect(failure.reason == .invalidPolicy)
                #expect(failure.message.contains("empty"))
            }
        }
    }

    @Test("An enforced set needs two different keys unless a single one is explicitly allowed")
    func singlePin() throws {
        // A key that is pinned in two scopes counts once.
        for pins in try [
            [Self.pin(1)], [Self.pin(1), Self.pin(1)], [Self.pin(1, scope: .leaf), Self.pin(1, scope: .issuer)],
        ] {
            for expires in [nil, Date(timeIntervalSince1970: 1)] {
                let failure = try #require(throws: RequestFailure.self) { try PinSet(pins, expires: expires) }
                #expect(failure.reason == .invalidPolicy)
                #expect(failure.remedy?.contains("backup") == true)
            }
            let accepted = try PinSet(pins, acceptsSinglePin: true)
            #expect(accepted.pins == pins)
            #expect(accepted.acceptsSinglePin)
            #expect(accepted.mode == .enforce)
        }
    }

    @Test("A set that only reports may have a single pin")
    func reportOnly() throws {
        let set = try PinSet([Self.pin(1)], mode: .reportOnly)
        #expect(set.mode == .reportOnly)
        #expect(set.pins.count == 1)
        #expect(!set.acceptsSinglePin)
    }

    @Test("A set returns the values it was created with")
    func parts() throws {
        let date = Date(timeIntervalSince1970: 1_900_000_000)
        let set = try PinSet([Self.pin(1), Self.pin(2, scope: .leaf)], expires: date, onExpiry: .refuse)
        #expect(try set.pins == [Self.pin(1), Self.pin(2, scope: .leaf)])
        #expect(set.expires == date)
        #expect(set.onExpiry == .refuse)
        let plain = try Self.pins(1)
        #expect(plain.expires == nil)
        #expect(plain.onExpiry == .anchorsOnly)
        #expect(plain.mode == .enforce)
        #expect(plain != set)
    }

    @Test("A rule with an invalid pattern is refused")
    func badPattern() throws {
        let set = try Self.pins(1)
        for text in ["", "a*.test", "*.127.0.0.1", "https://a.test"] {
            #expect(throws: RequestFailure.self) { try HostRule(text, pins: set) }
            #expect(throws: RequestFailure.self) { try HostRule.unpinned(text) }
        }
    }

    @Test("Revocation lists must be revocation lists, and there must be at least one")
    func revocationLists() throws {
        let list = try PEM("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n")
        let other = try PEM("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        for lists in [[], [other], [list, other], [try PEM(list.text + other.text)]] {
            let failure = try #require(throws: RequestFailure.self) {
                try TrustPolicy(hosts: [], revocation: .lists(lists))
            }
            #expect(failure.reason == .invalidPolicy)
            #expect(failure.remedy?.contains("X509 CRL") == true)
        }
        #expect(try TrustPolicy(hosts: [], revocation: .lists([list])).revocation == .lists([list]))
    }
}
