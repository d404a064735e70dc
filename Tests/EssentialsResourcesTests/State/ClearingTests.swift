import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@Suite("Resource: clearing failure and entity", .leavesNothing)
struct ClearingTests {
    @Test("A 304 clears an earlier failure, and the content is fresh again")
    func notModified() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""])
            .thenAnswer(.internalServerError).thenAnswer(.notModified)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(item.state.failure?.reason == .status)
        #expect(item.state.failureAge == .zero)
        #expect(try await item.load().name == "a")
        #expect(item.state.failure == nil)
        #expect(item.state.failureAge == nil)
        #expect(item.isFresh)
    }

    @Test("A wipe clears a failure, which does not hold back the next load")
    func wipe() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(.internalServerError).thenAnswer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        await #expect(throws: RequestFailure.self) { try await item.load() }
        #expect(item.state.failure?.reason == .status)
        item.wipe()
        #expect(item.state.failure == nil)
        #expect(item.state.failureAge == nil)
        #expect(try await item.loadIfNeeded().name == "a")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A cancelled load leaves an earlier failure and its time as they are")
    func cancellation() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer(.internalServerError).thenAnswer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "late"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        await #expect(throws: RequestFailure.self) { try await item.load() }
        fixture.clock.advance(by: .seconds(3))
        let load = item.startLoad()
        _ = try await fixture.transport.request(number: 2)
        load.cancel()
        await #expect(throws: RequestFailure(.cancelled, "")) { try await load.content }
        #expect(item.state.failure?.status == .internalServerError)
        #expect(item.state.failureAge == .seconds(3))
        latch.open()
    }

    @Test("An override with an entity replaces the content and the whole entity")
    func entity() async throws {
        let fixture = try ResourceFixture()
        fixture.transport.on(.get, "/v1/item").answer(
            json: Item(name: "a"), headerFields: [.eTag: "\"1\"", .contentLanguage: "en"])
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        #expect(item.state.entity?.entityTag == "\"1\"")
        let fields: HTTPFields = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
        let date = Date(timeIntervalSinceReferenceDate: 1_000)
        let plain = MediaType(parsing: "text/plain")
        item.override(
            with: Item(name: "own"), entity: Entity(mediaType: plain, headerFields: fields, date: date, byteCount: 7))
        #expect(item.content?.name == "own")
        #expect(item.state.provenance == .local)
        #expect(item.isFresh)
        let entity = try #require(item.state.entity)
        #expect(entity.mediaType == plain)
        #expect(entity.headerFields == fields)
        #expect(entity.entityTag == nil)
        #expect(entity.date == date)
        #expect(entity.byteCount == 7)
        // The server has not sent this content, so it cannot confirm it.
        #expect(try await item.load().name == "a")
        #expect(fixture.transport.requests[1].headerFields[.ifModifiedSince] == nil)
        #expect(fixture.transport.requests[1].headerFields[.ifNoneMatch] == nil)
    }
}
