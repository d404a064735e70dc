import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Resource: unreadable responses to writes", .leavesNothing, .timeLimit(.minutes(5)))
struct UnreadableWriteTests {
    private static let page = ScriptedAnswer(
        data: Data("<html>Log in</html>".utf8),
        headerFields: [.contentType: "text/html", .contentLocation: "/v1/cart", .eTag: "\"p\""])

    private enum Carts: APIService {
        static let change: APIRequest<Item> = request(.patch, "cart") { RequestContent { Item(name: "b") } }
    }

    @Test("After PATCH with an unreadable response the optimistic change stays, and the failure is thrown")
    func patch() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(json: Item(name: "x")).thenAnswer(Self.page)
        await expectFailure(.decoding) {
            try await shop.cart.patch("b", .returningContent, optimistically: { $0.items.append("b") })
        }
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.pending == 0)
        #expect(shop.cart.state.provenance == .local)
        #expect(shop.cart.state.failure == nil)
        await expectFailure(.decoding) { try await shop.cart.patch("c") }
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.entity?.entityTag == nil)
    }

    @Test("After PUT with an unreadable response the sent content is shown as invalid, and the failure is thrown")
    func put() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(Self.page)
        let text = shop.cart.text
        #expect(text.content == #"{"items":["a"]}"#)
        await expectFailure(.decoding) {
            try await shop.cart.put(Cart(items: ["sent"]), optimistically: { $0.items = ["guess"] })
        }
        #expect(shop.cart.content == Cart(items: ["sent"]))
        #expect(text.content == #"{"items":["sent"]}"#)
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.pending == 0)
        #expect(shop.cart.state.entity?.entityTag == nil)
        // The sent content cannot be read either, so the old content stays.
        await expectFailure(.decoding) { try await shop.cart.put(["name": "x"]) }
        #expect(shop.cart.content == Cart(items: ["sent"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("After PUT whose pipeline fails the sent content is shown as invalid")
    func pipeline() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(json: Item(name: "x"))
        try shop.service.configure("/cart", methods: [.put]) {
            $0.pipeline.transform(at: .model) { (_: Data) throws -> Cart in throw RequestFailure(.decoding, "no") }
        }
        await expectFailure(.decoding) { try await shop.cart.put(Cart(items: ["sent"])) }
        #expect(shop.cart.content == Cart(items: ["sent"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("The sender of a definition gets its response, although the resource cannot take it")
    func definition() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(
            json: Item(name: "x"), headerFields: [.contentLocation: "/v1/cart"])
        let reply = try await shop.cart.send(Carts.change, optimistically: { $0.items.append("b") })
        #expect(reply == Item(name: "x"))
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("A view that cannot read the current content does not prevent PUT from replacing it")
    func strangeView() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""])
        #expect(shop.cart.resource(as: Item.self).state.failure?.reason == .decoding)
        try await shop.cart.put(Cart(items: ["b"]))
        #expect(shop.cart.content == Cart(items: ["b"]))
        #expect(shop.cart.isFresh)
    }
}
