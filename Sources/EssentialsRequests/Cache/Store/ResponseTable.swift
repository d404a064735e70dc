import EssentialsStorage
import EssentialsTransport

/// The responses in memory by key, with the order in which they are evicted. It is a value that a store keeps under its lock.
///
/// Each key has a place, which is that of ``EvictionQueues``. The keys of a URL are linked with each other, because an
/// invalidation concerns all partitions.
struct ResponseTable: Sendable {
    private struct Entry: Sendable {
        let key: ResponseKey
        /// At least one, the most recently used last.
        var responses: [StoredResponse]
        /// The places of other keys whose URLs have the same hash.
        var previousOfURL: Int?
        var nextOfURL: Int?
    }

    private var places: [ResponseKey: Int] = [:]
    /// The entry of each place.
    private var entries: [Entry?] = []
    /// The place of the key that was added last with a URL of this hash.
    private var urls: [Int: Int] = [:]
    private var queues = EvictionQueues()

    /// The bytes of all responses.
    var bytes: Int { queues.bytes }
    /// The number of responses.
    var count: Int { entries.reduce(0) { $0 + ($1?.responses.count ?? 0) } }
    var keys: some Collection<ResponseKey> { places.keys }

    /// The responses of a key.
    subscript(key: ResponseKey) -> [StoredResponse] { places[key].flatMap { entries[$0]?.responses } ?? [] }

    /// The responses of a key, of which a request uses one.
    mutating func use(_ key: ResponseKey) -> [StoredResponse] {
        guard let place = places[key] else { return [] }
        queues.use(place)
        return entries[place]?.responses ?? []
    }

    /// The body of a response with this number, which is used. Of several variants, the one unused longest is replaced.
    mutating func body(_ number: UInt64, of key: ResponseKey) -> StoredContent? {
        guard let place = places[key], let responses = entries[place]?.responses,
            let index = responses.firstIndex(where: { $0.identity.body == number })
        else { return nil }
        if index < responses.count - 1 {
            entries[place]?.responses.remove(at: index)
            entries[place]?.responses.append(responses[index])
        }
        return responses[index].body
    }

    /// Sets the responses of a key, of which there is at least one.
    mutating func put(_ responses: [StoredResponse], _ key: ResponseKey) {
        let bytes = responses.reduce(0) { $0 + $1.memoryBytes }
        if let place = places[key] {
            entries[place]?.responses = responses
            return queues.replace(place, bytes: bytes)
        }
        let place = queues.insert(bytes: bytes, fingerprint: key.fingerprint)
        places[key] = place
        let next = urls.updateValue(place, forKey: key.urlHash)
        if let next { entries[next]?.previousOfURL = place }
        let entry = Entry(key: key, responses: responses, nextOfURL: next)
        if place == entries.count { entries.append(entry) } else { entries[place] = entry }
    }

    // MARK: Removing

    // What is removed is added to an array, so that its owner can release it without the lock.

    /// Removes the responses of a key.
    mutating func take(_ key: ResponseKey, into removed: inout [StoredResponse]) {
        guard let place = places[key] else { return }
        queues.remove(place)
        release(place, into: &removed)
    }

    /// Removes the responses of a URL in all partitions.
    mutating func take(allOf url: RequestURL, into removed: inout [StoredResponse]) {
        var next = urls[url.hashValue]
        while let place = next, let entry = entries[place] {
            next = entry.nextOfURL
            guard entry.key.url == url else { continue }
            queues.remove(place)
            release(place, into: &removed)
        }
    }

    /// Removes the entry of a place that the queues do not have any more.
    private mutating func release(_ place: Int, into removed: inout [StoredResponse]) {
        guard let entry = entries[place].take() else { return }
        places[entry.key] = nil
        if let next = entry.nextOfURL { entries[next]?.previousOfURL = entry.previousOfURL }
        if let previous = entry.previousOfURL {
            entries[previous]?.nextOfURL = entry.nextOfURL
        } else {
            urls[entry.key.urlHash] = entry.nextOfURL
        }
        removed += entry.responses
    }

    /// Removes responses, beginning with those that were used only once, until the others fit.
    mutating func evict(to budget: Int, into removed: inout [StoredResponse]) {
        // Without a budget, the queue of those that were used once is emptied first.
        while bytes > budget, let place = queues.evict(budget: 0) { release(place, into: &removed) }
    }

    /// Removes responses until the others fit.
    ///
    /// - Parameters:
    ///   - key: The key that has just been set, of which at least one response stays.
    ///   - keepsAll: Whether all of its responses stay or none.
    mutating func evict(
        to budget: Int, sparing key: ResponseKey, keepsAll: Bool, into removed: inout [StoredResponse]
    ) {
        guard bytes > budget else { return }
        let spared = places[key]
        while bytes > budget, let place = queues.evict(budget: budget, sparing: spared) {
            release(place, into: &removed)
        }
        guard bytes > budget else { return }
        if keepsAll { take(key, into: &removed) } else { shrink(key, to: budget, into: &removed) }
    }

    /// Removes variants of a key, the one unused longest first, until they fit.
    private mutating func shrink(_ key: ResponseKey, to budget: Int, into removed: inout [StoredResponse]) {
        var kept = self[key]
        while kept.count > 1, kept.reduce(0, { $0 + $1.memoryBytes }) > budget { removed.append(kept.removeFirst()) }
        put(kept, key)
    }
}
