import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

private struct Problem: Codable, Sendable, Hashable { let title: String }

private enum Items: APIService {
    static let errorModel = Problem.self

    static func create(_ item: Item) -> APIRequest<Item> { request(.post, "items") { RequestContent(item) } }
    static func delete(id: Int) -> APIRequest<Void> { request(.delete, "items/\(id)") }
}

@Suite("Outbox: definitions", .timeLimit(.minutes(5)))
struct OutboxSendingTests {
    private struct Service: FetchingService {
        let requests: any DataRequestService
    }

    let fixture: OutboxFixture
    private var transport: ScriptedTransport { fixture.transport }
    private let item = Item(name: "Ada")

    init() throws { fixture = try OutboxFixture() }

    @Test("Sending a definition returns the type of its response when the server has accepted it")
    func kinds() async throws {
        transport.on(.post, "/v1/items").answer(json: Item(name: "stored"))
        transport.on(.delete, "/v1/items/7").answer(.noContent)
        let outbox = try fixture.outbox()
        let stored = try await outbox.send(Items.create(item))
        #expect(stored == Item(name: "stored"))
        try await outbox.send(Items.delete(id: 7))
        let response = try await outbox.send(Items.create(item).reading(DataResponse.self))
        #expect(response.status == .ok)
        let service = Service(requests: fixture.requests)
        #expect(try await service.send(Items.create(item), through: outbox) == Item(name: "stored"))
        try await service.send(Items.delete(id: 7), through: outbox)
        try await outbox.drain()
        #expect(fixture.names == ["lock"])
        #expect(transport.requests.allSatisfy { $0.key?.count == 36 })
        #expect(transport.requests.first?.headerFields[.accept] == "application/json")
    }

    @Test("A stored request has its template for metrics and traces, also when another outbox sends it")
    func template() async throws {
        transport.on(.delete, "/v1/items/7").answer(.noContent)
        let outbox = try fixture.outbox()
        var request = DataRequest(.delete, "items/7")
        request.urlTemplate = "/items/{id}"
        try await outbox.add(request)
        await outbox.close()
        let next = try fixture.outbox()
        try await next.drain()
        let templates = fixture.timelines.all.map { timeline in
            timeline.events.compactMap { event -> String? in
                if case .sent(let request) = event.kind { request.urlTemplate } else { nil }
            }
        }
        #expect(templates == [["/items/{id}"]])
        await next.close()
    }

    @Test("A definition waits for the attempt that succeeds, and its own key is the same in all of them")
    func retried() async throws {
        transport.on(.post, "/v1/items").answer(.serviceUnavailable).thenAnswer(json: Item(name: "stored"))
        let outbox = try fixture.outbox()
        async let stored = outbox.send(Items.create(item).idempotencyKey(.text("item-1")))
        for await entry in outbox.statuses where entry.state == .delayed { break }
        try await outbox.drain()
        #expect(try await stored == Item(name: "stored"))
        #expect(transport.requests.map(\.key) == ["item-1", "item-1"])
    }

    @Test("A request that is given up throws its failure with the error model, and stays in the outbox")
    func givenUp() async throws {
        transport.on(.post, "/v1/items").answer(.conflict, json: Problem(title: "taken"))
        let outbox = try fixture.outbox()
        let failure = await #expect(throws: RequestFailure.self) { try await outbox.send(Items.create(item)) }
        #expect(failure?.status == .conflict)
        #expect(failure?.errorModel(as: Problem.self) == Problem(title: "taken"))
        #expect(try await outbox.entries.count == 1)
    }

    private struct Refusal: Codable, Sendable, Hashable { let shortText: String }

    @Test(
        "The error model is read with the codecs of the definition or its caller, even after a form",
        arguments: [true, false])
    func codecs(isOwn: Bool) async throws {
        transport.on(.post, "/v1/items").answer(.conflict, json: ["short_text": "taken"])
        let codecs = CodecRegistry.standard.registering(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        let outbox = try fixture.outbox()
        for content in [RequestContent(form: ["name": "Ada"]), RequestContent(item)] {
            var definition = APIRequest<Item>(.post, "items") { content }
            definition.errorModel = Refusal.self
            if isOwn { definition.codecs = codecs }
            let failure = await #expect(throws: RequestFailure.self) {
                try await outbox.send(definition, codecs: isOwn ? nil : codecs)
            }
            #expect(failure?.errorModel(as: Refusal.self) == Refusal(shortText: "taken"))
        }
    }

    @Test("A cancelled task stops waiting, but its request is still sent")
    func cancelled() async throws {
        transport.on(.post, "/v1/items").answer(json: item)
        let outbox = try fixture.outbox()
        outbox.pause()
        let task = Task { try await outbox.send(Items.create(item)) }
        var statuses = outbox.statuses.makeAsyncIterator()
        _ = await statuses.next()
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        outbox.resume()
        try await outbox.drain()
        #expect(transport.requestCount == 1)
    }

    @Test("Dropping a request, or closing its outbox, ends the wait")
    func ended() async throws {
        let outbox = try fixture.outbox()
        outbox.pause()
        var statuses = outbox.statuses.makeAsyncIterator()
        let dropped = Task { try await outbox.send(Items.create(item)) }
        let entry = try #require(await statuses.next())
        #expect(try await outbox.drop(entry.id))
        let drop = await #expect(throws: RequestFailure.self) { try await dropped.value }
        #expect(drop?.reason == .cancelled)
        let closed = Task { try await outbox.send(Items.create(item)) }
        while try await outbox.entries.isEmpty { await Task.yield() }
        await outbox.close()
        let close = await #expect(throws: RequestFailure.self) { try await closed.value }
        #expect(close?.reason == .closed)
        #expect(transport.requestCount == 0)
    }

    @Test("A request that waited longer than its maximum age fails as `timeout`")
    func tooOld() async throws {
        let outbox = try fixture.outbox { $0.maximumAge = .seconds(60) }
        outbox.pause()
        let task = Task { try await outbox.send(Items.create(item)) }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(61))
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .timeout)
    }

    @Test("A definition that cannot be built adds nothing")
    func invalid() async throws {
        let outbox = try fixture.outbox()
        let failure = await #expect(throws: RequestFailure.self) {
            try await outbox.send(Items.create(item).settingHeader("a b", "x"))
        }
        #expect(failure?.reason == .invalidRequest)
        #expect(try await outbox.entries.isEmpty)
    }
}
