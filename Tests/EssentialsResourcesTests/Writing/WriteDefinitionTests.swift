import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Resource: definitions that write", .leavesNothing, .timeLimit(.minutes(5)))
struct WriteDefinitionTests {
    private enum Carts: APIService {
        static let get: APIRequest<Cart> = request(.get, "cart")
        static let delete: APIRequest<Void> = request(.delete, "cart")
        static let report: APIRequest<DataResponse> = request(.post, "cart")
        static let export: APIRequest<ResponseBody> = request(.post, "cart/export")
        static let broken: APIRequest<Cart> = request(.patch, "cart") { RequestHeaders { ("Bad Name", "x") } }
        static func change(_ items: [String]) -> APIRequest<Cart> {
            request(.patch, "cart") { RequestContent { Cart(items: items) } }
        }
    }

    @Test("A deletion with the status 404 removes the content and is thrown")
    func missing() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.delete, "/v1/cart").answer(.notFound)
        let failure = await #expect(throws: RequestFailure.self) { try await shop.cart.send(Carts.delete) }
        #expect(failure?.status == .notFound)
        #expect(shop.cart.content == nil)
    }

    @Test("A definition is sent with the options of the write, and its response is both the content and the result")
    func options() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(json: Cart(items: ["new"]), headerFields: [.eTag: "\"2\""])
        let result = try await shop.cart.send(Carts.change(["b"]), [.ifUnchanged, .returningContent])
        #expect(result == Cart(items: ["new"]))
        #expect(shop.cart.content == Cart(items: ["new"]))
        #expect(shop.cart.isFresh)
        let sent = try #require(shop.transport.requests.last)
        #expect(sent.headerFields[.ifMatch] == "\"1\"")
        let prefer = try #require(HTTPField.Name("Prefer"))
        #expect(sent.headerFields[prefer] == "return=representation")
    }

    @Test("A definition waits for earlier writes, and a refused one removes its change")
    func order() async throws {
        let shop = try await CartFixture()
        let writes = HeldWrites(shop)
        let cart = shop.cart
        let first = Task { try await cart.patch("1", optimistically: { $0.items.append("1") }) }
        _ = try await shop.transport.request(number: 2)
        let second = Task { try await cart.send(Carts.change(["2"]), optimistically: { $0.items.append("2") }) }
        await settled { cart.state.pending == 2 }
        #expect(shop.transport.requestCount == 2)
        writes.answer(1)
        _ = try await first.value
        _ = try await shop.transport.request(number: 3)
        writes.answer(2, ScriptedAnswer(.conflict))
        await expectFailure(.status) { try await second.value }
        #expect(cart.content == Cart(items: ["a", "1"]))
    }

    @Test("A success whose model cannot be read is thrown, and the change stays")
    func unreadable() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(json: Item(name: "x"))
        await expectFailure(.decoding) {
            try await shop.cart.send(Carts.change(["b"]), optimistically: { $0.items.append("b") })
        }
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("A response and a stream are returned as they are, after the state has changed")
    func responses() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.post, "/v1/cart").answer(text: "report")
        shop.transport.on(.post, "/v1/cart/export").answer(text: "stream")
        let response = try await shop.cart.send(Carts.report)
        #expect(try await response.body.collect(upTo: 100) == Data("report".utf8))
        #expect(shop.cart.isInvalid)
        try await shop.cart.load()
        let stream: ResponseBody = try await shop.cart.send(Carts.export)
        #expect(shop.cart.isInvalid)
        #expect(try await stream.collect(upTo: 100) == Data("stream".utf8))
    }

    @Test("An invalid definition fails before anything is shown")
    func invalid() async throws {
        let shop = try await CartFixture()
        let version = shop.cart.state.version
        await expectFailure(.invalidRequest) {
            try await shop.cart.send(Carts.broken, optimistically: { $0.items.append("b") })
        }
        #expect(shop.cart.state.version == version)
        #expect(shop.transport.requestCount == 1)
    }
}
