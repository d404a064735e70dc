import EssentialsHTTP
import EssentialsReachability
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox", .timeLimit(.minutes(5)))
struct OutboxTests {
    let fixture: OutboxFixture
    private var transport: ScriptedTransport { fixture.transport }

    init() throws { fixture = try OutboxFixture() }

    private struct Service: FetchingService {
        let requests: any DataRequestService
    }

    @Test("A request is on the disk when adding it returns, and is sent with its key afterwards")
    func adds() async throws {
        transport.on(.post, "/v1/views").answer(.created)
        let outbox = try fixture.outbox()
        outbox.pause()
        let service = Service(requests: fixture.requests)
        let id = try await service.fireAndForget(
            DataRequest(.post, "views", parameters: ["id": 7]), through: outbox)
        #expect(fixture.kinds == ["request"])
        let entry = try #require(try await outbox.entries.first)
        #expect(entry.id == id && entry.method == .post && entry.path == "views" && entry.state == .waiting)
        #expect(entry.idempotencyKey.count == 36)
        #expect(OutboxEntry.ID(id.description) == id)
        #expect(transport.requestCount == 0)
        outbox.resume()
        try await outbox.drain()
        let sent = try await transport.request(number: 1)
        #expect(sent.bodyText == #"{"id":7}"#)
        #expect(sent.headerFields[.contentType] == "application/json; charset=utf-8")
        #expect(sent.key == entry.idempotencyKey)
        #expect(try await outbox.entries == [])
        #expect(fixture.names == ["lock"])
    }

    @Test("Requests with one key are sent in their order, and others at the same time up to the limit")
    func order() async throws {
        let running = Mutex<[String: Int]>([:])
        let most = Mutex((inAll: 0, inKey: 0))
        let latch = Latch()
        transport.on(.post, "/v1/**").answer { request in
            let name = String(request.url.path)
            let counts = running.withLock { running in
                running[name, default: 0] += 1
                return (running.values.reduce(0, +), running[name] ?? 0)
            }
            most.withLock { $0 = (max($0.inAll, counts.0), max($0.inKey, counts.1)) }
            await latch.wait()
            running.withLock { $0[name, default: 0] -= 1 }
            return ScriptedAnswer()
        }
        let outbox = try fixture.outbox()
        for number in 0..<40 {
            let name = "k\(number % 8)"
            try await outbox.add(DataRequest(.post, name, parameters: ["n": number]), in: OrderingKey(name))
        }
        _ = try await transport.request(number: 4)
        #expect(transport.requestCount == 4)
        latch.open()
        try await outbox.drain()
        #expect(most.withLock { $0.inAll } == 4)
        #expect(most.withLock { $0.inKey } == 1)
        for key in 0..<8 {
            let bodies = transport.requests.filter { $0.url.path == "/v1/k\(key)" }.map(\.bodyText)
            #expect(bodies == (0..<5).map { "{\"n\":\($0 * 8 + key)}" })
        }
    }

    @Test("Requests without a key are sent one after another")
    func defaultOrder() async throws {
        let latch = Latch()
        transport.on(.post, "/v1/views").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        let outbox = try fixture.outbox()
        for number in 0..<3 { try await outbox.add(fixture.view(number)) }
        _ = try await transport.request(number: 1)
        for _ in 0..<100 { await Task.yield() }
        #expect(transport.requestCount == 1)
        latch.open()
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == (0..<3).map { "{\"id\":\($0)}" })
    }

    @Test("Drains at the same time send each entry once, and each returns when nothing is left to send")
    func drains() async throws {
        let latch = Latch()
        transport.on(.post, "/v1/views").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        let outbox = try fixture.outbox()
        for number in 0..<3 { try await outbox.add(fixture.view(number)) }
        let drains = (0..<10).map { _ in
            Task {
                try await outbox.drain()
                return transport.requestCount
            }
        }
        _ = try await transport.request(number: 1)
        for _ in 0..<100 { await Task.yield() }
        #expect(transport.requestCount == 1)
        latch.open()
        for drain in drains { #expect(try await drain.value == 3) }
        #expect(transport.requests.map(\.bodyText) == (0..<3).map { "{\"id\":\($0)}" })
        #expect(try await outbox.entries == [])
    }

    @Test("A failed attempt is repeated after a pause with the same key, holding back its own order only")
    func retries() async throws {
        transport.on(.post, "/v1/a").answer(.serviceUnavailable).thenAnswer(.ok)
        transport.on(.post, "/v1/b").answer(.ok)
        let outbox = try fixture.outbox { $0.backoff = .decorrelated(base: .seconds(2), cap: .seconds(2)) }
        let first = try await outbox.add(DataRequest(.post, "a"), in: "a")
        try await outbox.add(DataRequest(.post, "a"), in: "a")
        try await outbox.add(DataRequest(.post, "b"), in: "b")
        await outbox.core.idle()
        #expect(transport.requests.map(\.url.path).sorted() == ["/v1/a", "/v1/b"])
        #expect(try await outbox.entries.map(\.state) == [.delayed, .waiting])
        #expect(try await outbox.entries.first?.attempts == 1)
        fixture.clock.advance(by: .seconds(2))
        _ = try await transport.request(number: 4)
        await outbox.core.idle()
        let keys = transport.requests.filter { $0.url.path == "/v1/a" }.map(\.key)
        #expect(keys[0] == keys[1] && keys[1] != keys[2])
        #expect(try await outbox.entries == [])
        #expect(first.number > 0)
    }

    @Test("A refused entry is set aside, and the next one follows", arguments: [400, 401, 404, 409, 421, 422])
    func refused(status: Int) async throws {
        let answer = ScriptedAnswer(HTTPResponse.Status(code: status))
        transport.on(.post, "/v1/views").answer(answer).thenAnswer(.ok)
        var outbox = try fixture.outbox()
        let id = try await outbox.add(fixture.view(1))
        try await outbox.add(fixture.view(2))
        try await outbox.drain()
        #expect(transport.requestCount == 2)
        guard case .failed(let failure) = try await outbox.entries.first?.state else {
            Issue.record("The entry was not set aside.")
            return
        }
        #expect(failure.status == status && failure.reason == .status && failure.message.contains("\(status)"))
        // It stays set aside after a restart.
        await outbox.close()
        outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(try await outbox.entries.map(\.state) == [.failed(failure)])
        #expect(transport.requestCount == 2)
        #expect(try await outbox.retry(id))
        try await outbox.drain()
        #expect(transport.requestCount == 3)
        #expect(transport.requests[0].key == transport.requests[2].key)
        #expect(try await outbox.entries == [])
        #expect(try await outbox.retry(id) == false)
        #expect(try await outbox.drop(id) == false)
    }

    @Test("Temporary statuses are tried again", arguments: [408, 425, 429, 500, 502, 503, 504])
    func passing(status: Int) async throws {
        transport.on(.post, "/v1/views").answer(ScriptedAnswer(HTTPResponse.Status(code: status))).thenAnswer(.ok)
        let outbox = try fixture.outbox()
        try await outbox.add(fixture.view(1))
        await outbox.core.idle()
        try await outbox.drain()
        #expect(transport.requestCount == 2)
        #expect(try await outbox.entries == [])
    }

    @Test("An entry is given up when its attempts are used up, and failures that sent nothing do not count")
    func attempts() async throws {
        transport.on(.post, "/v1/views").fail(.connection)
        let outbox = try fixture.outbox { $0.maximumAttempts = 3 }
        try await outbox.add(fixture.view(1))
        await outbox.core.idle()
        for _ in 0..<10 { try await outbox.drain() }
        #expect(try await outbox.entries.map(\.state) == [.delayed])
        #expect(try await outbox.entries.first?.attempts == 0)
        transport.on(.post, "/v1/views").answer(.badGateway)
        for _ in 0..<3 { try await outbox.drain() }
        guard case .failed(let failure) = try await outbox.entries.first?.state else {
            Issue.record("The entry was not given up.")
            return
        }
        #expect(failure.status == 502)
        #expect(fixture.kinds == ["failed", "request"])
        let id = try #require(try await outbox.entries.first?.id)
        #expect(try await outbox.drop(id))
        #expect(fixture.names == ["lock"])
    }

    @Test("The outbox waits for a server's Retry-After, even when it is drained by hand")
    func retryAfter() async throws {
        transport.on(.post, "/v1/views").answer(.tooManyRequests, headerFields: [.retryAfter: "60"]).thenAnswer(.ok)
        let outbox = try fixture.outbox()
        try await outbox.add(fixture.view(1))
        await outbox.core.idle()
        try await outbox.drain()
        fixture.clock.advance(by: .seconds(59))
        try await outbox.drain()
        #expect(transport.requestCount == 1)
        fixture.clock.advance(by: .seconds(1))
        _ = try await transport.request(number: 2)
        await outbox.core.idle()
        #expect(try await outbox.entries == [])
    }

    @Test("A request that is in flight when the outbox is closed is sent again by the next one with the same key")
    func inFlight() async throws {
        let latch = Latch()
        transport.on(.post, "/v1/views").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        var outbox = try fixture.outbox { $0.closeDeadline = .zero }
        try await outbox.add(fixture.view(1))
        try await outbox.add(fixture.view(2))
        _ = try await transport.request(number: 1)
        await outbox.close()
        await #expect(throws: RequestFailure(.closed, "")) { try await outbox.drain() }
        #expect(fixture.kinds == ["request", "request"])
        latch.open()
        outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [1, 1, 2].map { "{\"id\":\($0)}" })
        #expect(transport.requests[0].key == transport.requests[1].key)
        #expect(fixture.names == ["lock"])
    }

    @Test("An outbox that finishes waits for the entry that is being sent, and keeps the others and later ones")
    func finishing() async throws {
        let latch = Latch()
        transport.on(.post, "/v1/views").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        let outbox = try fixture.outbox()
        try await outbox.add(fixture.view(1))
        try await outbox.add(fixture.view(2))
        _ = try await transport.request(number: 1)
        let finished = OneShot<Void>()
        let finishing = Task {
            await outbox.finish(within: .seconds(600))
            finished.provide(())
        }
        await fixture.clock.waitForSleepers(count: 1)
        #expect(!finished.isProvided)
        try await outbox.add(fixture.view(3))
        latch.open()
        await finishing.value
        #expect(try await outbox.entries.count == 2)
        #expect(transport.requests.map(\.bodyText) == ["{\"id\":1}"])
        await outbox.close()
    }

    @Test("Entries are sent when an outbox is created, and closing waits for those that are being sent")
    func closing() async throws {
        var outbox = try fixture.outbox()
        outbox.pause()
        try await outbox.add(fixture.view(1))
        await outbox.close()
        let latch = Latch()
        transport.on(.post, "/v1/views").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        outbox = try fixture.outbox()
        _ = try await transport.request(number: 1)
        let closed = outbox
        let closing = Task { await closed.close() }
        while !outbox.core.reading(\.isEnded) { await Task.yield() }
        latch.open()
        await closing.value
        #expect(fixture.names == ["lock"])
        #expect(transport.requestCount == 1)
        await #expect(throws: RequestFailure(.closed, "")) { try await closed.add(fixture.view(2)) }
        await closed.close()
    }

    @Test("An outbox that is released releases its directory")
    func released() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        do {
            let outbox = try fixture.outbox()
            outbox.pause()
            try await outbox.add(fixture.view(1))
        }
        // The last task of the outbox may still end.
        let next = try fixture.outbox()
        while true {
            do { try await next.drain() } catch {
                await Task.yield()
                continue
            }
            break
        }
        #expect(transport.requestCount == 1)
    }

    @Test("A second outbox of one directory names the process that uses it, and works when the first one is closed")
    func second() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        let first = try fixture.outbox()
        try await first.open()
        // It begins to open when it is created, so it would otherwise be the first one now and then.
        let second = try fixture.outbox()
        let failure = await #expect(throws: RequestFailure.self) { try await second.add(fixture.view(1)) }
        #expect(failure?.reason == .file)
        #expect(failure?.message.contains("in use by this process") == true)
        await first.close()
        try await second.add(fixture.view(1))
        try await second.drain()
        #expect(transport.requestCount == 1)
    }

    @Test("Requests are sent with the options of the outbox and without retries of the service")
    func options() async throws {
        transport.on(.post, "/v1/views").answer(.serviceUnavailable)
        let outbox = try fixture.outbox { $0.options.priority = .low }
        var request = fixture.view(1)
        request.retry = .attempts(5)
        request.options.priority = .high
        try await outbox.add(request)
        await outbox.core.idle()
        #expect(transport.requests.map(\.options.priority) == [.low])
    }

    @Test("The entries of a directory can be listed while an outbox uses it")
    func listing() async throws {
        transport.on(.post, "/v1/views").answer(.notFound)
        #expect(try await Outbox.entries(in: fixture.directory) == [])
        let outbox = try fixture.outbox()
        try await outbox.add(fixture.view(1))
        try await outbox.drain()
        outbox.pause()
        try await outbox.add(fixture.view(2))
        let listed = try await Outbox.entries(in: fixture.directory)
        #expect(listed.map(\.id) == (try await outbox.entries.map(\.id)))
        #expect(listed.map(\.state) == (try await outbox.entries.map(\.state)))
        #expect(listed.map(\.baseURL) == ["https://h/v1/", "https://h/v1/"])
    }

    @Test("Calls of all kinds at the same time end, and every entry is sent, given up or dropped")
    func allAtOnce() async throws {
        let count = Mutex(0)
        transport.on(.post, "/v1/views").answer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let statuses: [HTTPResponse.Status] = [.ok, .ok, .serviceUnavailable, .notFound, .ok]
            return ScriptedAnswer(statuses[number % statuses.count])
        }
        let outbox = try fixture.outbox { $0.backoff = .exponential(base: .zero) }
        let seen = Task {
            var seen = 0
            for await _ in outbox.statuses { seen += 1 }
            return seen
        }
        try await withThrowingTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<20 {
                        let id = try await outbox.add(fixture.view(number), in: OrderingKey("\(number % 5)"))
                        switch (task + number) % 6 {
                        case 0: try await outbox.drop(id)
                        case 1: try await outbox.drain()
                        case 2: for entry in try await outbox.entries { try await outbox.retry(entry.id) }
                        case 3:
                            outbox.pause()
                            outbox.resume()
                        case 4: outbox.core.changing { $0.pathIsBack($1) }
                        default: await outbox.enter(.shared)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        // Each round ends at least one of five entries.
        while case let entries = try await outbox.entries, !entries.isEmpty {
            for entry in entries { try await outbox.drop(entry.id) }
            try await outbox.drain()
        }
        #expect(fixture.names == ["lock"])
        #expect(outbox.core.faults == 0)
        await outbox.close()
        #expect(await seen.value > 0)
    }

    @Test("A thousand requests from a hundred tasks are each sent once, in their orders")
    func many() async throws {
        transport.on(.post, "/v1/**").answer(.ok)
        let outbox = try fixture.outbox()
        try await withThrowingTaskGroup { group in
            for task in 0..<100 {
                group.addTask {
                    for number in 0..<10 {
                        let request = DataRequest(.post, "t\(task)", parameters: ["n": number])
                        try await outbox.add(request, in: OrderingKey("\(task)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        try await outbox.drain()
        #expect(transport.requestCount == 1_000)
        #expect(Set(transport.requests.map(\.key)).count == 1_000)
        for task in 0..<100 {
            let bodies = transport.requests.filter { $0.url.path == "/v1/t\(task)" }.map(\.bodyText)
            #expect(bodies == (0..<10).map { "{\"n\":\($0)}" })
        }
        #expect(fixture.names == ["lock"])
    }

    @Test("A reader of statuses finds the newest state of each entry, and its sequence ends with the outbox")
    func statuses() async throws {
        transport.on(.post, "/v1/views").answer(.created).thenAnswer(.notFound)
        let outbox = try fixture.outbox()
        outbox.pause()
        let first = try await outbox.add(fixture.view(1))
        var reader = outbox.statuses.makeAsyncIterator()
        let second = try await outbox.add(fixture.view(2))
        outbox.resume()
        try await outbox.drain()
        let (one, two) = (await reader.next(), await reader.next())
        #expect(one?.id == first && one?.state == .sent(status: 201))
        #expect(two?.id == second)
        guard case .failed(let failure) = two?.state else {
            Issue.record("The second entry was not given up.")
            return
        }
        #expect(failure.status == 404)
        #expect(try await outbox.drop(second))
        #expect(await reader.next()?.state == .dropped)
        await outbox.close()
        #expect(await reader.next() == nil)
        var late = outbox.statuses.makeAsyncIterator()
        #expect(await late.next() == nil)
    }
}
