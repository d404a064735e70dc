import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

private enum Shop: APIService {
    static let baseURL: RequestBase = "https://h.example/v1"
    static let ping = request(.post, "ping")

    enum Users: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "users"
        static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
        static func touch(id: Int) -> APIRequest<Void> {
            let touch = request(.put, "\(id)") { RequestContent("now") }
            return touch
        }
    }
}

private struct Tenant: APIService {
    let baseURL: RequestBase
    var users: Users { Users(parent: self) }

    struct Users: BoundEndpoint {
        static let path: RequestPath = "users"
        let parent: Tenant
        func delete(id: Int) -> APIRequest<Void> {
            let delete = request(.delete, "\(id)")
            return delete
        }
    }
}

private struct LogOut: ServiceRequest {
    typealias Parent = Shop
    var method: HTTPRequest.Method { .delete }
    var pathComponents: RequestPath { "session" }
}

@Suite("Definitions without a model")
struct VoidDefinitionTests {
    @Test("Definitions without a model need no type")
    func untyped() throws {
        let whole = APIRequest(.delete, url: "https://h.example/v1/users/7")
        let child = APIRequest(.delete, "7", parent: Shop.Users.self)
        let below = APIRequest(.delete, "users/7") { RequestHeader("X-A", "1") }
        let bound = Tenant(baseURL: "https://h.example/v1").users.delete(id: 7)
        #expect(whole.target == "/v1/users/7")
        #expect(child.target == "/v1/users/7")
        #expect(bound.target == "/v1/users/7")
        #expect(try below.headerFields["x-a"] == "1")
        #expect(Shop.ping.target == "/v1/ping")
        #expect(try Shop.Users.touch(id: 7).snapshot().body == "now")
        #expect(LogOut().definition.target == "/v1/session")
    }

    @Test("An untyped definition is sent like one of Void, also where it is written")
    func sent() async throws {
        let fixture = try ServiceFixture(StubTransport(status: 204, ""))
        let ping: Void = try await fixture.service.send(Shop.ping)
        let logOut: Void = try await fixture.service.send(LogOut())
        try await fixture.service.send(APIRequest(.delete, "users/7"))
        try await fixture.service.send(Shop.request(.delete, "users/8"))
        _ = (ping, logOut)
        #expect(fixture.transport.requests.map(\.method) == [.post, .delete, .delete, .delete])
    }

    @Test("The type of the context or of a parameter still decides about the model")
    func typed() async throws {
        let fixture = try ServiceFixture(StubTransport(#"{"id":1,"text":"x"}"#))
        let note: Note = try await fixture.service.send(APIRequest(.get, "n"))
        let declared: APIRequest<Note> = Shop.request(.get, "n")
        let named = Shop.request(.get, "n", as: Note.self)
        let read = Shop.request(.get, "n").reading(Note.self)
        #expect(note == Note(id: 1, text: "x"))
        #expect(declared == named)
        #expect(read == named)
    }
}
