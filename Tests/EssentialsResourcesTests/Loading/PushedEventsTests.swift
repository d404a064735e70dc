import EssentialsCurl
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: pushed events", .leavesNothing)
struct PushedEventsTests {
    let fixture: ResourceFixture
    private let stream: HTTPFields = [.contentType: "text/event-stream; charset=utf-8"]

    init() throws { fixture = try ResourceFixture() }

    private var transport: ScriptedTransport { fixture.transport }
    private var clock: ManualClock { fixture.clock }

    private func item(_ name: String = "item") -> Resource<Int> { fixture.service.resource("items", name) }

    /// Sets the resource that an event names to the number in its data.
    private static func setNumber(_ event: ServerSentEvent, _ resources: PushedResources) {
        guard let number = Int(event.data) else { return }
        resources.push(number, to: resources.resource("items", event.event, as: Int.self))
    }

    @Test("Events change resources, whose content is then fresh and pushed")
    func pushes() async throws {
        let latch = Latch()
        transport.on(.get, "/v1/events").answer(pieces: ["event: item\ndata: 7\n\n"], headerFields: stream)
        var states = item().states.makeAsyncIterator()
        _ = await states.next()
        let events = fixture.service.follow(eventsAt: "events") { event, resources in
            Self.setNumber(event, resources)
            // The end of the stream would be a gap.
            await latch.wait()
        }
        let state = try #require(await states.next())
        #expect(state.content == 7 && state.provenance == .pushed && state.isFresh)
        let request = transport.requests[0]
        #expect(request.headerFields[.accept] == "text/event-stream")
        #expect(request.headerFields[.cacheControl] == "no-store")
        #expect(request.options.idleTimeout == nil)
        events.cancel()
        latch.open()
    }

    @Test("An event that invalidates an observed resource loads only this resource, and bypasses caches")
    func invalidates() async throws {
        transport.on(.get, "/v1/items/*").answer(json: 1)
        transport.on(.get, "/v1/events").answer(
            pieces: ["data: seen\n\ndata: unseen\n\ndata: last\n\n"], headerFields: stream
        ).thenAnswer(.noContent)
        let (seen, unseen) = (item("seen"), item("unseen"))
        try await seen.load()
        try await unseen.load()
        let observation = seen.observeSynchronously { _ in }
        let (last, end) = (Latch(), Latch())
        let events = fixture.service.follow(eventsAt: "events") { event, resources in
            if event.data == "last" {
                last.open()
                // The end of the stream would be a gap.
                return await end.wait()
            }
            resources.invalidate(resources.resource("items", event.data, as: Int.self))
        }
        await last.wait()
        while seen.isInvalid { await Task.yield() }
        #expect(unseen.isInvalid)
        let loads = transport.requests.filter { $0.url.path.hasPrefix("/v1/items") }
        #expect(loads.map(\.url.path) == ["/v1/items/seen", "/v1/items/unseen", "/v1/items/seen"])
        #expect(loads.last?.headerFields[.cacheControl] == "no-cache")
        observation.cancel()
        events.cancel()
        end.open()
    }

    @Test("Of many observed resources that events invalidate, four are loaded at a time", arguments: 0..<3)
    func invalidatesMany(way: Int) async throws {
        let (latch, done, end) = (Latch(), Latch(), Latch())
        transport.on(.get, "/v1/items/*").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        transport.on(.get, "/v1/events").answer(pieces: ["data: all\n\n"], headerFields: stream)
        try fixture.service.configure("/items/*") { $0.tags = ["numbers"] }
        let items = (0..<30).map { item("\($0)") }
        for item in items { item.override(with: 0) }
        let observations = items.map { $0.observeSynchronously { _ in } }
        let events = fixture.service.follow(eventsAt: "events") { _, resources in
            switch way {
            case 0: try? resources.invalidate("/items/*")
            case 1: resources.invalidate(tagged: ["numbers"])
            default: for item in items { resources.invalidate(item) }
            }
            done.open()
            await end.wait()
        }
        await done.wait()
        #expect(items.count { $0.isInvalid } == 30)
        #expect(items.count { $0.isLoading } == 4)
        latch.open()
        await settled { items.allSatisfy { $0.content == 1 } }
        #expect(items.count { $0.isInvalid } == 0)
        for observation in observations { observation.cancel() }
        events.cancel()
        end.open()
    }

    @Test("The stream is connected again after the pause that the server named, with the ID of the last event")
    func reconnects() async throws {
        transport.on(.get, "/v1/events")
            .answer(
                pieces: ["retry: 1000\nid: 7\nevent: item\ndata: 1\n\n", .failure(.interrupted)], headerFields: stream
            )
            .thenAnswer(.serviceUnavailable, headerFields: [.retryAfter: "60"])
            .thenAnswer(pieces: ["event: item\ndata: 2\n\n"], headerFields: stream)
            .thenAnswer(.noContent)
        let events = fixture.service.follow(eventsAt: "events") { Self.setNumber($0, $1) }
        await clock.waitForSleepers(count: 1)
        #expect(events.status == .waiting)
        let first = try #require(clock.nextDeadline.map { clock.now.duration(to: $0) })
        #expect(first >= .seconds(1) && first < .milliseconds(1_500))
        clock.advanceToNextDeadline()
        _ = try await transport.request(number: 2)
        await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline.map { clock.now.duration(to: $0) } == .seconds(60))
        clock.advanceToNextDeadline()
        _ = try await transport.request(number: 3)
        await clock.waitForSleepers(count: 1)
        clock.advanceToNextDeadline()
        _ = try await transport.request(number: 4)
        while events.status != .ended { await Task.yield() }
        #expect(transport.requests.map { $0.headerFields["Last-Event-ID"] } == [nil, "7", "7", nil])
        #expect(item().content == 2)
    }

    @Test("An interruption of the right connection opens it again, with the ID of the last event")
    func lateInterruption() async throws {
        transport.on(.get, "/v1/events")
            .answer(pieces: ["id: 7\nevent: item\ndata: 1\n\n", .pause(.seconds(1_000))], headerFields: stream)
            .thenAnswer(.noContent)
        let events = fixture.service.follow(eventsAt: "events", replays: true) { Self.setNumber($0, $1) }
        await settled { item().content == 1 }
        events.follower.reconnect()
        while events.status != .ended { await Task.yield() }
        #expect(transport.requests.map { $0.headerFields["Last-Event-ID"] } == [nil, "7"])
        #expect(item().content == 1)
    }

    @Test("The id and the pause of a block without data count for the next connection", arguments: [false, true])
    func withoutData(breaks: Bool) async throws {
        transport.on(.get, "/v1/events")
            .answer(
                pieces: ["id: 7\nevent: item\ndata: 1\n\nid: 8\nretry: 60000\n\nid: 9\n"]
                    + (breaks ? [.failure(.interrupted)] : []), headerFields: stream
            )
            .thenAnswer(.noContent)
        let events = fixture.service.follow(eventsAt: "events") { Self.setNumber($0, $1) }
        await clock.waitForSleepers(count: 1)
        let pause = try #require(clock.nextDeadline.map { clock.now.duration(to: $0) })
        #expect(pause >= .seconds(60) && pause < .seconds(90))
        clock.advanceToNextDeadline()
        _ = try await transport.request(number: 2)
        while events.status != .ended { await Task.yield() }
        #expect(transport.requests.map { $0.headerFields["Last-Event-ID"] } == [nil, "8"])
    }

    @Test(
        "A stream continues after an event whose ID no field can carry",
        arguments: [
            ("7 ", "7"), ("a\u{1}b", nil), (String(repeating: "x", count: 900_000), nil), ("a\u{0}b", nil),
        ] as [(String, String?)])
    func oddIDs(id: String, sent: String?) async throws {
        transport.on(.get, "/v1/events")
            .answer(pieces: [.text("id: \(id)\nevent: item\ndata: 1\n\n")], headerFields: stream)
            .thenAnswer(pieces: ["event: item\ndata: 2\n\n"], headerFields: stream)
            .thenAnswer(.noContent)
        let events = fixture.service.follow(eventsAt: "events") { Self.setNumber($0, $1) }
        for number in 2...3 {
            await clock.waitForSleepers(count: 1)
            clock.advanceToNextDeadline()
            _ = try await transport.request(number: number)
        }
        while events.status != .ended { await Task.yield() }
        #expect(transport.requests.map { $0.headerFields["Last-Event-ID"] } == [nil, sent, nil])
        #expect(item().content == 2)
    }

    @Test(
        "After a gap all resources that the stream feeds are invalid, and the observed ones are loaded",
        arguments: [
            false, true,
        ])
    func gap(replays: Bool) async throws {
        transport.on(.get, "/v1/items/*").answer(json: 9)
        transport.on(.get, "/v1/events")
            .answer(pieces: ["id: 1\nevent: fed\ndata: 1\n\n"], headerFields: stream)
            .thenAnswer(pieces: ["id: 2\nevent: end\ndata: 1\n\n"], headerFields: stream)
            .thenAnswer(.noContent)
        let (fed, selected, other) = (item("fed"), item("selected"), fixture.service.resource("other", as: Int.self))
        selected.override(with: 2)
        other.override(with: 3)
        let observation = selected.observeSynchronously { _ in }
        let (end, compared) = (Latch(), Latch())
        let events = fixture.service.follow(
            eventsAt: "events", feeding: ["/items/sel*"], replays: replays
        ) { event, resources in
            guard event.event == "end" else { return Self.setNumber(event, resources) }
            end.open()
            // The end of the stream would be another gap.
            await compared.wait()
        }
        await clock.waitForSleepers(count: 1)
        #expect(fed.content == 1)
        #expect(fed.isInvalid == !replays && selected.isInvalid == !replays && !other.isInvalid)
        clock.advanceToNextDeadline()
        await end.wait()
        while !replays, selected.content != 9 { await Task.yield() }
        #expect(fed.isInvalid == !replays && !selected.isInvalid && !other.isInvalid)
        #expect(fed.content == 1 && selected.content == (replays ? 2 : 9))
        observation.cancel()
        events.cancel()
        compared.open()
    }

    @Test("A response that is not an event stream, or a refusal, ends the subscription")
    func refused() async throws {
        transport.on(.get, "/v1/html").answer(pieces: ["x"], headerFields: [.contentType: "text/html"])
        transport.on(.get, "/v1/none").answer(.notFound)
        let (html, none) = (
            fixture.service.follow(eventsAt: "html") { _, _ in }, fixture.service.follow(eventsAt: "none") { _, _ in }
        )
        while true {
            if case .failed(let one) = html.status, case .failed(let other) = none.status {
                #expect(one.reason == .protocolViolation && other.status == .notFound)
                break
            }
            await Task.yield()
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test("The last reference, a cancellation and the end of the service end the subscription")
    func ends() async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["data: 1\n\n"], headerFields: stream)
        var events: EventSubscription? = fixture.service.follow(eventsAt: "events") { _, _ in }
        await clock.waitForSleepers(count: 1)
        let follower = try #require(events?.follower)
        events = nil
        while !follower.hasEnded { await Task.yield() }
        let second = fixture.service.follow(eventsAt: "events") { _, _ in }
        await clock.waitForSleepers(count: 1)
        second.cancel()
        while second.status != .ended { await Task.yield() }
        let third = fixture.service.follow(eventsAt: "events") { _, _ in }
        await clock.waitForSleepers(count: 1)
        await fixture.service.close()
        while third.status != .ended { await Task.yield() }
        let late = fixture.service.follow(eventsAt: "events") { _, _ in }
        while late.status != .ended { await Task.yield() }
        #expect(clock.sleeperCount == 0)
    }

    @Test("After a change of the environment the stream of the new server is followed, without an ID of the old one")
    func environment() async throws {
        let latch = Latch()
        transport.on(.get, "/v1/events").answer(pieces: ["id: 7\ndata: 1\n\n"], headerFields: stream)
            .thenAnswer { _ in
                await latch.wait()
                return ScriptedAnswer(.noContent)
            }
        transport.on(.get, "/v2/events").answer(.noContent)
        let events = fixture.service.follow(eventsAt: "events") { _, _ in }
        await clock.waitForSleepers(count: 1)
        clock.advanceToNextDeadline()
        _ = try await transport.request(number: 2)
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        fixture.service.adoptEnvironment()
        _ = try await transport.request(number: 3)
        #expect(transport.requests[1].headerFields["Last-Event-ID"] == "7")
        #expect(transport.requests[2].headerFields["Last-Event-ID"] == nil)
        latch.open()
        while events.status != .ended { await Task.yield() }
    }

    @Test("An event that was received before another partition was entered changes nothing afterwards")
    func otherPartition() async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["event: item\ndata: 7\n\n"], headerFields: stream)
            .thenAnswer(.noContent)
        let (begun, entered, ended) = (Latch(), Latch(), Latch())
        let events = fixture.service.follow(eventsAt: "events") { event, resources in
            begun.open()
            await entered.wait()
            Self.setNumber(event, resources)
            ended.open()
        }
        await begun.wait()
        fixture.service.enter("bob")
        entered.open()
        await ended.wait()
        #expect(item().content == nil)
        while events.status != .ended { await Task.yield() }
    }

    @Test("A stream that feeds more resources than are remembered feeds all resources of the service")
    func bounded() async throws {
        let memory = PushedMemory([])
        let other = fixture.service.resource("other", as: Int.self)
        #expect(memory.cores(in: fixture.service.table).isEmpty)
        for number in 0..<PushedMemory.maximum {
            memory.add(ResourceCore(item("\(number)").core.address, .standard))
        }
        #expect(!memory.cores(in: fixture.service.table).contains { $0 === other.core })
        memory.add(item("one more").core)
        #expect(memory.cores(in: fixture.service.table).contains { $0 === other.core })
        memory.forget()
        #expect(memory.cores(in: fixture.service.table).isEmpty)
    }

    @Test("A server whose connection breaks is followed again over another one, and the resource that it fed is loaded")
    func loopback() async throws {
        let gate = LoopbackGate()
        let connections = Mutex(0)
        let server = try LoopbackServer { request in
            if request.path == "/items/item" {
                return .response(headers: [("Content-Type", "application/json")], body: "5")
            }
            let number = connections.withLock { number in
                number += 1
                return number
            }
            let head = ServerStep.head(headers: [
                ("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"),
            ])
            let event = Array("retry: 100\nid: \(number)\nevent: item\ndata: \(number)\n\n".utf8)
            return number == 1
                ? .raw([head, .chunk(event), .gate(gate), .reset])
                : .raw([head, .chunk(Array(": alive\n".utf8)), .hang])
        }
        let environment = try ConstantEnvironment(server.url)
        let requests = HTTPDataRequestService(environment: environment, transport: try CurlTransport())
        let clock = ManualClock()
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        let service = try HTTPResourceService(
            requests: requests, environment: environment, configuration: configuration)
        let item: Resource<Int> = service.resource("items", "item")
        var states = item.states.makeAsyncIterator()
        let events = service.follow(eventsAt: "events") { Self.setNumber($0, $1) }
        while let state = await states.next(), state.content != 1 {}
        gate.open()
        await clock.waitForSleepers(count: 1)
        #expect(item.isInvalid)
        clock.advanceToNextDeadline()
        while let state = await states.next(), state.content != 5 {}
        #expect(!item.isInvalid)
        #expect(server.requests.filter { $0.path == "/events" }.map { $0.header("Last-Event-ID") } == [nil, "1"])
        events.cancel()
        await service.close()
        await requests.shutdown()
    }

    @Test("After a gap four resources are loaded at a time, together with those that are invalidated in other ways")
    func gap() async throws {
        let (latch, end) = (Latch(), Latch())
        transport.on(.get, "/v1/items/*").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: 1)
        }
        transport.on(.get, "/v1/events").answer(pieces: ["data: first\n\n"], headerFields: stream)
            .thenAnswer(pieces: ["data: second\n\n"], headerFields: stream)
        let items = (0..<10).map { item("\($0)") }
        for item in items { item.override(with: 0) }
        let observations = items.map { $0.observeSynchronously { _ in } }
        let second = Latch()
        let events = fixture.service.follow(eventsAt: "events", feeding: ["/items/*"]) { event, _ in
            guard event.data == "second" else { return }
            second.open()
            // The end of the stream would be another gap.
            await end.wait()
        }
        await clock.waitForSleepers(count: 1)
        clock.advanceToNextDeadline()
        await second.wait()
        await settled { items.count { $0.isLoading } == 4 }
        let others = (10..<20).map { item("\($0)") }
        for item in others { item.override(with: 0) }
        let more = others.map { $0.observeSynchronously { _ in } }
        fixture.service.invalidate(others.map(\.core))
        #expect((items + others).count { $0.isLoading } == 4)
        latch.open()
        await settled { (items + others).allSatisfy { $0.content == 1 } }
        for observation in observations + more { observation.cancel() }
        events.cancel()
        end.open()
    }
}
