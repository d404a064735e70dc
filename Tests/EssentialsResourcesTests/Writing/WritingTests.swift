import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: writing", .leavesNothing, .timeLimit(.minutes(5)))
struct WritingTests {
    @Test(
        "After PUT the content is the sent one, which is fresh if the response has a validator, and otherwise invalid")
    func put() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""]).thenAnswer(.noContent)
        let text: Resource<String> = shop.cart.resource()
        #expect(text.content == #"{"items":["a"]}"#)
        let outcome = try await shop.cart.put(Cart(items: ["b"]))
        #expect(outcome.status == .noContent)
        #expect(shop.cart.content == Cart(items: ["b"]))
        #expect(shop.cart.isFresh)
        #expect(shop.cart.state.provenance == .network)
        #expect(shop.cart.state.entity?.entityTag == "\"2\"")
        #expect(shop.cart.state.entity?.mediaType == .json)
        #expect(text.content == #"{"items":["b"]}"#)
        let sent = try #require(shop.transport.requests.last)
        #expect(sent.bodyText == #"{"items":["b"]}"#)
        #expect(sent.headerFields[.contentType]?.hasPrefix("application/json") == true)

        try await shop.cart.put(Cart(items: ["c"]))
        #expect(shop.cart.content == Cart(items: ["c"]))
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.provenance == .local)
        #expect(shop.cart.state.entity?.entityTag == nil)
    }

    @Test("Printing the outcome of a write and the response of a request shows no query, cookie or value of a field")
    func printing() async throws {
        let shop = try await CartFixture()
        let fields: HTTPFields = [
            .setCookie: "sid=s3cret", .location: "/v1/orders/1?token=s3cret", .eTag: "\"s3cret\"",
        ]
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: fields)
        shop.transport.on(.post, "/v1/cart").answer(json: Cart(items: ["a"]), headerFields: fields)
        let outcome = try await shop.cart.put(Cart(items: ["b"]))
        let response = try await shop.cart.request(.post, body: .model(Cart(items: ["b"])), as: Cart.self).start()
            .response
        let entity = PipelineEntity(content: 1, mediaType: .json, headerFields: fields, status: .ok)
        var configuration = ResourceConfiguration()
        configuration.headerFields = [.authorization: "s3cret"]
        let confirmation = EntityConfirmation(headerFields: fields, date: Date(timeIntervalSince1970: 0))
        for value in [outcome, response, entity, configuration, confirmation] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("s3cret"), "\(text)")
            }
        }
        #expect("\(outcome)".contains("Set-Cookie") && "\(outcome)".contains("/v1/orders/1?…"))
        #expect("\(response)".contains("Set-Cookie"))
    }

    @Test("A load after a confirmed PUT is conditional with the new tag, and one after an unconfirmed PUT is not")
    func conditionAfterPut() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""]).thenAnswer(.noContent)
        try await shop.cart.put(Cart(items: ["b"]))
        try await shop.cart.load()
        #expect(shop.transport.requests.last?.headerFields[.ifNoneMatch] == "\"2\"")
        try await shop.cart.put(Cart(items: ["b"]))
        try await shop.cart.load()
        #expect(shop.transport.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    @Test("After PUT and PATCH a body is the content if its Content-Location is the URL of the resource")
    func contentLocation() async throws {
        let shop = try await CartFixture()
        let fields: HTTPFields = [.contentLocation: "../v1/%63art", .eTag: "\"2\""]
        shop.transport.on(.put, "/v1/cart").answer(json: Cart(items: ["server"]), headerFields: fields)
        shop.transport.on(.patch, "/v1/cart").answer(json: Cart(items: ["patched"]), headerFields: fields)
            .thenAnswer(json: Cart(items: ["other"]), headerFields: [.contentLocation: "/v1/cart/log"])
        try await shop.cart.put(Cart(items: ["sent"]))
        #expect(shop.cart.content == Cart(items: ["server"]))
        #expect(shop.cart.isFresh)
        try await shop.cart.patch(["items": ["x"]], optimistically: { $0.items = ["guess"] })
        #expect(shop.cart.content == Cart(items: ["patched"]))
        #expect(shop.cart.isFresh)
        #expect(shop.cart.state.pending == 0)
        try await shop.cart.patch(["items": ["x"]], optimistically: { $0.items = ["guess"] })
        #expect(shop.cart.content == Cart(items: ["guess"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("A requested body is the content, and the request contains the preference for it")
    func askedFor() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(json: Cart(items: ["new"]))
        try await shop.cart.patch(["items": ["x"]], .returningContent)
        #expect(shop.cart.content == Cart(items: ["new"]))
        #expect(shop.cart.isFresh)
        let prefer = try #require(HTTPField.Name("Prefer"))
        #expect(shop.transport.requests.last?.headerFields[prefer] == "return=representation")
    }

    @Test("After PATCH without a representation the optimistic change is part of the content, which is invalid")
    func patch() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""])
        try await shop.cart.patch("b", optimistically: { $0.items.append("b") })
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.pending == 0)
        #expect(shop.cart.state.provenance == .local)
        // The content is a guess, so a 304 must not confirm it.
        try await shop.cart.load()
        #expect(shop.transport.requests.last?.headerFields[.ifNoneMatch] == nil)
        #expect(shop.cart.content == Cart(items: ["a"]))
        #expect(!shop.cart.isInvalid)
    }

    @Test("After PATCH without an optimistic change the content stays and is invalid")
    func patchWithoutLayer() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(.noContent)
        try await shop.cart.patch("b")
        #expect(shop.cart.content == Cart(items: ["a"]))
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.provenance == .network)
    }

    @Test("After POST the resource is invalid, and Location gives the created resource")
    func post() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.post, "/v1/cart").answer(
            .created, json: Item(name: "receipt"), headerFields: [.location: "cart/7", .eTag: "\"item\""])
        let outcome = try await shop.cart.post(Item(name: "b"))
        #expect(outcome.status == .created)
        #expect(try outcome.content(as: Item.self).name == "receipt")
        #expect(outcome.location?.url == "https://h/v1/cart/7")
        #expect(outcome.location == shop.service.resource("cart/7", as: Item.self).any)
        #expect(shop.cart.content == Cart(items: ["a"]))
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.entity?.entityTag == "\"1\"")
        // The tag of the response is that of the created resource.
        try await shop.cart.post(Item(name: "b"), optimistically: { $0.items.append("b") })
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.state.entity?.entityTag == nil)
        let empty = try await shop.cart.post()
        #expect(empty.status == .created)
        #expect(shop.transport.requests.last?.body.isEmpty == true)
    }

    @Test(
        "DELETE removes the content, even if the server says that the resource does not exist",
        arguments: [
            HTTPResponse.Status.noContent, .ok, .notFound, .gone,
        ])
    func delete(status: HTTPResponse.Status) async throws {
        let shop = try await CartFixture()
        shop.transport.on(.delete, "/v1/cart").answer(status)
        var changes = shop.cart.changes().makeAsyncIterator()
        _ = await changes.next()
        #expect(try await shop.cart.delete().status == status)
        let change = await changes.next()
        #expect(change?.event == .wiped(.deleted))
        #expect(change?.state.content == nil)
        #expect(shop.cart.state.entity == nil)
        #expect(!shop.cart.isInvalid)
    }

    @Test("A refused write is thrown, changes nothing, and does not count as a failed load")
    func refused() async throws {
        let shop = try await CartFixture()
        for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
            shop.transport.on(method, "/v1/cart").answer(.forbidden)
        }
        let version = shop.cart.state.version
        await #expect(throws: RequestFailure.self) { try await shop.cart.post("x") }
        await #expect(throws: RequestFailure.self) { try await shop.cart.put(Cart(items: ["x"])) }
        await #expect(throws: RequestFailure.self) { try await shop.cart.patch("x") }
        await #expect(throws: RequestFailure.self) { try await shop.cart.delete() }
        #expect(shop.cart.state.version == version)
        #expect(shop.cart.state.failure == nil)
        #expect(shop.cart.isFresh)
    }

    @Test("PUT of content that the views cannot read keeps the old content, which is invalid")
    func unreadable() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""])
        try await shop.cart.put(["name": "x"])
        #expect(shop.cart.content == Cart(items: ["a"]))
        #expect(shop.cart.isInvalid)
        let bytes = Data(#"{"items":["bytes"]}"#.utf8)
        try await shop.cart.put(body: .data(bytes, type: .json))
        #expect(shop.cart.content == Cart(items: ["bytes"]))
        #expect(shop.cart.isFresh)
        let stream = AsyncStream { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
        try await shop.cart.put(body: .stream(stream, length: nil, type: .json))
        #expect(shop.cart.isInvalid)
        try await shop.cart.load()
        try await shop.cart.put(Cart(items: ["part"]), headerFields: [.contentRange: "bytes 0-9/100"])
        #expect(shop.cart.content == Cart(items: ["a"]))
    }

    @Test("The content that PUT sends includes changes by mutations and decorators, and passes the pipeline of loads")
    func changedBody() async throws {
        let shop = try await CartFixture()
        let tag: HTTPFields = [.eTag: "\"2\""]
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: tag)
        let mutating = try shop.service.configure("/cart", methods: [.put]) {
            $0.mutate { $0.body = .model(Cart(items: ["mutated"])) }
        }
        try await shop.cart.put(Cart(items: ["x"]))
        #expect(shop.cart.content == Cart(items: ["mutated"]))
        mutating.remove()
        let decorating = try shop.service.configure("/cart", methods: [.put]) {
            $0.decorate { call, next in
                var request = call.request
                request.body = .model(Cart(items: ["decorated"]))
                return try await next(request)
            }
        }
        try await shop.cart.put(Cart(items: ["x"]))
        #expect(shop.cart.content == Cart(items: ["decorated"]))
        decorating.remove()
        try shop.service.configure("/cart", methods: [.get]) {
            $0.pipeline.transform(at: .raw) { (data: Data) in
                Data(String(decoding: data, as: UTF8.self).replacing("x", with: "piped").utf8)
            }
        }
        try await shop.cart.put(body: .data(Data(#"{"items":["x"]}"#.utf8), type: .json))
        #expect(shop.cart.content == Cart(items: ["piped"]))
        #expect(shop.cart.isFresh)
    }

    @Test("A success with an unreadable response is thrown, but counts as a success for the state")
    func unreadableResponse() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.patch, "/v1/cart").answer(json: Item(name: "x"))
        try shop.service.configure("/cart", methods: [.patch]) {
            $0.pipeline.transform(at: .model) { (_: Data) throws -> Cart in throw RequestFailure(.decoding, "no") }
        }
        let failure = await #expect(throws: RequestFailure.self) {
            try await shop.cart.patch("b", optimistically: { $0.items.append("b") })
        }
        #expect(failure?.reason == .decoding)
        #expect(shop.cart.content == Cart(items: ["a", "b"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("After a redirect to a report the tag of the report does not confirm the sent content")
    func redirected() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.seeOther, headerFields: [.location: "/v1/report"])
        shop.transport.on(.get, "/v1/report").answer(json: Item(name: "done"), headerFields: [.eTag: "\"9\""])
        try await shop.cart.put(Cart(items: ["b"]))
        #expect(shop.cart.content == Cart(items: ["b"]))
        #expect(shop.cart.isInvalid)
        #expect(shop.cart.state.entity?.entityTag == nil)
    }

    @Test("A view that is added after a write reads the sent content")
    func lateView() async throws {
        let shop = try await CartFixture()
        shop.transport.on(.put, "/v1/cart").answer(.noContent, headerFields: [.eTag: "\"2\""])
        try await shop.cart.put(body: .data(Data(#"{"items":[]}"#.utf8), type: .json))
        #expect(shop.cart.resource(as: String.self).content == #"{"items":[]}"#)
    }

    @Test("A PUT that another change has overtaken is invalid, because it is unknown which is newer")
    func overtaken() async throws {
        let shop = try await CartFixture()
        let latch = Latch()
        shop.transport.on(.put, "/v1/cart").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.noContent, headerFields: [.eTag: "\"2\""])
        }
        async let write = shop.cart.put(Cart(items: ["sent"]))
        _ = try await shop.transport.request(number: 2)
        try await shop.cart.load()
        latch.open()
        _ = try await write
        #expect(shop.cart.content == Cart(items: ["sent"]))
        #expect(shop.cart.isInvalid)
    }

    @Test("An invalid resource, a closed service and a foreign host that is not listed fail before anything is shown")
    func failuresBefore() async throws {
        let shop = try await CartFixture()
        let broken: Resource<Cart> = shop.service.resource(url: "no url")
        broken.override(with: Cart())
        let version = broken.state.version
        await expectFailure(.invalidRequest) {
            try await broken.patch("b", optimistically: { $0.items.append("b") })
        }
        #expect(broken.state.version == version)
        let foreign: Resource<Cart> = shop.service.resource(url: "https://example.com/cart")
        await expectFailure(.hostRefused) { try await foreign.post("b") }
        await shop.service.close()
        await expectFailure(.closed) { try await shop.cart.post("b") }
        #expect(shop.transport.requestCount == 1)
    }

    @Test("Writes have the configuration of their method, and are listed among the requests of the resource")
    func configured() async throws {
        let shop = try await CartFixture()
        let latch = Latch()
        shop.transport.on(.post, "/v1/cart").answer { _ in
            await latch.wait()
            return ScriptedAnswer(.noContent)
        }
        try shop.service.configure("/cart", methods: [.post]) { $0.headerFields[.userAgent] = "writer" }
        async let write = shop.cart.post("x", headerFields: [.acceptLanguage: "de"])
        _ = try await shop.transport.request(number: 2)
        #expect(shop.cart.any.runningRequests.map(\.method) == [.post])
        latch.open()
        _ = try await write
        #expect(shop.cart.any.runningRequests.isEmpty)
        #expect(shop.transport.requests.last?.headerFields[.userAgent] == "writer")
        #expect(shop.transport.requests.last?.headerFields[.acceptLanguage] == "de")
        #expect(shop.transport.requests.last?.headerFields[.accept] == "application/json")
    }
}
