import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: pushed events and credentials", .leavesNothing, .timeLimit(.minutes(5)))
struct EventScopeTests {
    let fixture: ResourceFixture
    private let stream: HTTPFields = [.contentType: "text/event-stream"]

    init() throws {
        fixture = try ResourceFixture()
        // Each connection delivers one event with an ID, and is then held open.
        fixture.transport.on(.get, "/v1/events").answer { [stream] request in
            let name = request.headerFields[.authorization] ?? "nobody"
            return ScriptedAnswer(
                pieces: [
                    .text("id: 7\nevent: item\ndata: \(name)\n\n"), .pause(.seconds(1_000)), "event: late\ndata: x\n\n",
                ],
                headerFields: stream)
        }
        fixture.transport.on(.get, "/v1/items/*").answer(text: "loaded")
    }

    private var item: Resource<String> { fixture.service.resource("items", "item") }
    private var late: Resource<String> { fixture.service.resource("items", "late") }

    private func follow(replays: Bool = false) -> EventSubscription {
        fixture.service.follow(eventsAt: "events", replays: replays) { event, resources in
            resources.push(event.data, to: resources.resource("items", event.event, as: String.self))
        }
    }

    private var connections: [RecordedRequest] { fixture.transport.requests.filter { $0.url.path == "/v1/events" } }

    @Test(
        "A stream ends with its credentials at a logout, and is connected again with the next ones",
        arguments: [true, false])
    func logout(hasAccount: Bool) async throws {
        fixture.requests.setAuthorization(try .bearer("a"))
        if hasAccount { fixture.service.enter("ada") }
        let events = follow(replays: true)
        await settled { item.content == "Bearer a" }
        await fixture.requests.clearAuthorization()
        #expect(item.content == nil)
        await settled { events.status == .waiting }
        fixture.clock.advance(by: .seconds(2_000))
        fixture.service.enter(.shared)
        _ = fixture.service.adoptEnvironment()
        for _ in 0..<100 { await Task.yield() }
        #expect(connections.count == 1 && events.status == .waiting)
        #expect(item.content == nil && late.content == nil)
        fixture.requests.setAuthorization(try .bearer("b"))
        await settled { item.content == "Bearer b" }
        #expect(connections.count == 2)
        #expect(connections[1].headerFields["Last-Event-ID"] == nil)
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("A stream ends when its credentials are replaced, and all resources that it feeds are invalid")
    func replaced() async throws {
        fixture.requests.setAuthorization(try .bearer("a"))
        // One of them lies elsewhere, so it is not wiped with the credentials.
        let foreign: Resource<String> = fixture.service.resource(url: "https://cdn.example.com/x")
        let events = fixture.service.follow(eventsAt: "events") { event, resources in
            if event.data == "Bearer a" {
                resources.push(event.data, to: resources.resource(url: "https://cdn.example.com/x"))
            }
            resources.push(event.data, to: resources.resource("items", event.event, as: String.self))
        }
        await settled { item.content == "Bearer a" }
        #expect(foreign.content == "Bearer a" && !foreign.isInvalid)
        fixture.requests.setAuthorization(try .bearer("b"))
        await settled { item.content == "Bearer b" }
        #expect(foreign.isInvalid)
        #expect(connections.map { $0.headerFields["Last-Event-ID"] } == [nil, nil])
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("An event that was received before a logout changes nothing afterwards")
    func lateEvent() async throws {
        let (begun, ended, finished) = (Latch(), Latch(), Latch())
        fixture.requests.setAuthorization(try .bearer("a"))
        item.override(with: "mine")
        let events = fixture.service.follow(eventsAt: "events") { event, resources in
            begun.open()
            await ended.wait()
            let item = resources.resource("items", event.event, as: String.self)
            resources.push(event.data, to: item)
            resources.invalidate(item)
            finished.open()
        }
        await begun.wait()
        await fixture.requests.clearAuthorization()
        ended.open()
        await finished.wait()
        #expect(item.content == nil)
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("A stream without credentials continues after a login and after a logout")
    func withoutCredentials() async throws {
        let events = follow()
        await settled { item.content == "nobody" }
        fixture.requests.setAuthorization(try .bearer("a"))
        #expect(events.status == .connected)
        await fixture.requests.clearAuthorization()
        #expect(events.status == .connected)
        // The sleeper is the pause of the stream.
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(1_000))
        await settled { late.content == "x" }
        #expect(connections.count == 1)
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("Setting equal credentials again does not end a stream")
    func equalCredentials() async throws {
        fixture.requests.setAuthorization(try .bearer("a"))
        let events = follow()
        await settled { item.content == "Bearer a" }
        fixture.requests.setAuthorization(try .bearer("a"))
        #expect(events.status == .connected && item.content == "Bearer a")
        #expect(connections.count == 1)
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("A stream continues when its token source renews the token, and the account stays entered")
    func renewedToken() async throws {
        let count = Mutex(0)
        fixture.requests.setAuthorization(.tokens(Tokens { "\(count.withLock { $0 += 1; return $0 })" }))
        fixture.service.enter("ada")
        let events = follow()
        await settled { item.content == "Bearer 1" }
        fixture.transport.on(.get, "/v1/refusing").answer { request in
            request.headerFields[.authorization] == "Bearer 1"
                ? ScriptedAnswer(.unauthorized) : ScriptedAnswer(text: "renewed")
        }
        let refusing: Resource<String> = fixture.service.resource("refusing")
        #expect(try await refusing.load() == "renewed")
        #expect(count.withLock { $0 } == 2)
        #expect(events.status == .connected && item.content == "Bearer 1")
        #expect(connections.count == 1)
        fixture.clock.advance(by: .seconds(1_000))
        await settled { late.content == "x" }
        events.cancel()
        await settled { events.status == .ended }
    }

    private struct Tokens: AccessTokenProvider {
        let next: @Sendable () -> String
        func token(replacing old: AccessToken?) async throws -> AccessToken { try AccessToken(next()) }
    }

    @Test("A logout during a pause sends no ID of the last event to the next connection")
    func duringPause() async throws {
        fixture.transport.on(.get, "/v1/short").answer(pieces: ["id: 7\ndata: 1\n\n"], headerFields: stream)
        fixture.requests.setAuthorization(try .bearer("a"))
        let events = fixture.service.follow(eventsAt: "short", replays: true) { _, _ in }
        await fixture.clock.waitForSleepers(count: 1)
        await fixture.requests.clearAuthorization()
        fixture.clock.advance(by: .seconds(10))
        for _ in 0..<100 { await Task.yield() }
        #expect(fixture.transport.requestCount == 1)
        fixture.requests.setAuthorization(try .bearer("b"))
        let request = try await fixture.transport.request(number: 2)
        #expect(request.headerFields["Last-Event-ID"] == nil)
        #expect(request.headerFields[.authorization] == "Bearer b")
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("A stream whose user is named by a header field ends at a logout, like a stream with credentials")
    func sessionField() async throws {
        try fixture.service.configure("/events") { $0.headerFields["X-Session-Token"] = "ada" }
        let events = follow()
        await settled { item.content == "nobody" }
        await fixture.requests.clearAuthorization()
        await settled { events.status == .waiting }
        fixture.clock.advance(by: .seconds(2_000))
        for _ in 0..<100 { await Task.yield() }
        #expect(connections.count == 1 && item.content == nil && late.content == nil)
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test(
        "After a return to an environment, its stream waits for a login if a logout happened meanwhile",
        arguments: 0..<2)
    func logoutElsewhere(order: Int) async throws {
        fixture.transport.on(.get, "/w/events").answer(pieces: [.pause(.seconds(1_000))], headerFields: stream)
        let (home, other) = (
            fixture.environment.snapshot, EnvironmentSnapshot(baseURL: try RequestURL("https://other.test/w/"))
        )
        fixture.requests.setAuthorization(try .bearer("a"))
        let events = follow(replays: true)
        await settled { item.content == "Bearer a" }
        if order == 0 { await fixture.requests.clearAuthorization() }
        fixture.environment.set(other)
        fixture.service.adoptEnvironment()
        await settled { fixture.transport.requests.contains { $0.url.path == "/w/events" } }
        if order == 1 { await fixture.requests.clearAuthorization(for: home) }
        fixture.environment.set(home)
        fixture.service.adoptEnvironment()
        await settled { events.status == .waiting }
        for _ in 0..<100 { await Task.yield() }
        #expect(connections.count == 1)
        fixture.requests.setAuthorization(try .bearer("b"))
        await settled { item.content == "Bearer b" }
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("An environment that changes and changes back unnoticed interrupts nothing")
    func thereAndBack() async throws {
        let events = follow(replays: true)
        await settled { item.content == "nobody" }
        let home = fixture.environment.snapshot
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other.test/w/")))
        fixture.environment.set(home)
        fixture.service.adoptEnvironment()
        fixture.clock.advance(by: .seconds(1_000))
        await settled { late.content == "x" }
        #expect(item.content == "nobody")
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test(
        "After a login during a pause, the next connection has no ID of the last event, and fed resources are invalid"
    )
    func loginDuringPause() async throws {
        fixture.transport.on(.get, "/v1/short").answer(
            pieces: ["id: 7\nevent: item\ndata: 1\n\n"], headerFields: stream)
        let events = fixture.service.follow(eventsAt: "short", replays: true) { event, resources in
            resources.push(event.data, to: resources.resource("items", event.event, as: String.self))
        }
        await fixture.clock.waitForSleepers(count: 1)
        #expect(item.content == "1" && !item.isInvalid)
        fixture.requests.setAuthorization(try .bearer("b"))
        fixture.clock.advance(by: .seconds(10))
        let request = try await fixture.transport.request(number: 2)
        #expect(request.headerFields["Last-Event-ID"] == nil)
        #expect(request.headerFields[.authorization] == "Bearer b")
        #expect(item.isInvalid)
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test("Without a login the next connection has the ID of the last event")
    func sameDuringPause() async throws {
        fixture.transport.on(.get, "/v1/short").answer(pieces: ["id: 7\ndata: 1\n\n"], headerFields: stream)
        let events = fixture.service.follow(eventsAt: "short", replays: true) { _, _ in }
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .seconds(10))
        #expect(try await fixture.transport.request(number: 2).headerFields["Last-Event-ID"] == "7")
        events.cancel()
        await settled { events.status == .ended }
    }

    @Test(
        "An event that was received before the credentials were replaced changes nothing for the next account",
        arguments: 0..<6)
    func lateEvents(kind: Int) async throws {
        let (begun, ended, finished) = (Latch(), Latch(), Latch())
        try fixture.service.configure("/items/*") { $0.tags = ["items"] }
        fixture.requests.setAuthorization(try .bearer("a"))
        fixture.service.enter("ada")
        let events = fixture.service.follow(eventsAt: "events") { event, resources in
            guard event.data == "Bearer a" else { return }
            begun.open()
            await ended.wait()
            switch kind {
            case 0: try? resources.invalidate("/items/*")
            case 1: resources.invalidate(tagged: ["items"])
            case 2: try? resources.wipe("/items/*")
            case 3: resources.wipe(tagged: ["items"])
            case 4: _ = try? await resources.wipe("/items/*", purging: .caches)
            default: resources.enter("eve")
            }
            finished.open()
        }
        await begun.wait()
        fixture.requests.setAuthorization(try .bearer("b"))
        fixture.service.enter("bob")
        try await item.load()
        ended.open()
        await finished.wait()
        #expect(item.content == "loaded" && !item.isInvalid)
        #expect(fixture.service.partition == "bob")
        events.cancel()
        await settled { events.status == .ended }
    }
}
