import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

/// A program as a reader of the documentation writes it, over a real server.
@Suite("A shop of resources", .leavesNothing, .timeLimit(.minutes(5)))
struct ShopExampleTests {
    struct User: Codable, Sendable, Equatable {
        var name: String
    }

    struct Shelf: Codable, Sendable, Equatable {
        var items: [String]
    }

    struct Order: Codable, Sendable, Equatable {
        var id: Int
    }

    struct Add: Codable, Sendable {
        var item: String
    }

    struct Shop: Sendable {
        let service: any ResourceService
        var cart: Resource<Shelf> { service.resource("cart") }
        func user(_ id: String) -> Resource<User> { service.resource("users", id) }
        func orders(of id: String) -> Resource<[Order]> { user(id).child("orders") }
    }

    enum Users: Endpoint {
        typealias Parent = EnvironmentAPI
        static let path: RequestPath = "users"
        static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
        static func rename(id: Int, to name: String) -> APIRequest<Void> {
            request(.put, "\(id)") { RequestContent { User(name: name) } }
        }
    }

    /// The data of the server.
    private final class Backend: Sendable {
        struct State {
            var items = ["a book"]
            var name = "Grace"
            var counts: [String: Int] = [:]
        }

        let state = Mutex(State())

        func count(_ line: String) -> Int { state.withLock { $0.counts[line] ?? 0 } }

        func reply(to request: ServerRequest) -> ServerReply {
            state.withLock { state in
                state.counts["\(request.method) \(request.path)", default: 0] += 1
                switch (request.method, request.path) {
                case ("GET", "/v1/users/7"): return Self.json("{\"name\":\"\(state.name)\"}", tag: state.name)
                case ("PUT", "/v1/users/7"):
                    let user = try? JSONDecoder().decode(User.self, from: Data(request.body))
                    state.name = user?.name ?? "unreadable"
                    return .response(status: 204, headers: [("ETag", "\"\(state.name)\"")])
                case ("GET", "/v1/users/7/orders"): return Self.json("[{\"id\":1}]", tag: "orders")
                case ("GET", "/v1/cart"):
                    let items = state.items.map { "\"\($0)\"" }.joined(separator: ",")
                    return Self.json("{\"items\":[\(items)]}", tag: "\(state.items.count)")
                case ("PATCH", "/v1/cart"):
                    let add = try? JSONDecoder().decode(Add.self, from: Data(request.body))
                    state.items.append(add?.item ?? "unreadable")
                    return .response(status: 204)
                default: return .response(status: 404)
                }
            }
        }

        private static func json(_ body: String, tag: String) -> ServerReply {
            .response(headers: [("Content-Type", "application/json"), ("ETag", "\"\(tag)\"")], body: body)
        }
    }

    private actor Display {
        private(set) var drawn: [String] = []

        func run(_ cart: Resource<Shelf>) async {
            for await state in cart.states(loading: .ifNeeded) {
                drawn.append(state.content?.items.joined(separator: ", ") ?? "nothing")
                if state.content?.items.count == 2, state.pending == 0 { return }
            }
        }
    }

    @MainActor private final class Title {
        private(set) var text: String?
        func show(_ text: String?) { self.text = text }
    }

    @MainActor
    @Test("A shop loads once for all, shows changes at once, and finds its content in the cache after a restart")
    func shop() async throws {
        let backend = Backend()
        let server = try LoopbackServer { backend.reply(to: $0) }
        defer { server.stop() }
        let directory = FileManager.default.temporaryDirectory.appending(path: "shop-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: directory) }
        let locator = try Self.locator(server.url + "/v1", cache: directory.path)
        let shop = Shop(service: try locator.resolve((any ResourceService).self))

        async let one = shop.user("7").loadIfNeeded()
        async let two = shop.user("7").loadIfNeeded()
        #expect(try await [one, two] == [User(name: "Grace"), User(name: "Grace")])
        #expect(backend.count("GET /v1/users/7") == 1)

        let (display, title, cart) = (Display(), Title(), shop.cart)
        async let drawing: Void = display.run(cart)
        let observation = shop.user("7").observe { @MainActor change in title.show(change.state.content?.name) }
        try await cart.loadIfNeeded()
        let item = "a pen"
        try await cart.patch(Add(item: item), optimistically: { $0.items.append(item) }, invalidating: "/orders/**")
        await drawing
        #expect(await display.drawn.last == "a book, a pen")
        #expect(backend.state.withLock { $0.items } == ["a book", "a pen"])

        try await shop.orders(of: "7").load()
        for await status in ResourceStatus.of(cart, shop.orders(of: "7")) {
            if case .content = status { break }
        }

        let profile = shop.service.resource(Users.get(id: 7))
        #expect(profile == shop.user("7"))
        try await profile.send(Users.rename(id: 7, to: "Ada"), optimistically: { $0.name = "Ada" })
        while title.text != "Ada" { await Task.yield() }
        observation.cancel()
        await locator.close()

        let restarted = try Self.locator(server.url + "/v1", cache: directory.path)
        let orders = Shop(service: try restarted.resolve((any ResourceService).self)).orders(of: "7")
        #expect(try await orders.loadIfNeeded() == [Order(id: 1)])
        #expect(orders.state.provenance != .network)
        #expect(backend.count("GET /v1/users/7/orders") == 1)
        await restarted.close()
    }

    private static func locator(_ baseURL: String, cache: String) throws -> ServiceLocator {
        let locator = ServiceLocator(name: "shop")
        try locator.register(ConstantEnvironment(baseURL), as: (any EnvironmentService).self)
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
        }
        try locator.registerLazy((any ResourceService).self) { locator in
            let service = try HTTPResourceService(
                requests: locator.resolve((any DataRequestService).self),
                environment: locator.resolve((any EnvironmentService).self),
                cache: FileEntityCache(directory: cache, maximumBytes: 64 << 20))
            try service.configure("/users/*") { $0.expiration = .seconds(300) }
            try service.configure("/prices") { $0.refresh = .every(.seconds(5)) }
            return service
        }
        return locator
    }
}
