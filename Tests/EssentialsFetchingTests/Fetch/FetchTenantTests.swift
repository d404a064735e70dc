import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Environments that differ in one thing only", .timeLimit(.minutes(5)))
struct FetchTenantTests {
    /// The difference between two environments.
    enum Difference: String, CaseIterable, Sendable {
        case tenant = "X-Tenant"
        case language = "Accept-Language"
        case apiKey = "X-Api-Key"
        case authorization = "Authorization"
        case cookie = "Cookie"
        case name, trust
    }

    enum Cache: CaseIterable, Sendable { case files, memory, below, own, observed }

    private let base = "https://a/v1/"

    private func use(_ value: String, _ difference: Difference, in fixture: TenantFixture) throws {
        switch difference {
        case .name: try fixture.use(base, name: value)
        case .trust:
            try fixture.use(base, trust: TrustPolicy(minimumTLS: value.hasSuffix("one") ? .tls12 : .tls13))
        default:
            let name = try #require(HTTPField.Name(difference.rawValue))
            try fixture.use(base, [name: value])
        }
    }

    private func cache(_ kind: Cache, in fixture: TenantFixture) -> any AsyncCache {
        switch kind {
        case .files: fixture.cache
        case .memory: ModelCache()
        case .below: ModelCache(over: MemoryEntityCache())
        case .own: TestCache()
        case .observed: ObservedCache(fixture.cache)
        }
    }

    @Test("Environments that differ in one thing have separate models", arguments: Difference.allCases, Cache.allCases)
    func apart(difference: Difference, kind: Cache) async throws {
        let fixture = try TenantFixture()
        let service = fixture.service(over: cache(kind, in: fixture))
        for value in ["one", "two"] {
            try use(value, difference, in: fixture)
            #expect(try await service.cached() == nil)
            _ = try await service.served()
            #expect(try await service.cached() != nil)
        }
        try use("three", .tenant, in: fixture)
        #expect(try await service.cached() == nil)
        try use("one", difference, in: fixture)
        #expect(try await service.cached() != nil)
    }

    @Test(
        "Environments that differ in one thing have separate models in files too, without the values of the fields",
        arguments: Difference.allCases)
    func files(difference: Difference) async throws {
        let fixture = try TenantFixture()
        fixture.account.enter("ada")
        let (one, two) = ("value-number-one", "value-number-two")
        try use(one, difference, in: fixture)
        let request = DataRequest(.get, "empty")
        fixture.transport.on(.get, "/v1/empty").answer(json: Coin(name: "x"))
        _ = try await fixture.service.fetch(request, from: .backend, as: Coin.self).last()
        let next = try await fixture.restarted()
        #expect(try await next.cached("empty") == "x")
        try use(two, difference, in: fixture)
        #expect(try await next.cached("empty") == nil)
        for name in fixture.directory.names where difference != .name {
            let bytes = try fixture.directory.read(name)
            #expect(!String(decoding: bytes, as: UTF8.self).contains("value-number"), "\(name)")
        }
    }

    @Test("A secret header field of a request is in the key as a hash that differs between caches")
    func requestField() async throws {
        let request = DataRequest(.get, "coins", headerFields: [TenantFixture.tenant: "acme"])
        let (one, other) = (try TenantFixture(), try TenantFixture())
        let key = try #require(one.service.modelKey(for: request, as: Coin.self))
        #expect(key == one.service.modelKey(for: request, as: Coin.self))
        #expect(!key.variant.contains("acme"))
        #expect(key != other.service.modelKey(for: request, as: Coin.self))
    }

    @Test("An environment without name, fields and trust policy keeps its base URL in the key")
    func plain() throws {
        let fixture = try TenantFixture()
        #expect(fixture.service.modelKey(named: "x", as: Coin.self).environment == base)
        try fixture.use(base, [TenantFixture.tenant: "1"])
        #expect(fixture.service.modelKey(named: "x", as: Coin.self).environment != base)
    }

    @Test("A service with its own environment name has the fields in the key too")
    func ownName() async throws {
        struct NamedService: FetchingService, ModelCaching {
            let requests: any DataRequestService
            let cache: any AsyncCache
            let environmentName = "shop"
        }
        let fixture = try TenantFixture()
        let service = NamedService(requests: fixture.requests, cache: fixture.cache)
        #expect(service.modelKey(named: "x", as: Coin.self).environment == "shop")
        try fixture.use(base, [TenantFixture.tenant: "1"])
        _ = try await service.served()
        #expect(try await service.cached() == "a 1")
        try fixture.use(base, [TenantFixture.tenant: "2"])
        #expect(try await service.cached() == nil)
        // Two environments with one name are one for this service.
        try fixture.use("https://b/v1/", [TenantFixture.tenant: "1"])
        #expect(try await service.cached() == "a 1")
    }

    @Test("Different environments have different texts, for any names")
    func texts() throws {
        let texts = ["", "a", "\u{1}", "\u{1}1:a0:0:", "1:a", "\u{1}1\u{1}a", "a0:", "0:"]
        var known: [String: String] = [:]
        for name in texts {
            for label in texts {
                for tenant in [nil, "1", "2"] as [String?] {
                    for trust in [nil, TrustPolicy(minimumTLS: .tls13)] as [TrustPolicy?] {
                        var fields = HTTPFields()
                        if let tenant { fields[TenantFixture.tenant] = tenant }
                        let environment = ConstantEnvironment(
                            EnvironmentSnapshot(
                                name: label, baseURL: try RequestURL(base), headerFields: fields, trust: trust))
                        let identity = EnvironmentIdentity(of: environment)
                        let text = FetchOperation.text(of: name, in: identity, key: .common)
                        // The name of the snapshot counts only for a service without a name of its own.
                        let parts = "\(name.debugDescription) \(tenant ?? "-") \(trust == nil)"
                        let former = known.updateValue(parts, forKey: text) ?? parts
                        #expect(former == parts)
                        let full = FetchOperation.text(of: base, in: identity, key: .common)
                        let whole = "base \(label.debugDescription) \(tenant ?? "-") \(trust == nil)"
                        let formerWhole = known.updateValue(whole, forKey: full) ?? whole
                        #expect(formerWhole == whole)
                    }
                }
            }
        }
        #expect(known.count == 2 * texts.count * 6)
    }
}
