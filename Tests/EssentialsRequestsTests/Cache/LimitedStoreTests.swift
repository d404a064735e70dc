import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

/// A store whose lookups find bodies that never come.
private struct SlowBodies: ResponseStore {
    let next: any ResponseStore
    var largest: Int { next.largest }

    func lookup(_ key: ResponseKey) async -> ResponseLookup {
        var found = await next.lookup(key)
        for index in found.responses.indices {
            found.responses[index].body = StoredContent(count: 1) { _ in
                try? await Task.sleep(for: .seconds(3))
                return nil
            }
        }
        return found
    }

    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? { nil }

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        await next.store(response, body, for: key, replacing: replaced, since: ticket)
    }

    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool { false }
    func invalidate(_ url: RequestURL) async {}
    func remove(in scope: ResponseScope) async {}
    func usage() async -> ResponseCache.Usage { ResponseCache.Usage() }
}

/// A cache over a store that is slow, fails, hangs or lies.
@Suite("Stores that do not work", .timeLimit(.minutes(5)))
struct LimitedStoreTests {
    private let store = ScriptedStore()

    private func setUp(
        _ fields: HTTPFields = [.cacheControl: "max-age=60"], memory: ResponseCache.Memory? = nil
    ) throws -> (origin: CacheOrigin, cache: ResponseCache, service: HTTPDataRequestService) {
        let origin = CacheOrigin(fields)
        let cache = ResponseCache(memory: memory, store: store)
        return (origin, cache, try origin.service(cache, over: TrustedStub(origin.transport())))
    }

    @Test("A removal is waited for as long as any call, and at least two seconds")
    func removalLimit() {
        #expect(LimitedResponseStore(ScriptedStore()).removalLimit == .seconds(2))
        #expect(LimitedResponseStore(ScriptedStore(), limit: .seconds(30)).removalLimit == .seconds(30))
    }

    @Test("A store of the application is used")
    func works() async throws {
        let (origin, cache, service) = try setUp()
        #expect(try await service.text("a") == "1")
        #expect(try await service.text("a") == "1")
        #expect(origin.count == 1 && store.count(of: .store) == 1)
        #expect(await cache.usage.responses == 1)
        await cache.removeAll()
        #expect(try await service.text("a") == "2")
    }

    @Test("With a memory in front, a store is asked only for what the memory has not")
    func memoryInFront() async throws {
        let (origin, cache, service) = try setUp(memory: .bytes(1 << 20))
        for _ in 0..<5 { #expect(try await service.text("a") == "1") }
        #expect(origin.count == 1 && store.count(of: .lookup) == 1)
        await cache.flush()
        // Another process with the same store.
        let other = try origin.service(
            ResponseCache(memory: .standard, store: store), over: TrustedStub(origin.transport()))
        for _ in 0..<4 { #expect(try await other.text("a") == "1") }
        // Taken into the memory with the second use.
        #expect(origin.count == 1 && store.count(of: .lookup) == 3)
    }

    @Test(
        "No failure of a store fails a request",
        arguments: ScriptedStore.Call.allCases, [ScriptedStore.Behavior.fails, .lies])
    func failures(call: ScriptedStore.Call, behavior: ScriptedStore.Behavior) async throws {
        let (origin, cache, service) = try setUp([.cacheControl: "max-age=0", .eTag: "\"1\""])
        _ = try await service.text("a")
        store.behave(behavior, in: call)
        origin.answer { CacheOrigin.reply(to: $0, tag: "\"1\"", [.cacheControl: "max-age=0"], body: "new") }
        for _ in 0..<3 {
            let text = try await service.text("a")
            #expect(["1", "new"].contains(text))
        }
        _ = try await service.response("a", isStreamed: true)
        _ = try await service.send(.post("a", body: ["x": 1]))
        await cache.removeAll()
        _ = await cache.usage
        await cache.flush()
    }

    @Test("A store that hangs delays a request by the limit, and is then left alone")
    func hangs() async throws {
        let (origin, cache, service) = try setUp()
        _ = try await service.text("a")
        store.behave(.hangs, in: .lookup, .ticket)
        let start = ContinuousClock.now
        for number in 0..<8 { #expect(try await service.text("a") == "\(number + 2)") }
        // Three lookups and tickets wait at most; the rest finds that the store is left alone.
        #expect(ContinuousClock.now - start < .seconds(10))
        let problems = cache.problems
        #expect(problems.count >= 3 && problems.resting == 1)
        #expect(store.count(of: .lookup) <= 4)
        #expect(origin.count == 9)
        store.behave(.works)
    }

    @Test("A body that does not come, or comes damaged, is fetched")
    func bodies() async throws {
        let (origin, _, service) = try setUp()
        _ = try await service.text("a")
        store.behave(.lies, in: .body)
        #expect(try await service.text("a") == "2")
        store.behave(.works)
        #expect(try await service.text("a") == "2")
        store.behave(.lies, in: .body)
        #expect(try await service.response("a", isStreamed: true).text == "3")
        #expect(origin.count == 3)
    }

    @Test(
        "Nothing is found while a removal hangs, and what was removed is not found after it", arguments: [false, true])
    func hangingRemovals(isScope: Bool) async throws {
        let (origin, cache, service) = try setUp()
        #expect(try await service.text("a") == "1")
        store.behave(.hangs, in: .invalidate, .remove)
        if isScope {
            await cache.removeAll()
        } else {
            await cache.invalidate(try RequestURL("https://h/a"))
        }
        #expect(try await service.text("a") == "2")
        #expect(try await service.text("a") == "3")
        #expect(origin.count == 3)
        store.behave(.works)
        // The removal ends now.
        var isStored = false
        for _ in 0..<1_000 where !isStored {
            _ = try await service.text("a")
            isStored = try await service.response("a").cache?.outcome == .hit
            if !isStored { try await Task.sleep(for: .milliseconds(2)) }
        }
        #expect(isStored)
    }

    @Test("A response that is asked for before a removal that hangs is not stored")
    func lateResponses() async throws {
        let (origin, cache, service) = try setUp()
        let gate = LoopbackGate()
        origin.answer { _ in
            await gate.opened()
            return .init(fields: [.cacheControl: "max-age=60"], body: "old")
        }
        let late = Task { try await service.text("a") }
        await until { origin.count == 1 }
        store.behave(.hangs, in: .invalidate)
        await cache.invalidate(try RequestURL("https://h/a"))
        gate.open()
        #expect(try await late.value == "old")
        store.behave(.works)
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: "new") }
        #expect(try await service.text("a") == "new")
    }

    @Test("A store that others share gets no private responses")
    func shared() async throws {
        let shared = ScriptedStore(isShared: true)
        let origin = CacheOrigin([.cacheControl: "private, max-age=60"])
        let service = try origin.service(
            ResponseCache(memory: .standard, store: shared), over: TrustedStub(origin.transport()))
        #expect(try await service.text("a") == "1")
        #expect(try await service.text("a") == "2")
        #expect(shared.count(of: .store) == 0)
        // Whoever asks gets the same, so it is stored. With credentials the server has to say so.
        origin.answer { _ in .init(fields: [.cacheControl: "max-age=60"], body: "all") }
        #expect(try await service.text("b") == "all")
        #expect(try await service.response("b").cache?.outcome == .hit)
        service.setAuthorization(try .bearer("t"))
        #expect(try await service.response("c").cache?.isStored == false)
        origin.answer { _ in .init(fields: [.cacheControl: "public, max-age=60"], body: "all") }
        #expect(try await service.response("d").cache?.isStored == true)
    }

    @Test("A body of a lookup that does not come is fetched")
    func lateBodies() async throws {
        let slow = SlowBodies(next: ResponseCache().store)
        let origin = CacheOrigin([.cacheControl: "max-age=60"])
        let service = try origin.service(ResponseCache(store: slow), over: TrustedStub(origin.transport()))
        #expect(try await service.text("a") == "1")
        #expect(try await service.text("a") == "2")
        #expect(try await service.response("a", isStreamed: true).text == "3")
    }

    @Test("Removals beyond those that run wait for them; far too many remove everything", arguments: [400, 4_400])
    func manyRemovals(count: Int) async throws {
        let (_, cache, service) = try setUp()
        for path in ["a", "b"] { _ = try await service.text(path) }
        store.behave(.hangs, in: .invalidate)
        let urls = try (0..<count).map { try RequestURL("https://h/\($0)") }
        await withTaskGroup { group in
            for url in urls { group.addTask { await cache.invalidate(url) } }
        }
        #expect(store.count(of: .invalidate) == LimitedResponseStore.maximumRemovals)
        store.behave(.works)
        let noted = min(count, LimitedResponseStore.maximumRemovals + LimitedResponseStore.maximumWaiting)
        await until { store.count(of: .invalidate) == noted }
        await until { store.count(of: .remove) == (noted < count ? 1 : 0) }
        await cache.flush()
        #expect(cache.problems.resting == 0)
        let isFound = try await service.response("b").cache?.outcome == .hit
        #expect(isFound == (noted == count))
    }

    @Test("Only who has the lease validates; others wait a little, and then do too")
    func leases() async throws {
        let (origin, _, service) = try setUp([.cacheControl: "max-age=10", .eTag: "\"1\""])
        _ = try await service.text("a")
        origin.clock.advance(by: .seconds(20))
        store.behave(.fails, in: .lease)
        let running = Task { try await service.text("a") }
        // The wait is one of the test's clock.
        for _ in 0..<200 where origin.count == 1 {
            origin.clock.advance(by: .milliseconds(25))
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(try await running.value == "2")
        #expect(store.count(of: .lease) == 1 && origin.count == 2)
    }
}
