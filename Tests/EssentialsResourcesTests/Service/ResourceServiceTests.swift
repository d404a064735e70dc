import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import TestTools
import Testing

@Suite("Resource service", .leavesNothing)
struct ResourceServiceTests {
    @Test("All spellings of a URL are one resource")
    func identity() throws {
        let fixture = try ResourceFixture()
        let service = fixture.service
        let user: Resource<Item> = service.resource("users/7")
        #expect(user == service.resource("/users/7"))
        #expect(user == service.resource("users", "7"))
        #expect(user == service.resource(url: "HTTPS://h:443/v1/users/%37"))
        #expect(user == service.resource("users", as: [Item].self).child("7"))
        #expect(user.any == service.resource("users/7", as: String.self).any)
        #expect(user != service.resource("users/8"))
        #expect(user != service.resource("users/7", variant: .accept("text/csv")))
        #expect(
            service.resource("users/7", as: Item.self, variant: .accept("text/csv"))
                == service.resource("users/7", variant: .accept("text/csv")))
        #expect(service.resourceCount == 4)
    }

    @Test("Many resources are found again")
    func manyResources() throws {
        let fixture = try ResourceFixture()
        let made = (0..<5_000).map { fixture.service.resource("items/\($0)", as: Item.self) }
        #expect(Set(made).count == 5_000)
        for (index, resource) in made.enumerated() {
            #expect(resource == fixture.service.resource("items/\(index)", as: Item.self))
        }
    }

    @Test("A request goes to the escaped path below the base URL, with the base's query")
    func requests() async throws {
        let fixture = try ResourceFixture(base: "https://h/v1?key=1")
        fixture.transport.on(nil, "/v1/a%3Fb/c%25", query: .any).answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("a?b/c%")
        try await item.load()
        #expect(fixture.transport.requests.first?.url.description == "https://h/v1/a%3Fb/c%25?key=1")
    }

    @Test("Loads of invalid addresses fail and send nothing", arguments: ["a/../b", "./a"])
    func invalidAddresses(path: String) async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource(path)
        #expect(item == fixture.service.resource(path))
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .invalidRequest)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("An internationalized host is loaded by its xn-- form in any case, and its Unicode form sends nothing")
    func internationalHosts() async throws {
        let other = ScriptedTransport()
        other.on(.get, "/feed").answer(json: Item(name: "feed"))
        let fixture = try ResourceFixture(open: HTTPDataRequestService.forAnyServer(over: other)) {
            $0.foreignHosts = ["Xn--Bcher-KVA.example", "bücher.example"]
        }
        let feed: Resource<Item> = fixture.service.resource(url: "https://XN--BCHER-kva.Example/feed")
        #expect(feed == fixture.service.resource(url: "https://xn--bcher-kva.example/feed"))
        #expect(feed.url == "https://xn--bcher-kva.example/feed")
        #expect(try await feed.load().name == "feed")
        #expect(other.requests.first?.url.description == "https://xn--bcher-kva.example/feed")
        let unicode: Resource<Item> = fixture.service.resource(url: "https://bücher.example/feed")
        #expect(unicode != feed)
        let failure = await #expect(throws: RequestFailure.self) { try await unicode.load() }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.remedy?.contains("xn--") == true)
        #expect(unicode.state.failure?.reason == .invalidRequest)
        #expect(other.requestCount == 1)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test(
        "A resource of another host is loaded without credentials and from listed hosts only, whichever service loads it",
        arguments: [true, false])
    func foreignHosts(hasOther: Bool) async throws {
        let separate = ScriptedTransport()
        let fixture = try ResourceFixture(
            open: hasOther ? HTTPDataRequestService.forAnyServer(over: separate) : nil
        ) { $0.foreignHosts = ["cdn.example.com"] }
        let other = hasOther ? separate : fixture.transport
        other.on(.get, "/picture").answer(json: Item(name: "picture"))
        fixture.requests.setAuthorization(try .bearer("secret"))
        let picture: Resource<Item> = fixture.service.resource(url: "https://cdn.example.com/picture")
        #expect(try await picture.load().name == "picture")
        #expect(other.requests.first?.headerFields[.authorization] == nil)
        let refused: Resource<Item> = fixture.service.resource(url: "https://other.example.com/picture")
        let failure = await #expect(throws: RequestFailure.self) { try await refused.load() }
        #expect(failure?.reason == .hostRefused)
        let sameOrigin: Resource<Item> = fixture.service.resource(url: "https://h/other")
        let second = await #expect(throws: RequestFailure.self) { try await sameOrigin.load() }
        #expect(second?.reason == .hostRefused)
        #expect(other.requestCount == 1 && fixture.transport.requestCount == (hasOther ? 0 : 1))
    }

    @Test(
        "A resource of the base's origin outside its path carries the credentials only if its host is listed with them",
        arguments: [false, true])
    func foreignCredentials(sendsCredentials: Bool) async throws {
        let other = ScriptedTransport()
        let fixture = try ResourceFixture(open: HTTPDataRequestService.forAnyServer(over: other)) {
            $0.foreignHosts = [ForeignHost("h", sendsCredentials: sendsCredentials)]
        }
        fixture.requests.setAuthorization(try .bearer("secret"))
        let (used, unused) = sendsCredentials ? (fixture.transport, other) : (other, fixture.transport)
        used.on(.get, "/other").answer(json: Item(name: "other"))
        let item: Resource<Item> = fixture.service.resource(url: "https://h/other")
        #expect(try await item.load().name == "other")
        #expect(used.requests.map(\.url.description) == ["https://h/other"])
        #expect(used.requests.first?.headerFields[.authorization] == (sendsCredentials ? "Bearer secret" : nil))
        #expect(unused.requestCount == 0)
    }

    @Test("Listing a host with credentials sends none to another origin")
    func otherOriginCredentials() async throws {
        let other = ScriptedTransport()
        other.on(.get, "/picture").answer(json: Item(name: "picture"))
        let fixture = try ResourceFixture(open: HTTPDataRequestService.forAnyServer(over: other)) {
            $0.foreignHosts = [ForeignHost("cdn.example.com", sendsCredentials: true)]
        }
        fixture.requests.setAuthorization(try .bearer("secret"))
        let picture: Resource<Item> = fixture.service.resource(url: "https://cdn.example.com/picture")
        #expect(try await picture.load().name == "picture")
        #expect(other.requests.first?.headerFields[.authorization] == nil)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("After a change of the environment a resource has the URL below the new base, without the old content")
    func environmentChange() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item", host: "h").answer(json: Item(name: "old"))
        fixture.transport.on(.get, "/v2/item", host: "new").answer(json: Item(name: "new"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        #expect(item == fixture.service.resource("item"))
        #expect(item.content == nil)
        #expect(item.url == "https://new/v2/item")
        #expect(try await item.loadIfNeeded().name == "new")
    }

    @Test("A response that was requested before a change of the environment never becomes the content after it")
    func environmentChangeInFlight() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item", host: "h").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "old"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://new/v2/")))
        latch.open()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
        #expect(item.content == nil)
        #expect(item.state.failure == nil)
    }

    @Test("A closed service cancels its loads, and later ones fail as closed")
    func close() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        await fixture.service.close()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
        latch.open()
        let failure = await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(failure?.reason == .closed)
    }

    @Test("Clearing private state wipes the resources of the origin only")
    func clearPrivateState() async throws {
        let fixture = try ResourceFixture()
        let own: Resource<Item> = fixture.service.resource("item")
        let other: Resource<Item> = fixture.service.resource(url: "https://h.example.com/item")
        own.override(with: Item(name: "a"))
        other.override(with: Item(name: "b"))
        await fixture.requests.clearAuthorization()
        #expect(own.content == nil)
        #expect(other.content?.name == "b")
    }
}
