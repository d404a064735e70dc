import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

/// A store whose lookups are counted, and which may have an answer without waiting.
private final class StubResident: ResidentResponseStore {
    let next = MemoryResponseStore(bytes: 1 << 20, keepsAll: true)
    let hasAnswer = Mutex(true)
    let waits = Mutex(0)
    var largest: Int { next.largest }

    func lookup(_ key: ResponseKey) async -> ResponseLookup {
        waits.withLock { $0 += 1 }
        return await next.lookup(key)
    }

    func residentLookup(_ key: ResponseKey) -> ResponseLookup? {
        hasAnswer.withLock { $0 } ? ResponseLookup([.sample(load: 7, body: 7)], ticket: ResponseTicket(epoch: 7)) : nil
    }

    func residentTicket(for key: ResponseKey) -> ResponseTicket? { hasAnswer.withLock { $0 } ? ResponseTicket() : nil }

    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? { nil }

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool { true }

    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool { false }
    func invalidate(_ url: RequestURL) async { try? await Task.sleep(for: .seconds(30)) }
    func remove(in scope: ResponseScope) async {}
    func usage() async -> ResponseCache.Usage { ResponseCache.Usage() }
}

/// Lookups that need no other thread.
@Suite("Stores that find responses without waiting", .timeLimit(.minutes(5)))
struct ResidentStoreTests {
    private let scratch: ScratchDirectory
    private let key: ResponseKey

    init() throws {
        scratch = try ScratchDirectory()
        key = .sample(try RequestURL("https://h/a"), account: "ada")
    }

    private func files(_ name: String = "cache") throws -> LimitedResponseStore {
        LimitedResponseStore(try DiskResponseStore(FileDirectory(scratch(name)), bytes: 16 << 20), limit: .seconds(30))
    }

    @Test("Files conform through the lookups without waiting, also after a restart")
    func conformance() async throws {
        let scratch = scratch
        let make = { @Sendable (name: String) in
            LimitedResponseStore(
                try DiskResponseStore(FileDirectory(scratch(name)), bytes: 16 << 20), limit: .seconds(30))
        }
        #expect(await ResponseStoreConformance.check { try make(.randomAlphanumeric(16)) } == [])
        #expect(await ResponseStoreConformance.checkRestart { try make("restart") } == [])
    }

    @Test("A result that is there is used at once, and the store is asked if there is none")
    func used() async {
        let stub = StubResident()
        let store = LimitedResponseStore(stub)
        #expect(await store.lookup(key).responses.map(\.load) == [7])
        #expect(await store.ticket(for: key) != nil)
        #expect(stub.waits.withLock { $0 } == 0)
        stub.hasAnswer.withLock { $0 = false }
        #expect(await store.lookup(key).responses.isEmpty)
        #expect(await store.ticket(for: key) != nil)
        #expect(stub.waits.withLock { $0 } == 2)
    }

    @Test("What is being removed is not found, and a store that is left alone is not asked")
    func removed() async throws {
        let store = LimitedResponseStore(StubResident(), limit: .milliseconds(5))
        await store.invalidate(key.url)
        #expect(await store.lookup(key).responses.isEmpty)
        let other = ResponseKey.sample(try RequestURL("https://h/b"), account: "ada")
        #expect(await store.lookup(other).responses.count == 1)
        // Three calls in a row that did not end in time.
        for number in 0..<3 { await store.invalidate(try RequestURL("https://h/\(number)")) }
        #expect(await store.lookup(other).responses.isEmpty && store.problems.resting == 1)
    }

    @Test("What another store of the directory has stored, invalidated or removed is seen at once")
    func twoStores() async throws {
        let stores = [try files(), try files()]
        for round in 0..<40 {
            let (one, other) = (stores[round % 2], stores[(round + 1) % 2])
            // The first lookups bring what they need into memory.
            for store in stores { for _ in 0..<2 { _ = await store.lookup(key) } }
            let load = UInt64(round + 1)
            let ticket = try #require(await one.lookup(key).ticket)
            let body = Data("\(round)".utf8) + Data(count: round % 3 * 40_000)
            #expect(await one.store(.sample(load: load, body: load), body, for: key, replacing: nil, since: ticket))
            for store in stores {
                let found = await store.lookup(key).responses
                #expect(found.map(\.load) == [load])
                #expect(await found.first?.body?.all() == body)
            }
            switch round % 4 {
            case 0: await one.invalidate(key.url)
            case 1: await one.remove(in: ResponseScope(accounts: ["ada"]))
            case 2: await one.remove(in: .everything)
            default: continue
            }
            #expect(await other.lookup(key).responses.isEmpty)
            #expect(
                await other.store(.sample(load: load, body: load), body, for: key, replacing: nil, since: ticket)
                    == false)
        }
    }

    @Test("Waits end in their order when their time is over, and not earlier")
    func timeout() async {
        let timeout = SharedTimeout(.milliseconds(50), .system)
        let start = ContinuousClock.now
        let signals = (0..<4).map { _ in OneShot<Void>() }
        for signal in signals[..<3] { timeout.add(signal) }
        signals[0].provide(())
        #expect(!signals[1].isProvided)
        for signal in signals[1..<3] { await signal.value() }
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        // The sleeping task has ended or is about to, and another one begins.
        timeout.add(signals[3])
        await signals[3].value()
        #expect(ContinuousClock.now - start >= .milliseconds(100))
    }
}
