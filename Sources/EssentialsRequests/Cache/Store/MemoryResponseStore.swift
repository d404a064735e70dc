import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import EssentialsTransport
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
    /// A quarter of the budget for the bodies that wait for their end.
    private let room: BufferRoom

    /// - Parameters:
    ///   - bytes: The budget for heads, bodies and 1.5 KiB for each response.
    ///   - keepsAll: Whether all responses of a key are kept or none, so that what is found is all that another store has.
    init(bytes: Int, keepsAll: Bool = false) {
        budget = max(bytes, 0)
        largest = budget / Self.part
        room = BufferRoom(bytes: budget / 4)
        // Of a small budget, a shard could not hold the largest response.
        let count = budget < 1 << 20 ? 1 : 8
        shards = (0..<count).map { _ in Shard(keepsAll: keepsAll) }
    }

    /// The shard of a URL, the same in all partitions.
    private func shard(_ urlHash: Int) -> Shard {
        shards.count == 1 ? shards[0] : shards[Int(UInt(bitPattern: urlHash) % UInt(shards.count))]
    }

    func lookup(_ key: ResponseKey) async -> ResponseLookup { shard(key.urlHash).lookup(key) }

    func body(of response: StoredResponse, for key: ResponseKey) async -> StoredContent? {
        shard(key.urlHash).body(response.identity.body, key)
    }

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey, replacing replaced: UInt64?,
        since ticket: ResponseTicket
    ) async -> Bool {
        var stored = response
        stored.body = StoredContent(body)
        guard stored.bytes <= largest else { return false }
        return shard(key.urlHash).store(
            stored, for: key, replacing: replaced, since: ticket, budget: budget / shards.count)
    }

    func begin(
        _ response: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket
    ) async -> (any ResponseWriter)? {
        BufferedResponseWriter(self, response, key, replaced, ticket, in: room.share())
    }

    func freshen(_ response: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket) async -> Bool {
        shard(key.urlHash).freshen(
            response, for: key, since: ticket, largest: largest, budget: budget / shards.count)
    }

    /// Whether there is a response of a key.
    func contains(_ key: ResponseKey) -> Bool { shard(key.urlHash).contains(key) }

    /// Removes the responses of a key, and lets no earlier lookup fill it. Responses that are on their way are stored.
    func forget(_ key: ResponseKey) { shard(key.urlHash).forget(key) }

    /// Whether a response is small enough to be stored.
    func fits(_ response: StoredResponse, _ body: Data) -> Bool {
        body.count + response.head.size + Self.overhead <= largest
    }

    /// Stores all responses of a key that another store has, if there is none and all are small enough.
    ///
    /// - Returns: Whether they are stored.
    func fill(_ responses: [StoredResponse], for key: ResponseKey, since ticket: ResponseTicket) -> Bool {
        guard responses.allSatisfy({ $0.body?.data != nil && $0.bytes <= largest }) else { return false }
        return shard(key.urlHash).fill(responses, for: key, since: ticket, budget: budget / shards.count)
    }

    func invalidate(_ url: RequestURL) async { shard(url.hashValue).invalidate(url) }

    func remove(in scope: ResponseScope) async {
        for shard in shards { shard.remove { $0.hasEnded || scope.contains($0) } }
    }

    /// Removes a part of the bytes, from 0 to 1, beginning with responses that were used only once.
    func trim(part: Double) {
        for shard in shards { shard.trim(part: part) }
    }

    func usage() async -> ResponseCache.Usage {
        shards.reduce(into: ResponseCache.Usage()) { $0.add($1.usage) }
    }
}

extension StoredResponse {
    /// The bytes that count for the budget.
    fileprivate var bytes: Int { (body?.count ?? 0) + head.size + MemoryResponseStore.overhead }
}

/// A part of the responses under one lock.
private final class Shard: Sendable {
    fileprivate struct State {
        /// The responses of each key, the most recently used last.
        var entries: [ResponseKey: [StoredResponse]] = [:]
        /// The keys of each URL, because an invalidation concerns all partitions.
        var keys: [RequestURL: Set<ResponseKey>] = [:]
        var order = EvictionOrder<ResponseKey>()
        /// The invalidated URLs. What was looked up before is not stored.
        var invalidated = Clearings<RequestURL>()
        /// The URLs of which another store has something newer. What was looked up there before is not taken over.
        var forgotten = Clearings<RequestURL>()
    }

    private let state = Mutex(State())
    private let keepsAll: Bool

    init(keepsAll: Bool) { self.keepsAll = keepsAll }

    func lookup(_ key: ResponseKey) -> ResponseLookup {
        state.withLock { state in
            // Read under the lock, so that an invalidation is before or after the whole lookup.
            let ticket = ResponseTicket(epoch: Epoch.now.number)
            guard let entries = state.entries[key] else { return ResponseLookup(ticket: ticket) }
            state.order.use(key)
            return ResponseLookup(entries, ticket: ticket)
        }
    }

    func body(_ number: UInt64, _ key: ResponseKey) -> StoredContent? {
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
        _ new: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket,
        budget: Int
    ) -> Bool {
        // What is replaced or evicted is released without the lock.
        var released: [StoredResponse] = []
        let isStored = state.withLock { state in
            guard state.accepts(key, since: ticket) else { return false }
            var entries = state.entries[key] ?? []
            let isReplaced = { (old: StoredResponse) in
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
            released += state.evict(to: budget, sparing: key, keepsAll: keepsAll)
            return true
        }
        withExtendedLifetime(released) {}
        return isStored
    }

    func freshen(
        _ entry: StoredResponse, for key: ResponseKey, since ticket: ResponseTicket, largest: Int, budget: Int
    ) -> Bool {
        var released: [StoredResponse] = []
        let isStored = state.withLock { state in
            guard state.accepts(key, since: ticket), var entries = state.entries[key],
                let index = entries.firstIndex(where: { $0.identity.body == entry.identity.body }),
                entries[index].identity.load < entry.identity.load
            else { return false }
            let new = StoredResponse(
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
            released += state.evict(to: budget, sparing: key, keepsAll: keepsAll)
            return true
        }
        withExtendedLifetime(released) {}
        return isStored
    }

    func contains(_ key: ResponseKey) -> Bool { state.withLock { $0.entries[key] != nil } }

    func forget(_ key: ResponseKey) {
        let released = state.withLock { state in
            state.forgotten.clear(key.url)
            return state.take(key)
        }
        withExtendedLifetime(released) {}
    }

    func fill(_ responses: [StoredResponse], for key: ResponseKey, since ticket: ResponseTicket, budget: Int) -> Bool {
        let released = state.withLock { state -> [StoredResponse]? in
            guard state.accepts(key, since: ticket), state.entries[key] == nil,
                !state.forgotten.forbid(key.url, since: Epoch(number: ticket.epoch))
            else { return nil }
            state.put(responses, key)
            return state.evict(to: budget, sparing: key, keepsAll: keepsAll)
        }
        return withExtendedLifetime(released) { released != nil }
    }

    func invalidate(_ url: RequestURL) {
        let released = state.withLock { state in
            state.invalidated.clear(url)
            return (state.keys[url] ?? []).flatMap { state.take($0) }
        }
        withExtendedLifetime(released) {}
    }

    func remove(where isRemoved: (ResponseKey) -> Bool) {
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

    func trim(part: Double) {
        let released = state.withLock { state -> [StoredResponse] in
            let kept = Int(Double(state.order.bytes) * (1 - part))
            var released: [StoredResponse] = []
            // Without a budget, the queue of those that were used once is emptied first.
            while state.order.bytes > kept, let evicted = state.order.evict(budget: 0) {
                released += state.take(evicted)
            }
            return released
        }
        withExtendedLifetime(released) {}
    }

    var usage: ResponseCache.Usage {
        state.withLock { state in
            var usage = ResponseCache.Usage()
            usage.responses = state.entries.values.reduce(0) { $0 + $1.count }
            usage.bytes = state.order.bytes
            return usage
        }
    }
}

extension Shard.State {
    /// Whether nothing has removed the responses of a key since a ticket was given.
    fileprivate func accepts(_ key: ResponseKey, since ticket: ResponseTicket) -> Bool {
        !invalidated.forbid(key.url, since: Epoch(number: ticket.epoch)) && !key.hasEnded
    }

    /// Sets the responses of a key, of which there is at least one.
    fileprivate mutating func put(_ entries: [StoredResponse], _ key: ResponseKey) {
        if self.entries.updateValue(entries, forKey: key) == nil { keys[key.url, default: []].insert(key) }
        order.insert(key, bytes: entries.reduce(0) { $0 + $1.bytes })
    }

    /// Removes the responses of a key and returns them.
    fileprivate mutating func take(_ key: ResponseKey) -> [StoredResponse] {
        order.remove(key)
        guard let removed = entries.removeValue(forKey: key) else { return [] }
        keys[key.url]?.remove(key)
        if keys[key.url]?.isEmpty == true { keys[key.url] = nil }
        return removed
    }

    /// Removes responses until the others fit, and returns them.
    ///
    /// - Parameters:
    ///   - key: The key that has just been set, of which at least one response stays.
    ///   - keepsAll: Whether all of its responses stay or none.
    fileprivate mutating func evict(to budget: Int, sparing key: ResponseKey, keepsAll: Bool) -> [StoredResponse] {
        var removed: [StoredResponse] = []
        while order.bytes > budget, let evicted = order.evict(budget: budget, sparing: key) {
            removed += take(evicted)
        }
        if order.bytes > budget { removed += keepsAll ? take(key) : shrink(key, to: budget) }
        return removed
    }

    /// Removes variants of a key, the one unused longest first, until they fit.
    fileprivate mutating func shrink(_ key: ResponseKey, to budget: Int) -> [StoredResponse] {
        guard var kept = entries[key] else { return [] }
        var removed: [StoredResponse] = []
        while kept.count > 1, kept.reduce(0, { $0 + $1.bytes }) > budget { removed.append(kept.removeFirst()) }
        put(kept, key)
        return removed
    }
}
