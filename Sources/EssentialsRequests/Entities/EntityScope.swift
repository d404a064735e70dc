/// The entities that a cache removes together.
///
/// ```swift
/// try await cache.removeAll(in: EntityScope(partition: "account-7"))
/// try await cache.removeAll(in: .everything)
/// ```
public struct EntityScope: Sendable {
    /// All entities.
    public static let everything = EntityScope()

    /// Only those of a partition; `nil` means all partitions.
    public var partition: EntityPartition?
    /// Only those of an origin, such as `https://api.example.com`; `nil` means all origins.
    public var origin: String?
    /// Only those with certain keys; `nil` means all keys. It is called on any thread and under locks, so it must use
    /// nothing but the key.
    public var matches: (@Sendable (EntityKey) -> Bool)?

    /// Creates a scope. An entity belongs to it if it fulfils all conditions.
    public init(
        partition: EntityPartition? = nil, origin: String? = nil, matching: (@Sendable (EntityKey) -> Bool)? = nil
    ) {
        self.partition = partition
        self.origin = origin
        matches = matching
    }

    /// Whether an entity belongs to the scope.
    public func contains(_ key: EntityKey) -> Bool {
        if let partition, key.partition != partition { return false }
        if let origin, key.origin != origin { return false }
        return matches?(key) ?? true
    }
}

extension EntityScope {
    /// The most scopes that one is made of. Beyond it the union contains more than they do.
    package static let maximumParts = 256

    /// A scope with all entities of several others.
    package static func union(_ parts: [EntityScope]) -> EntityScope {
        guard let first = parts.first, parts.count > 1 else { return parts.first ?? .everything }
        let partition = parts.allSatisfy { $0.partition == first.partition } ? first.partition : nil
        let origin = parts.allSatisfy { $0.origin == first.origin } ? first.origin : nil
        guard parts.count <= maximumParts else { return EntityScope(partition: partition, origin: origin) }
        return EntityScope(partition: partition, origin: origin) { key in parts.contains { $0.contains(key) } }
    }
}
