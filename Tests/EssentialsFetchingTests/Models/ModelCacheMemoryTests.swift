import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Models in memory")
struct ModelCacheMemoryTests {
    private let slot = ModelSlot(ModelKey<Item>("item"))
    private let other = ModelSlot(ModelKey<Item>("other", partition: "p"))

    private func entry(_ name: String) -> ModelMemory.Entry {
        let date = Date(timeIntervalSinceReferenceDate: 0)
        return ModelMemory.Entry(model: ModelBox(CachedModel(name, date: date)), date: date)
    }

    private func name(_ entry: ModelMemory.Entry?) -> String? {
        (entry?.model as? ModelBox<CachedModel<String>>)?.value.value
    }

    @Test(
        "If two saves overlap, the one that began later holds, regardless of which ends first",
        arguments: [false, true])
    func saves(laterFirst: Bool) {
        var memory = ModelMemory(maximumCount: 10, maximumBytes: 1 << 20)
        let (first, second) = (memory.begin(slot), memory.begin(slot))
        let saves = [(first, "first"), (second, "second")]
        for (ticket, name) in laterFirst ? saves.reversed() : saves {
            if memory.claims(slot, ticket) { _ = memory.insert(entry(name), for: slot, bytes: 1) }
            memory.end(slot)
        }
        let kept = memory.use(slot)
        #expect(name(kept) == "second")
        #expect(memory.operationCount == 0)
    }

    @Test("A save that began before a deletion does not count after it, but a save of another partition does")
    func deletion() {
        var memory = ModelMemory(maximumCount: 10, maximumBytes: 1 << 20)
        var ticket = memory.begin(slot)
        let missing = memory.remove(slot)
        #expect(missing == nil)
        let countsAfter = memory.claims(slot, ticket)
        #expect(!countsAfter)
        memory.end(slot)

        ticket = memory.begin(slot)
        let theirs = memory.begin(other)
        _ = memory.removeAll(of: "p")
        let countsBeside = memory.claims(slot, ticket)
        #expect(countsBeside)
        let countsInPartition = memory.claims(other, theirs)
        #expect(!countsInPartition)
        _ = memory.removeAll(of: nil)
        let countsAfterAll = memory.claims(slot, ticket)
        #expect(!countsAfterAll)
        memory.end(slot)
        memory.end(other)
        #expect(memory.operationCount == 0)
    }

    @Test("A read counts only if there was no change since it began")
    func reading() {
        var memory = ModelMemory(maximumCount: 10, maximumBytes: 1 << 20)
        let save = memory.begin(slot)
        let reading = memory.begin(slot)
        #expect(memory.isUnchanged(slot, since: reading))
        // The save began before the read, and ends while it runs.
        let counts = memory.claims(slot, save)
        #expect(counts)
        #expect(!memory.isUnchanged(slot, since: reading))
        let later = memory.begin(slot)
        #expect(memory.isUnchanged(slot, since: later))
    }

    @Test("Models that are replaced, evicted or removed are returned, and sizes add up")
    func removed() {
        var memory = ModelMemory(maximumCount: 2, maximumBytes: 1 << 20)
        var removed = memory.insert(entry("a"), for: slot, bytes: 100)
        #expect(removed.isEmpty)
        removed = memory.insert(entry("b"), for: slot, bytes: 50)
        #expect(removed.map(name) == ["a"])
        #expect(memory.bytes == slot.byteCount + 50)
        removed = memory.insert(entry("c"), for: other, bytes: .max)
        #expect(removed.isEmpty)
        #expect(memory.count == 1)
        removed = memory.insert(entry("c"), for: other, bytes: -5)
        #expect(removed.isEmpty)
        let third = ModelSlot(ModelKey<Item>("third"))
        removed = memory.insert(entry("d"), for: third, bytes: 1)
        #expect(removed.map(name) == ["b"])
        removed = memory.removeAll(of: "p")
        #expect(removed.map(name) == ["c"])
        removed = memory.trim(part: 5)
        #expect(removed.map(name) == ["d"])
        #expect(memory.count == 0 && memory.bytes == 0)
    }
}
