import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials

/// Keeps responses in memory, within a budget of bytes.
///
/// The responses are divided by URL among shards with a lock each. A lookup takes one lock, and copies references.
final class MemoryResponseStore: ResponseStore {
    /// The bytes that count for an entry beside its head and body: its fields as values, its key and its places in the tables.
    static let overhead = 1_536
    /// The maximum number of responses to one URL that differ in the fields that `Vary` names.
    static let maximumVariants = 8
    /// The part of the budget that one response may take.
    static let part = 16

    /// The largest response that is stored: a sixteenth of the budget.
    let largest: Int
    private let budget: Int
    private let shards: [Shard]

    /// - Parameter bytes: The budget for heads, bodies and 1.5 KiB for each response.
    init(bytes: Int) {
        budget = max(bytes, 0)
        largest = budget / Self.part
        // Of a small budget, a shard could not hold the largest response.
        let count = budget < 1 << 20 ? 1 : 8
        shards = (0..<count).map { _ in Shard() }
    }

    /// The shard of a URL, the same in all partitions.
    private func shard(_ urlHash: Int) -> Shard {
        shards.count == 1 ? shards[0] : shards[Int(UInt(bitPattern: urlHash) % UInt(shards.count))]
    }

    func lookup(_ key: CacheKey) async -> CacheLookup { shard(key.urlHash).lookup(key) }

    func body(of entry: CacheEntry, _ key: CacheKey) async -> Data? {
        shard(key.urlHash).body(entry.identity.body, key)
    }

    func store(
        _ entry: CacheEntry, _ body: Data, for key: CacheKey, replacing replaced: UInt64?, since ticket: CacheTicket
    ) async -> Bool {
        var stored = entry
        stored.body = body
        guard stored.bytes <= largest else { return false }
        return shard(key.urlHash).store(
            stored, for: key, replacing: replaced, since: ticket, budget: budget / shards.count)
    }

    func freshen(_ entry: CacheEntry, for key: CacheKey, since ticket: CacheTicket) async -> Bool {
        shard(key.urlHash).freshen(
            entry, for: key, since: ticket, largest: largest, budget: budget / shards.count)
    }

    func invalidate(_ url: RequestURL) async { shard(url.hashValue).invalidate(url) }

    func remove(where isRemoved: @Sendable (CacheKey) -> Bool) async {
        for shard in shards { shard.remove(where: isRemoved) }
    }

    func usage() async -> ResponseCache.Usage {
        shards.reduce(into: ResponseCache.Usage()) { $0.add($1.usage) }
    }
}

extension CacheEntry {
    /// The bytes that count for the budget.
    fileprivate var bytes: Int { (body?.count ?? 0) + head.size + MemoryResponseStore.overhead }
}

/// A part of the responses under one lock.
private final class Shard: Sendable {
    fileprivate struct State {
        /// The responses of each key, the most recently used last.
        var entries: [CacheKey: [CacheEntry]] = [:]
        /// The keys of each URL, because an invalidation concerns all partitions.
        var keys: [RequestURL: Set<CacheKey>] = [:]
        var order = EvictionOrder<CacheKey>()
        /// The invalidated URLs. What was looked up before is not stored.
        var invalidated = Clearings<RequestURL>()
    }

    private let state = Mutex(State())

    func lookup(_ key: CacheKey) -> CacheLookup {
        state.withLock { state in
            // Read under the lock, so that an invalidation is before or after the whole lookup.
            let ticket = CacheTicket(epoch: .now)
            guard let entries = state.entries[key] else { return CacheLookup(ticket: ticket) }
            state.order.use(key)
            return CacheLookup(entries: entries, ticket: ticket)
        }
    }

    func body(_ number: UInt64, _ key: CacheKey) -> Data? {
        state.withLock { state in
            guard let entries = state.entries[key],
                let index = entries.firstIndex(where: { $0.identity.body == number })
            else { return nil }
            let entry = entries[index]
            // Of several variants, the one unused longest is replaced.
            if index < entries.count - 1 {
                state.entries[key]?.remove(at: index)
                state.entries[key]?.append(entry)
            }
            return entry.body
        }
    }

    func store(
        _ new: CacheEntry, for key: CacheKey, replacing replaced: UInt64?, since ticket: CacheTicket, budget: Int
    ) -> Bool {
        // What is replaced or evicted is released without the lock.
        var released: [CacheEntry] = []
        let isStored = state.withLock { state in
            guard !state.invalidated.forbid(key.url, since: ticket.epoch), !key.partition.hasEnded
            else {
                return false
            }
            var entries = state.entries[key] ?? []
            let isReplaced = { (old: CacheEntry) in
                old.identity.body == replaced || old.head.isVariant(like: new.head)
            }
            if entries.contains(where: { isReplaced($0) && $0.identity.load > new.identity.load }) {
                return false
            }
            released += entries.filter(isReplaced)
            entries.removeAll(where: isReplaced)
            if entries.count >= MemoryResponseStore.maximumVariants { released.append(entries.removeFirst()) }
            entries.append(new)
            state.put(entries, key)
            released += state.evict(to: budget, sparing: key)
            return true
        }
        withExtendedLifetime(released) {}
        return isStored
    }

    func freshen(
        _ entry: CacheEntry, for key: CacheKey, since ticket: CacheTicket, largest: Int, budget: Int
    ) -> Bool {
        var released: [CacheEntry] = []
        let isStored = state.withLock { state in
            guard !state.invalidated.forbid(key.url, since: ticket.epoch), !key.partition.hasEnded,
                var entries = state.entries[key],
                let index = entries.firstIndex(where: { $0.identity.body == entry.identity.body }),
                entries[index].identity.load < entry.identity.load
            else { return false }
            let new = CacheEntry(
                head: entry.head, identity: entry.identity, isPersonal: entry.isPersonal, body: entries[index].body)
            // Each confirmation can add fields.
            guard new.bytes <= largest else {
                released = state.take(key)
                return false
            }
            entries[index] = new
            // A confirmation can have another `Vary`, and then replaces what was stored with the same selection.
            released += entries.filter { $0.identity.body != entry.identity.body && $0.head.isVariant(like: new.head) }
            entries.removeAll { $0.identity.body != entry.identity.body && $0.head.isVariant(like: new.head) }
            state.put(entries, key)
            released += state.evict(to: budget, sparing: key)
            return true
        }
        withExtendedLifetime(released) {}
        return isStored
    }

    func invalidate(_ url: RequestURL) {
        let released = state.withLock { state in
            state.invalidated.clear(url)
            return (state.keys[url] ?? []).flatMap { state.take($0) }
        }
        withExtendedLifetime(released) {}
    }

    func remove(where isRemoved: (CacheKey) -> Bool) {
        // The condition is not applied to responses that are on their way, so none of them is stored.
        let keys = state.withLock { state in
            state.invalidated.clearAll()
            return Array(state.entries.keys)
        }
        // The condition can be code of the application, so it runs without the lock.
        let removed = keys.filter(isRemoved)
        let released = state.withLock { state in removed.flatMap { state.take($0) } }
        withExtendedLifetime(released) {}
    }

    var usage: ResponseCache.Usage {
        state.withLock { state in
            ResponseCache.Usage(
                responses: state.entries.values.reduce(0) { $0 + $1.count }, bytes: state.order.bytes)
        }
    }
}

extension Shard.State {
    /// Sets the responses of a key, of which there is at least one.
    fileprivate mutating func put(_ entries: [CacheEntry], _ key: CacheKey) {
        if self.entries.updateValue(entries, forKey: key) == nil { keys[key.url, default: []].insert(key) }
        order.insert(key, bytes: entries.reduce(0) { $0 + $1.bytes })
    }

    /// Removes the responses of a key and returns them.
    fileprivate mutating func take(_ key: CacheKey) -> [CacheEntry] {
        order.remove(key)
        guard let removed = entries.removeValue(forKey: key) else { return [] }
        keys[key.url]?.remove(key)
        if keys[key.url]?.isEmpty == true { keys[key.url] = nil }
        return removed
    }

    /// Removes responses until the others fit, and returns them.
    ///
    /// - Parameter key: The key that has just been set, of which at least one response stays.
    fileprivate mutating func evict(to budget: Int, sparing key: CacheKey) -> [CacheEntry] {
        var removed: [CacheEntry] = []
        while order.bytes > budget, let evicted = order.evict(budget: budget, sparing: key) {
            removed += take(evicted)
        }
        if order.bytes > budget { removed += shrink(key, to: budget) }
        return removed
    }

    /// Removes variants of a key, the one unused longest first, until they fit.
    fileprivate mutating func shrink(_ key: CacheKey, to budget: Int) -> [CacheEntry] {
        guard var kept = entries[key] else { return [] }
        var removed: [CacheEntry] = []
        while kept.count > 1, kept.reduce(0, { $0 + $1.bytes }) > budget { removed.append(kept.removeFirst()) }
        put(kept, key)
        return removed
    }
}
