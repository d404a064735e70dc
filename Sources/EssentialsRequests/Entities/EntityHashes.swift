import EssentialsStorage

/// The hashes by which stores find entities: of the key, of its partition and of its origin, so that a partition or an
/// origin can be removed without reading keys. They are the same in every process.
package struct EntityHashes: Hashable, Sendable {
    package let key: UInt128
    package let partition: UInt64
    package let origin: UInt64

    package init(_ key: EntityKey) { self.init(key, bytes: key.bytes) }

    fileprivate init(_ key: EntityKey, bytes: [UInt8]) {
        self.key = StableHash.name(of: bytes)
        partition = Self.hash(key.partition.name)
        origin = Self.hash(key.origin)
    }

    /// The hash of the key in 32 hexadecimal digits.
    package var keyText: String { StableHash.hexadecimal(key) }

    /// The hash of the name of a partition, or of an origin.
    package static func hash(_ text: some StringProtocol) -> UInt64 {
        UInt64(truncatingIfNeeded: StableHash.name(of: text.utf8))
    }
}

extension RecordKey {
    /// The key of an entity's record.
    package init(_ key: EntityKey) {
        let bytes = key.bytes
        let hashes = EntityHashes(key, bytes: bytes)
        self.init(RecordName(key: hashes.key, partition: hashes.partition, group: hashes.origin), bytes)
    }
}

extension RecordScope {
    /// The records of a scope of entities, whatever its condition on keys.
    package init(_ scope: EntityScope) {
        self.init(
            partition: scope.partition.map { EntityHashes.hash($0.name) },
            group: scope.origin.map { EntityHashes.hash($0) })
    }
}
