/// Decides which keys of a store are evicted first; see ``EvictionQueues``.
package struct EvictionOrder<Key: Hashable & Sendable>: Sendable {
    /// The place of an entry, for another value.
    package struct Place: Sendable, Hashable {
        package let key: Key
        package let bytes: Int
        package let uses: Int
        package let isMain: Bool
    }

    private var queues = EvictionQueues()
    private var entries: [Key: Int] = [:]
    /// The key of each place in the queues.
    private var keysOfPlaces: [Key?] = []

    package init() {}

    /// The size of all entries.
    package var bytes: Int { queues.bytes }
    /// The number of entries.
    package var count: Int { entries.count }
    package var keys: some Collection<Key> { entries.keys }

    package func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// The size of an entry; `nil` if it does not exist.
    package func bytes(of key: Key) -> Int? { entries[key].map { queues[$0].bytes } }

    /// The places of all entries, the next to evict first in each queue.
    package var places: [Place] {
        queues.places.compactMap { place in
            let standing = queues[place]
            return keysOfPlaces[place].map {
                Place(key: $0, bytes: standing.bytes, uses: standing.uses, isMain: standing.isMain)
            }
        }
    }

    /// Adds entries with the places that they had in another value. Existing entries keep their places.
    package mutating func restore(_ places: [Place]) {
        for place in places where entries[place.key] == nil {
            let standing = EvictionQueues.Standing(bytes: place.bytes, uses: place.uses, isMain: place.isMain)
            note(place.key, at: queues.restore(standing, fingerprint: place.key.hashValue))
        }
    }

    /// Records a use of an entry.
    package mutating func use(_ key: Key) {
        if let place = entries[key] { queues.use(place) }
    }

    /// Inserts an entry, or replaces the one with the same key, which is a use and keeps its place.
    package mutating func insert(_ key: Key, bytes size: Int) {
        if let place = entries[key] { return queues.replace(place, bytes: size) }
        note(key, at: queues.insert(bytes: size, fingerprint: key.hashValue))
    }

    private mutating func note(_ key: Key, at place: Int) {
        entries[key] = place
        if place == keysOfPlaces.count { keysOfPlaces.append(key) } else { keysOfPlaces[place] = key }
    }

    /// Removes an entry.
    package mutating func remove(_ key: Key) {
        guard let place = entries.removeValue(forKey: key) else { return }
        queues.remove(place)
        keysOfPlaces[place] = nil
    }

    /// Removes the next entry to evict; `nil` if there is no entry.
    ///
    /// - Parameters:
    ///   - budget: The size of the store. A tenth of it is for the small queue.
    ///   - spared: An entry that stays, because it was just inserted.
    package mutating func evict(budget: Int, sparing spared: Key? = nil) -> Key? {
        guard let place = queues.evict(budget: budget, sparing: spared.flatMap { entries[$0] }),
            let key = keysOfPlaces[place].take()
        else { return nil }
        entries[key] = nil
        return key
    }
}
