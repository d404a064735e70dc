import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct FetchSavingTests {
    /// The events, in order.
    private final class Trace: Sendable {
        private let events = Mutex<[String]>([])
        var all: [String] { events.withLock { $0 } }

        func add(_ event: String) { events.withLock { $0.append(event) } }
    }

    @Test("A value is saved after the loop has dealt with it, and before the loop ends")
    func order() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        for try await _ in fixture.service.get("coins", from: .backend, as: Coin.self) {
            await Task.yield()
            #expect(fixture.cache.calls == [])
        }
        #expect(fixture.cache.calls == [.save])
        #expect(fixture.cache.stored(fixture.key)?.name == "new")
    }

    @Test("A value is emitted regardless of the cache, and the sequence ends when the value is saved")
    func emittedFirst() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        let latch = Latch()
        fixture.cache.hold(.save, until: latch)
        let (emitted, trace) = (Latch(), Trace())
        let task = Task {
            for try await emission in fixture.service.get("coins", from: .backend, as: Coin.self) {
                trace.add(emission.value.name)
                emitted.open()
            }
            trace.add("end")
        }
        await emitted.wait()
        await fixture.cache.begun(.save)
        #expect(trace.all == ["new"])
        latch.open()
        try await task.value
        #expect(trace.all == ["new", "end"])
        #expect(fixture.cache.stored(fixture.key)?.name == "new")
    }

    @Test("A failed save is counted, and the sequence continues and ends as usual")
    func failedSave() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.cache.fail(.save)
        #expect(await FetchTrace(fixture.service.get("coins", from: .backend)) == FetchTrace(["backend new"]))
        #expect(fixture.problems.current.count == 1)
        #expect(fixture.problems.current.last == "Fault")
    }

    @Test("A failed read counts as a miss and is counted")
    func failedRead() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        fixture.cache.fail(.load)
        #expect(await FetchTrace(fixture.service.get("coins")) == FetchTrace(["backend new"]))
        #expect(await FetchTrace(fixture.service.get("coins", from: .cache)) == FetchTrace([]))
        #expect(fixture.problems.current.count == 2)
    }

    @Test("A value is saved if the loop is left as soon as it was emitted")
    func leftLoop() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        let latch = Latch()
        fixture.cache.hold(.save, until: latch)
        #expect(try await fixture.service.get("coins", from: .backend, as: Coin.self).first()?.value.name == "new")
        await fixture.cache.begun(.save)
        latch.open()
        await eventually { fixture.cache.stored(fixture.key) != nil }
    }

    @Test("A cancelled iteration does not wait for the cache, but the value is still saved")
    func cancelledSave() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        let latch = Latch()
        fixture.cache.hold(.save, until: latch)
        let task = Task { await FetchTrace(fixture.service.get("coins", from: .backend)) }
        await fixture.cache.begun(.save)
        task.cancel()
        #expect(await task.value == FetchTrace(["backend new"]))
        #expect(fixture.cache.stored(fixture.key) == nil)
        latch.open()
        await eventually { fixture.cache.stored(fixture.key) != nil }
    }

    @Test(
        "An empty response deletes the cached value, emits nothing and ends without a failure", arguments: [200, 204])
    func empty(status: Int) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.init(code: status))
        fixture.preset("old")
        #expect(await FetchTrace(fixture.service.get("coins", from: .backend)) == FetchTrace([]))
        #expect(fixture.cache.stored(fixture.key) == nil)
    }

    @Test(
        "404 and 410 delete the cached value and are thrown, even if the cached value would cover failures",
        arguments: [404, 410], [FetchSource.backend, .backendElseCache])
    func gone(status: Int, source: FetchSource) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.init(code: status))
        fixture.preset("old")
        #expect(await FetchTrace(fixture.service.get("coins", from: source)) == FetchTrace([], .status))
        #expect(fixture.cache.stored(fixture.key) == nil)
        #expect(!fixture.cache.calls.contains(.load))
    }

    @Test(
        "With an optional model an empty response, null, 404 and 410 are emitted as nil and delete the cached value",
        arguments: [(204, ""), (200, "null"), (404, ""), (410, "{}")],
        [FetchSource.backend, .cacheThenBackend, .backendElseCache])
    func optional(reply: (status: Int, body: String), source: FetchSource) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(
            .init(code: reply.status), data: Data(reply.body.utf8), headerFields: [.contentType: "application/json"])
        let key: ModelKey<Coin?> = fixture.service.modelKey(named: "coins")
        fixture.cache.put(CachedModel(Coin(name: "old"), date: fixture.clock.date), for: key)
        let last = try #require(try await fixture.service.get("coins", from: source, as: Coin?.self).last())
        #expect(last.value == nil)
        #expect(last.source == .backend)
        #expect(fixture.cache.calls.last == .delete)
        #expect(fixture.cache.count == 0)
    }

    @Test("Without the option caches nothing is stored or deleted", arguments: [200, 204, 404])
    func withoutCaching(status: Int) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(
            .init(code: status), data: Data((status == 200 ? #"{"name":"new"}"# : "").utf8))
        fixture.preset("old")
        let options = FetchOptions(caches: false)
        let trace = await FetchTrace(fixture.service.get("coins", from: .backend, options: options))
        #expect(trace.values == (status == 200 ? ["backend new"] : []))
        #expect(fixture.cache.calls == [])
        #expect(fixture.cache.stored(fixture.key)?.name == "old")
    }

    @Test("A hidden value of the server is saved, and the cached one is emitted")
    func hiddenValue() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: Coin(name: "new"))
        fixture.preset("old")
        let fetch = fixture.service.get("coins", options: FetchOptions(emitsValue: false), as: Coin.self)
        #expect(await FetchTrace(fetch) == FetchTrace(["cache old"]))
        #expect(await FetchTrace(fetch) == FetchTrace(["cache new"]))
    }

    @Test("A hidden failure ends the sequence as if it were complete")
    func hiddenFailure() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.internalServerError)
        fixture.preset("old")
        let options = FetchOptions(emitsFailure: false)
        #expect(await FetchTrace(fixture.service.get("coins", options: options)) == FetchTrace(["cache old"]))
        #expect(
            await FetchTrace(fixture.service.get("coins", from: .backendElseCache, options: options))
                == FetchTrace(["cache old"]))
    }

    @Test("A value from a response cache keeps its age, in the emission and in the cache of models")
    func responseCache() async throws {
        let cache = TestCache()
        let clock = ManualClock()
        let requests = StubRequests { _ throws(RequestFailure) in
            var response = DataResponse(body: Data(#"{"name":"new"}"#.utf8))
            response.storedUse = StoredResponseUse(age: .seconds(30))
            return response
        }
        var service = CoinService(requests: requests, cache: cache)
        service.fetchDefaults.clock = clock.requestClock
        #expect(try await service.get("coins", from: .backend, as: Coin.self).last()?.age == .seconds(30))
        clock.advance(by: .seconds(5))
        #expect(try await service.get("coins", from: .cache, as: Coin.self).last()?.age == .seconds(35))
    }

    @Test("A response that cannot be decoded is a failure and leaves the cached value unchanged")
    func undecodable() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(json: ["title": "x"])
        fixture.preset("old")
        #expect(await FetchTrace(fixture.service.get("coins")) == FetchTrace(["cache old"], .decoding))
        #expect(fixture.cache.stored(fixture.key)?.name == "old")
    }

    @Test(
        "A captive portal page and an error with the status 200 change nothing in the cache",
        arguments: [
            ("text/html", "<html>Log in</html>"), ("application/json", #"{"error":"maintenance"}"#),
        ])
    func portal(type: String, body: String) async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(
            .ok, data: Data(body.utf8), headerFields: [.contentType: type])
        fixture.preset("old")
        let optional: ModelKey<Coin?> = fixture.service.modelKey(named: "coins")
        fixture.cache.put(CachedModel(Coin(name: "old"), date: fixture.clock.date), for: optional)
        await #expect(throws: RequestFailure.self) {
            try await fixture.service.get("coins", from: .backend, as: Coin.self).last()
        }
        await #expect(throws: RequestFailure.self) {
            try await fixture.service.get("coins", from: .backend, as: Coin?.self).last()
        }
        #expect(fixture.cache.calls == [])
        #expect(fixture.cache.count == 2)
    }

    @Test("A 304 is a failure even if the request expects it, and deletes nothing")
    func notModified() async throws {
        let fixture = try FetchFixture()
        fixture.transport.on(.get, "/v1/coins").answer(.notModified)
        fixture.preset("old")
        var request = DataRequest(.get, "coins")
        request.expectedStatus = [200...299, 304...304]
        #expect(await FetchTrace(fixture.service.fetch(request)) == FetchTrace(["cache old"], .status))
        #expect(fixture.cache.stored(fixture.key)?.name == "old")
    }
}
