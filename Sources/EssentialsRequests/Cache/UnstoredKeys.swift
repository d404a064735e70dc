import EssentialsTools

/// The keys whose last response was not stored, for a minute. Processes do not wait for each other's responses to them.
final class UnstoredKeys: Sendable {
    /// How long a key is remembered.
    static let time = Duration.seconds(60)
    /// The maximum number of keys. With a further one, the others are forgotten.
    static let maximumCount = 1_024

    /// When each key is forgotten, by its fingerprint. Two keys with the same one do no harm.
    private let ends = Mutex<[Int: SteadyInstant]>([:])

    func insert(_ key: ResponseKey) {
        let now = SteadyInstant.now
        ends.withLock { ends in
            if ends.count >= Self.maximumCount { ends = [:] }
            ends[key.fingerprint] = now + Self.time
        }
    }

    func contains(_ key: ResponseKey) -> Bool {
        guard let end = ends.withLock({ $0[key.fingerprint] }) else { return false }
        return SteadyInstant.now < end
    }
}
