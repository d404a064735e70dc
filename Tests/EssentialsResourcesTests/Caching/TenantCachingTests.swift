import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsResources

@Suite("Entity caches: tenants of one server", .leavesNothing, .timeLimit(.minutes(5)))
struct TenantCachingTests {
    /// Header fields by which a server distinguishes tenants, and the value of the other tenant.
    static let tenants: [(name: String, one: String, other: String)] = [
        ("X-Tenant", "a", "b"), ("Accept-Language", "de", "en"), ("X-Api-Key", "key-a", "key-b"),
        ("Authorization", "Bearer a", "Bearer b"), ("Cookie", "tenant=a", "tenant=b"),
    ]

    private static func environment(_ name: String, _ value: String) throws -> EnvironmentSnapshot {
        var fields = HTTPFields()
        fields[try #require(HTTPField.Name(name))] = value
        return EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/"), headerFields: fields)
    }

    private static func answer(_ fixture: ResourceFixture, _ name: String) throws {
        let field = try #require(HTTPField.Name(name))
        fixture.transport.on(.get, "/v1/item").answer { request in
            ScriptedAnswer(json: Item(name: request.headerFields[field] ?? "nobody"))
        }
    }

    @Test(
        "Environments that differ in one header field find only their own entities, even after a restart",
        arguments: tenants)
    func restart(name: String, one: String, other: String) async throws {
        let directory = CacheDirectory()
        let fixture = try ResourceFixture(cache: directory.cache())
        try Self.answer(fixture, name)
        fixture.service.enter("ada")
        let item: Resource<Item> = fixture.service.resource("item")
        fixture.environment.set(try Self.environment(name, one))
        #expect(try await item.loadIfNeeded().name == one)
        fixture.environment.set(try Self.environment(name, other))
        #expect(item == fixture.service.resource("item"))
        #expect(item.content == nil)
        #expect(try await item.loadIfNeeded().name == other)
        fixture.environment.set(try Self.environment(name, one))
        #expect(try await item.loadIfNeeded().name == one)
        #expect(fixture.transport.requestCount == 2)
        await fixture.service.close()

        let again = try ResourceFixture(cache: directory.cache())
        try Self.answer(again, name)
        again.service.enter("ada")
        let found: Resource<Item> = again.service.resource("item")
        again.environment.set(try Self.environment(name, other))
        #expect(try await found.loadIfNeeded().name == other)
        again.environment.set(try Self.environment(name, "third"))
        #expect(try await found.loadIfNeeded().name == "third")
        #expect(again.transport.requestCount == 1)
        await again.service.close()
    }

    @Test("No name of a file and no key contains the value of a header field")
    func secrets() async throws {
        let cache = CacheDouble()
        let fixture = try ResourceFixture(cache: cache)
        try Self.answer(fixture, "X-Api-Key")
        fixture.service.enter("ada")
        fixture.environment.set(try Self.environment("X-Api-Key", "key-of-a"))
        try await fixture.service.resource("item", as: Item.self).load()
        await fixture.service.close()
        let key = try #require(cache.entities.keys.first)
        #expect(!"\(key.environment)".contains("key-of-a"))
        #expect(!key.environment.isEmpty)
    }

    @Test("Without an account a private response is stored separately, and one that varies by everything is not stored")
    func privateResponses() async throws {
        for (directives, vary, isStored) in [
            ("private", nil, false), ("max-age=9", "*", false), ("max-age=9", "Accept", true),
        ]
            as [(String, String?, Bool)]
        {
            let fixture = CacheFixture()
            var fields: HTTPFields = [.cacheControl: directives]
            if let vary { fields[.vary] = vary }
            fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"), headerFields: fields)
            let service = try fixture.service()
            try await service.resource("item", as: Item.self).load()
            await service.close()
            #expect(fixture.cache.entities.isEmpty != isStored, "\(directives), \(vary ?? "-")")
        }
        // An account may store a response for its user. A response that no later request can match is never stored.
        for (fields, isStored) in [([.cacheControl: "private"], true), ([.vary: "Accept, *"], false)]
            as [(HTTPFields, Bool)]
        {
            for isPersistent in [true, false] {
                let fixture = CacheFixture(isPersistent: isPersistent)
                fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "Ada"), headerFields: fields)
                let service = try fixture.service()
                service.enter("ada")
                try await service.resource("item", as: Item.self).load()
                await service.close()
                #expect(fixture.cache.entities.isEmpty != isStored)
            }
        }
    }
}
