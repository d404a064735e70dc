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
        guard stored.memoryBytes <= largest else { return false }
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
        guard responses.allSatisfy({ $0.body?.data != nil && $0.memoryBytes <= largest }) else { return false }
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
    var memoryBytes: Int { (body?.count ?? 0) + head.size + MemoryResponseStore.overhead }
}

/// A part of the responses under one lock.
private final class Shard: Sendable {
    private struct State {
        var table = ResponseTable()
        /// The invalidated URLs. What was looked up before is not stored.
        var invalidated = Clearings<RequestURL>()
        /// The URLs of which another store has something newer. What was looked up there before is not taken over.
        var forgotten = Clearings<RequestURL>()

        /// Whether nothing has removed the responses of a key since a ticket was given.
        func accepts(_ key: ResponseKey, since ticket: ResponseTicket) -> Bool {
            !invalidated.forbid(key.url, since: Epoch(number: ticket.epoch)) && !key.hasEnded
        }
    }

    private let state = Mutex(State())
    private let keepsAll: Bool

    init(keepsAll: Bool) { self.keepsAll = keepsAll }

    func lookup(_ key: ResponseKey) -> ResponseLookup {
        state.withLock { state in
            // Read under the lock, so that an invalidation is before or after the whole lookup.
            let ticket = ResponseTicket(epoch: Epoch.now.number)
            return ResponseLookup(state.table.use(key), ticket: ticket)
        }
    }

    func body(_ number: UInt64, _ key: ResponseKey) -> StoredContent? {
        state.withLock { $0.table.body(number, of: key) }
    }

    func store(
        _ new: StoredResponse, for key: ResponseKey, replacing replaced: UInt64?, since ticket: ResponseTicket,
        budget: Int
    ) -> Bool {
        // What is replaced or evicted is released without the lock.
        var released: [StoredResponse] = []
        let isStored = state.withLock { state in
            guard state.accepts(key, since: ticket) else { return false }
            var entries = state.table[key]
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
            state.table.put(entries, key)
            state.table.evict(to: budget, sparing: key, keepsAll: keepsAll, into: &released)
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
            guard state.accepts(key, since: ticket) else { return false }
            var entries = state.table[key]
            guard let index = entries.firstIndex(where: { $0.identity.body == entry.identity.body }),
                entries[index].identity.load < entry.identity.load
            else { return false }
            let new = StoredResponse(
                head: entry.head, identity: entry.identity, isPersonal: entry.isPersonal, body: entries[index].body)
            // Each confirmation can add fields.
            guard new.memoryBytes <= largest else {
                state.table.take(key, into: &released)
                return false
            }
            entries[index] = new
            // A confirmation can have another `Vary`, and then replaces what was stored with the same selection.
            released += entries.filter { $0.identity.body != entry.identity.body && $0.head.isVariant(like: new.head) }
            entries.removeAll { $0.identity.body != entry.identity.body && $0.head.isVariant(like: new.head) }
            state.table.put(entries, key)
            state.table.evict(to: budget, sparing: key, keepsAll: keepsAll, into: &released)
            return true
        }
        withExtendedLifetime(released) {}
        return isStored
    }

    func contains(_ key: ResponseKey) -> Bool { state.withLock { !$0.table[key].isEmpty } }

    func forget(_ key: ResponseKey) {
        var released: [StoredResponse] = []
        state.withLock { state in
            state.forgotten.clear(key.url)
            state.table.take(key, into: &released)
        }
        withExtendedLifetime(released) {}
    }

    func fill(_ responses: [StoredResponse], for key: ResponseKey, since ticket: ResponseTicket, budget: Int) -> Bool {
        var released: [StoredResponse] = []
        let isFilled = state.withLock { state in
            guard state.accepts(key, since: ticket), state.table[key].isEmpty,
                !state.forgotten.forbid(key.url, since: Epoch(number: ticket.epoch))
            else { return false }
            state.table.put(responses, key)
            state.table.evict(to: budget, sparing: key, keepsAll: keepsAll, into: &released)
            return true
        }
        withExtendedLifetime(released) {}
        return isFilled
    }

    func invalidate(_ url: RequestURL) {
        var released: [StoredResponse] = []
        state.withLock { state in
            state.invalidated.clear(url)
            state.table.take(allOf: url, into: &released)
        }
        withExtendedLifetime(released) {}
    }

    func remove(where isRemoved: (ResponseKey) -> Bool) {
        // The condition is not applied to responses that are on their way, so none of them is stored.
        let keys = state.withLock { state in
            state.invalidated.clearAll()
            return Array(state.table.keys)
        }
        // The condition can be code of the application, so it runs without the lock.
        let removed = keys.filter(isRemoved)
        var released: [StoredResponse] = []
        state.withLock { state in
            for key in removed { state.table.take(key, into: &released) }
        }
        withExtendedLifetime(released) {}
    }

    func trim(part: Double) {
        var released: [StoredResponse] = []
        state.withLock { $0.table.evict(to: Int(Double($0.table.bytes) * (1 - part)), into: &released) }
        withExtendedLifetime(released) {}
    }

    var usage: ResponseCache.Usage {
        state.withLock { state in
            var usage = ResponseCache.Usage()
            usage.responses = state.table.count
            usage.bytes = state.table.bytes
            return usage
        }
    }
}
