import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

/// What happens between the lookup in the second store and its result in the memory.
@Suite("Memory in front of another store", .timeLimit(.minutes(5)))
struct TieredStoreTests {
    private let far = ScriptedStore()
    private let tiers: TieredResponseStore
    private let key: ResponseKey

    init() throws {
        tiers = TieredResponseStore(MemoryResponseStore(bytes: 1 << 20, keepsAll: true), far)
        key = .sample(try RequestURL("https://h/a"), account: "ada")
    }

    /// Stores a response in the second store, and lets a lookup wait there that would take it into the memory.
    private func waitingLookup() async throws -> Task<Void, Never> {
        let ticket = try #require(await far.ticket(for: key))
        #expect(await far.store(.sample(load: 1, body: 1), Data("old".utf8), for: key, replacing: nil, since: ticket))
        _ = await tiers.lookup(key)
        far.behave(.hangs, in: .body)
        let (tiers, key) = (tiers, key)
        let late = Task { _ = await tiers.lookup(key) }
        await until { far.count(of: .body) == 1 }
        return late
    }

    private func finish(_ late: Task<Void, Never>) async {
        far.behave(.works)
        await late.value
    }

    @Test("What was found before something newer was stored is not taken into the memory", arguments: [0, 1, 2])
    func newer(how: Int) async throws {
        let late = try await waitingLookup()
        let ticket = try #require(await tiers.ticket(for: key))
        let new = StoredResponse.sample(load: 2, body: how == 2 ? 1 : 2)
        switch how {
        case 0:
            let writer = try #require(await tiers.begin(new, for: key, replacing: nil, since: ticket))
            #expect(writer.append(BodyChunk(Data("new".utf8))))
            #expect(await writer.commit())
        case 1:
            // Too large for the memory.
            #expect(await tiers.store(new, Data(count: 100_000), for: key, replacing: nil, since: ticket))
        default: #expect(await tiers.freshen(new, for: key, since: ticket))
        }
        await finish(late)
        for _ in 0..<3 { #expect(await tiers.lookup(key).responses.map(\.load) == [2]) }
    }

    @Test("What was found while a late write was running is not taken into the memory")
    func lateWrite() async throws {
        let near = MemoryResponseStore(bytes: 1 << 20, keepsAll: true)
        let limited = LimitedResponseStore(far, limit: .milliseconds(30)) { [near] key in near.forget(key) }
        let tiers = TieredResponseStore(near, limited)
        let ticket = try #require(await far.ticket(for: key))
        #expect(await far.store(.sample(load: 1, body: 1), Data("old".utf8), for: key, replacing: nil, since: ticket))
        for _ in 0..<2 { _ = await tiers.lookup(key) }
        let present = try #require(await tiers.ticket(for: key))
        far.behave(.hangs, in: .store)
        // Too large for the memory.
        #expect(
            await tiers.store(.sample(load: 2, body: 2), Data(count: 100_000), for: key, replacing: nil, since: present)
                == false)
        for _ in 0..<2 { #expect(await tiers.lookup(key).responses.map(\.load) == [1]) }
        far.behave(.works)
        await until { near.contains(key) == false }
        #expect(await tiers.lookup(key).responses.map(\.load) == [2])
    }

    @Test("What was found before a removal is not taken into the memory", arguments: [0, 1, 2])
    func removals(how: Int) async throws {
        let late = try await waitingLookup()
        switch how {
        case 0: await tiers.invalidate(key.url)
        case 1: await tiers.remove(in: ResponseScope(origin: key.url.origin, accounts: ["ada"]))
        default: await tiers.remove(in: .everything)
        }
        await finish(late)
        #expect(await tiers.lookup(key).responses.isEmpty)
    }

    @Test(
        "What is found while a removal waits for the second store does not stay in the memory",
        arguments: [true, false])
    func duringRemoval(isInvalidation: Bool) async throws {
        let ticket = try #require(await far.ticket(for: key))
        #expect(await far.store(.sample(load: 1, body: 1), Data("old".utf8), for: key, replacing: nil, since: ticket))
        far.behave(.hangs, in: isInvalidation ? .invalidate : .remove)
        let (tiers, key) = (tiers, key)
        let removal = Task {
            if isInvalidation { await tiers.invalidate(key.url) } else { await tiers.remove(in: .everything) }
        }
        await until { far.count(of: isInvalidation ? .invalidate : .remove) == 1 }
        for _ in 0..<2 { #expect(await tiers.lookup(key).responses.map(\.load) == [1]) }
        #expect(tiers.near.contains(key))
        far.behave(.works)
        await removal.value
        #expect(await tiers.lookup(key).responses.isEmpty)
    }

    @Test("A change that the memory refuses does not reach the second store")
    func refused() async throws {
        let ticket = try #require(await tiers.lookup(key).ticket)
        #expect(await tiers.store(.sample(load: 5, body: 5), Data("new".utf8), for: key, replacing: nil, since: ticket))
        #expect(
            await tiers.store(.sample(load: 4, body: 4), Data("old".utf8), for: key, replacing: nil, since: ticket)
                == false)
        #expect(await tiers.freshen(.sample(load: 4, body: 5), for: key, since: ticket) == false)
        await tiers.settle()
        #expect(await far.lookup(key).responses.map(\.load) == [5])
        #expect(far.count(of: .store) == 1 && far.count(of: .freshen) == 0)
    }

    @Test("A variant that only the second store has is found beside those that are stored later")
    func variants() async throws {
        let ticket = try #require(await far.ticket(for: key))
        let german = StoredResponse.sample(load: 1, body: 1, language: "de")
        #expect(await far.store(german, Data("de".utf8), for: key, replacing: nil, since: ticket))
        let found = await tiers.lookup(key)
        let english = StoredResponse.sample(load: 2, body: 2, language: "en")
        let isStored = await tiers.store(
            english, Data("en".utf8), for: key, replacing: nil, since: try #require(found.ticket))
        #expect(isStored)
        let late = try #require(await tiers.ticket(for: key))
        #expect(
            await tiers.store(.sample(load: 3, body: 3, language: "fr"), Data(), for: key, replacing: nil, since: late))
        await tiers.settle()
        for _ in 0..<3 { #expect(await tiers.lookup(key).responses.map(\.load).sorted() == [1, 2, 3]) }
    }
}
