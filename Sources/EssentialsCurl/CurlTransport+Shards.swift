extension CurlTransport.Configuration {
    /// What each engine thread gets: the same, but of what is divided its part.
    ///
    /// The parts add up to the whole, and differ by one at most. A checked configuration has one of each for every thread,
    /// or none at all.
    func divided() -> [Self] {
        (0..<shards).map { shard in
            var part = self
            part.shards = 1
            for limit in Self.dividedLimits {
                let total = self[keyPath: limit]
                part[keyPath: limit] = total / shards + (shard < total % shards ? 1 : 0)
            }
            return part
        }
    }

    /// What is divided among the engine threads. All requests to one origin go through one of them, so that what is said
    /// of an origin or of a connection holds in each.
    static var dividedLimits: [WritableKeyPath<Self, Int>] {
        [\.requestsInFlight, \.queueLimit, \.connectionCacheSize]
    }
}
