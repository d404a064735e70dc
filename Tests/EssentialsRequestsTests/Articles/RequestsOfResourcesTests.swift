import EssentialsTestKit
import EssentialsTools
import ServiceEssentials
import Testing

@Suite("The article RequestsOfResources")
struct RequestsOfResourcesTests {
    private struct Film: Codable, Sendable { var title: String }
    private struct Order: Codable, Sendable { var number: Int }
    private struct Receipt: Codable, Sendable { var total: Int }
    private struct User: Codable, Sendable { var name: String }
    private enum Users: APIService {
        static func get(id: Int) -> APIRequest<User> { request(.get, "users/\(id)") }
        static func rename(id: Int, to name: String) -> APIRequest<User> {
            request(.put, "users/\(id)") { RequestContent { User(name: name) } }
        }
    }
    private struct Bar: Sendable {
        func show(_ progress: Double) {}
    }

    @Test("The article on requests of resources shows hooks, other methods, definitions and chains")
    func requests() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/films/7").answer(json: Film(title: "M"))
        transport.on(.post, "/v1/cart").answer(json: Receipt(total: 3))
        transport.on(.get, "/v1/cart").answer(.serviceUnavailable)
        transport.on(.get, "/v1/backup").answer(json: Receipt(total: 5))
        transport.on(.put, "/v1/users/7").answer(json: User(name: "Ada"))
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let service = try HTTPResourceService(
            requests: HTTPDataRequestService(environment: environment, transport: transport), environment: environment)
        let film: Resource<Film> = service.resource("films/7")
        let cart: Resource<Receipt> = service.resource("cart")
        let backup: Resource<Receipt> = service.resource("backup")
        let (bar, order) = (Bar(), Order(number: 1))
        let shown = Mutex<[String]>([])
        @Sendable func show(_ film: Film) async { shown.withLock { $0.append(film.title) } }
        @Sendable func show(_ message: String) async { shown.withLock { $0.append(message) } }

        do {
            // Article begins
            let request = film.loadRequest()
                .onProgress { bar.show($0) }
                .onNewContent { film in await show(film) }
                .onFailure { failure in await show(failure.message) }
            request.start()
            let content = try await request.content
            // Article ends
            #expect(content.title == "M")
        }

        // Article begins
        let receipt: Receipt = try await cart.request(.post, body: .model(order))
            .content
        cart.invalidate()
        // Article ends
        #expect(receipt.total == 3)

        // Article begins
        let profile = service.resource(Users.get(id: 7))
        let renamed = try await profile.send(Users.rename(id: 7, to: "Ada"))
        // Article ends
        #expect(renamed.name == "Ada")
        #expect(service.resource("users/7", as: User.self).content?.name == "Ada")

        do {
            // Article begins
            let request = cart.startLoad().chained { outcome in
                if case .failure = outcome { return .pass(to: backup.startLoad()) }
                return .keep
            }
            // Article ends
            #expect(try await request.content.total == 5)
        }
    }
}
