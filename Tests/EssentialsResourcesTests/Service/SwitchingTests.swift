import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import Testing

@Suite("Resources and changes of the environment", .leavesNothing)
struct SwitchingTests {
    @Test("Observers hear of a change of the environment although nobody uses the resource")
    func following() async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "old"))
        var changes = item.changes().makeAsyncIterator()
        #expect(await changes.next()?.event == .attached)
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        let change = await changes.next()
        #expect(change?.event == .wiped(.environment))
        #expect(change?.state.content == nil)
        #expect(item.url == "https://new/v2/item")
    }

    @Test("A change of header fields or of the trust policy alone removes the content too")
    func otherFields() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        item.override(with: Item(name: "old"))
        let url = try RequestURL("https://h/v1/")
        fixture.environment.set(EnvironmentSnapshot(baseURL: url, headerFields: [.userAgent: "other"]))
        #expect(item == fixture.service.resource("item"))
        #expect(item.content == nil)
    }

    @Test("A resource of another host that does not lie below the new base keeps its content")
    func foreign() throws {
        let fixture = try ResourceFixture()
        let picture: Resource<Item> = fixture.service.resource(url: "https://cdn.example.com/picture")
        picture.override(with: Item(name: "picture"))
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        #expect(picture == fixture.service.resource(url: "https://cdn.example.com/picture"))
        #expect(picture.content?.name == "picture")
    }

    @Test("Each load goes to the environment that it began in, and is not cancelled by the change that it has seen")
    func loadsDuringChanges() async throws {
        let fixture = try ResourceFixture()
        for number in 0...20 {
            fixture.transport.on(.get, "/v\(number)/item").answer(json: Item(name: "\(number)"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        for number in 0...20 {
            fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v\(number)/")))
            #expect(try await item.load().name == "\(number)")
        }
        #expect(fixture.transport.requests.map(\.url.path) == (0...20).map { "/v\($0)/item" })
    }

    @Test("Loads and reads of many tasks never mix two environments")
    func concurrentChanges() async throws {
        let fixture = try ResourceFixture()
        for number in 1...50 {
            for path in ["a", "b"] {
                fixture.transport.on(.get, "/v\(number)/\(path)").answer(json: Item(name: "\(number)/\(path)"))
            }
        }
        let (environment, service) = (fixture.environment, fixture.service)
        try await withThrowingTaskGroup { group in
            for path in ["a", "b"] {
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<50 {
                            let item: Resource<Item> = service.resource(path)
                            // A change cancels the loads that began before it, and no others.
                            let name = try? await item.loadIfNeeded().name
                            if let name { #expect(name.hasSuffix("/\(path)")) }
                        }
                    }
                }
            }
            group.addTask {
                for number in 1...50 {
                    let url = try RequestURL("https://h/v\(number)/")
                    environment.set(EnvironmentSnapshot(baseURL: url))
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        for path in ["a", "b"] {
            let item: Resource<Item> = service.resource(path)
            #expect(try await item.loadIfNeeded().name == "50/\(path)")
            #expect(item.content?.name == "50/\(path)")
        }
    }
}
