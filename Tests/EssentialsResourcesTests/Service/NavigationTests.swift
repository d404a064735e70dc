import EssentialsRequests
import EssentialsTestKit
import ServiceEssentials
import Testing

@testable import EssentialsResources

@Suite("Resources near others", .leavesNothing)
struct NavigationTests {
    let fixture: ResourceFixture

    init() throws { fixture = try ResourceFixture() }

    private func user(_ id: String = "7") -> Resource<Item> { fixture.service.resource("users", id) }

    @Test(
        "A segment is escaped as a whole, and the query stays",
        arguments: [
            ("a/b.txt", "a%2Fb.txt"), ("a b?c#d%", "a%20b%3Fc%23d%25"), ("/", "%2F"), ("", ""), ("ü", "%C3%BC"),
            ("a*b", "a*b"),
        ])
    func segment(text: String, escaped: String) {
        let file: Resource<Item> = user().withParam("x", "1").child(segment: text)
        #expect(file.url == "https://h/v1/users/7/\(escaped)?x=1")
    }

    @Test("A segment of dots is not loaded", arguments: [".", ".."])
    func dots(text: String) async {
        let file: Resource<Item> = user().child(segment: text)
        await #expect(throws: RequestFailure.self) { try await file.load() }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("Only the last of several steps needs a type, and it leads to the resource of the whole path")
    func untyped() {
        let lines: Resource<[Item]> = user().child("orders").child(segment: "1/2").child("lines")
        #expect(lines == fixture.service.resource("users", "7", "orders", "1/2", "lines"))
        let again = user().any.child("orders").child(segment: "1/2").child("lines", as: [Item].self)
        #expect(again == lines)
        #expect(user().child("orders").withParam("page", "2").url == "https://h/v1/users/7/orders?page=2")
        #expect(user().relative("../8")?.child("orders").url == "https://h/v1/8/orders")
        #expect(user().relative("8")?.relative("9", as: Item.self) == user("9"))
        #expect(user().any.relative(nil) == nil)
    }

    @Test("Steps keep the variant")
    func variant() {
        let german = ResourceVariant([.field(.acceptLanguage, "de")])
        let items: Resource<Item> = fixture.service.resource("items", variant: german)
        let child = items.any.child("7")
        #expect(child == fixture.service.resource(at: .path("items/7"), variant: german))
        #expect(child != fixture.service.resource(at: .path("items/7"), variant: nil))
    }

    @Test("A service that is created from a base URL loads over its own transport, and ends it when it is closed")
    func baseURL() async throws {
        let server = try LoopbackServer { _ in .response(headers: [("Content-Type", "text/plain")], body: "hello") }
        let service = try HTTPResourceService(baseURL: "\(server.url)")
        #expect(try await service.resource("greeting", as: String.self).load() == "hello")
        #expect(server.requests.map(\.target) == ["/greeting"])
        await service.close()
        let request = DataRequest(.get, "greeting")
        let failure = await #expect(throws: RequestFailure.self) { try await service.requests.send(request) }
        #expect(failure?.reason == .closed)
        #expect(throws: RequestFailure.self) { try HTTPResourceService(baseURL: "no URL") }
    }
}

@Suite("Pattern of one resource")
struct ResourcePatternOfOneTests {
    @Test("A pattern of one resource selects only it, although its URL has characters that are wildcards elsewhere")
    func one() throws {
        let fixture = try ResourceFixture()
        let service = fixture.service
        let star: Resource<Item> = service.resource("items", "a*")
        let other: Resource<Item> = service.resource("items", "ab")
        try service.configure(.resource(star)) { $0.expiration = .seconds(5) }
        #expect(star.configuration().expiration == .seconds(5))
        #expect(other.configuration().expiration == .seconds(30))
        for item in [star, other] { item.override(with: Item(name: "a")) }
        try service.wipe(.resource(star.any))
        #expect(star.content == nil && other.content != nil)
        try service.invalidate(.resource(other))
        #expect(other.isInvalid && !star.isInvalid)
    }

    @Test("A pattern of one resource distinguishes queries, and moves with the base URL")
    func moves() throws {
        let fixture = try ResourceFixture()
        let page: Resource<Item> = fixture.service.resource("items", as: Item.self).withParam("page", "2")
        try fixture.service.configure(.resource(page)) { $0.expiration = .seconds(5) }
        #expect(page.withParam("page", "3").configuration().expiration == .seconds(30))
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other/v2/")))
        #expect(page.configuration().expiration == .seconds(5))
        #expect(page.url == "https://other/v2/items?page=2")
    }
}
