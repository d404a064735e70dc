import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("Resource services in scopes of a locator", .leavesNothing, .timeLimit(.minutes(5)))
struct ScopedServiceTests {
    @Test("A scope registers a service of its own with a partition, and its end closes that service and no other")
    func scope() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "loaded"))
        let app = ServiceLocator(name: "app")
        try app.register(fixture.service, as: (any ResourceService).self)
        let shared: Resource<Item> = fixture.service.resource("item")
        shared.override(with: Item(name: "shared"))
        let own = try await app.withScope("workflow") { scope in
            try scope.registerLazy((any ResourceService).self) { _ in
                let service = try HTTPResourceService(requests: fixture.requests, environment: fixture.environment)
                service.enter("ada")
                return service
            }
            let service = try scope.resolve((any ResourceService).self)
            #expect((service as? HTTPResourceService)?.partition == "ada")
            let item: Resource<Item> = service.resource("item")
            #expect(item != shared && item.content == nil)
            #expect(try await item.loadIfNeeded().name == "loaded")
            return item
        }
        #expect(own.content?.name == "loaded")
        await expectFailure(.closed) { try await own.load() }
        #expect(shared.content?.name == "shared" && !fixture.service.isClosed)
        #expect(try await shared.load().name == "loaded")
        await app.close()
        await expectFailure(.closed) { try await shared.load() }
    }
}
