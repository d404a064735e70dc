import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import TestTools
import Testing

@Suite("Invalidating and wiping several resources", .leavesNothing)
struct WipingTests {
    let fixture: ResourceFixture
    let orders: [Resource<Item>]
    let other: Resource<Item>
    let foreign: Resource<Item>

    init() throws {
        fixture = try ResourceFixture()
        let service = fixture.service
        orders = ["orders/1", "orders/2"].map { service.resource($0) }
        other = service.resource("users/1")
        foreign = service.resource(url: "https://other.example.com/orders/1")
        for resource in orders + [other, foreign] { resource.override(with: Item(name: "a")) }
    }

    @Test("A pattern invalidates the resources that it selects, and sends nothing")
    func invalidating() throws {
        try fixture.service.invalidate("/orders/*")
        #expect(orders.allSatisfy { $0.isInvalid && $0.content != nil })
        #expect(!other.isInvalid && !foreign.isInvalid)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("A regular expression, a predicate and a URL select resources as well")
    func selections() throws {
        try fixture.service.invalidate(.regex(/orders\/2$/))
        #expect(orders.map(\.isInvalid) == [false, true])
        try fixture.service.wipe(.matching { $0.isForeign })
        #expect(foreign.content == nil)
        #expect(other.content != nil)
    }

    @Test("Tags of the configuration select resources")
    func tags() throws {
        try fixture.service.configure("/orders/1") { $0.tags = ["prices"] }
        try fixture.service.configure("/users/*") { $0.tags = ["people", "prices"] }
        fixture.service.invalidate(tagged: ["people"])
        #expect(other.isInvalid && !orders[0].isInvalid)
        fixture.service.wipe(tagged: ["prices", "none"])
        #expect(other.content == nil && orders[0].content == nil)
        #expect(orders[1].content != nil && foreign.content != nil)
    }

    @Test("All resources can be wiped, including those of other hosts")
    func all() throws {
        try fixture.service.wipe("/**")
        #expect((orders + [other]).allSatisfy { $0.content == nil })
        #expect(foreign.content != nil)
        try fixture.service.wipe(.all)
        #expect(foreign.content == nil)
    }

    @Test("A wipe cancels loads, and other requests only on demand")
    func requests() async throws {
        let latch = Latch()
        fixture.transport.on(.get, "/v1/users/1").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "b"))
        }
        fixture.transport.on(.post, "/v1/users/1").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "c"))
        }
        let load = other.startLoad()
        let write: ResourceRequest<Item> = other.request(.post).start()
        _ = try await fixture.transport.request(number: 2)
        try fixture.service.wipe("/users/*")
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
        try fixture.service.wipe("/users/*", .includingWrites)
        await #expect(throws: RequestFailure(.cancelled, "")) { try await write.content }
        latch.open()
    }

    @Test("A malformed pattern is an error, and changes nothing")
    func malformed() throws {
        let failure = #expect(throws: RequestFailure.self) { try fixture.service.wipe("/a***b") }
        #expect(failure?.reason == .invalidRequest)
        #expect(throws: RequestFailure.self) { try fixture.service.invalidate("ftp://h/**") }
        #expect((orders + [other, foreign]).allSatisfy { $0.content != nil })
    }

    @Test("A URL that is nil is one resource, whose loads fail")
    func noURL() async throws {
        let (one, two): (Resource<Item>, Resource<Item>) =
            (fixture.service.resource(url: nil), fixture.service.resource(url: nil))
        #expect(one == two)
        let failure = await #expect(throws: RequestFailure.self) { try await one.load() }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("A path can be joined below another URL than the base")
    func belowAnother() {
        let picture: Resource<Item> = fixture.service.resource("a b", below: "https://cdn.example.com/pictures")
        #expect(picture.url == "https://cdn.example.com/pictures/a%20b")
        #expect(picture == fixture.service.resource(url: "https://cdn.example.com/pictures/a%20b"))
    }
}
