import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials

/// An entity cache whose content is encrypted before another cache stores it; see ``EntitySealing``.
///
/// Content, media type and header fields are sealed. The keys are not, because the other cache finds entities by them: they
/// contain the URL and the name of the partition. Neither are the date and the size.
public final class SealedEntityCache: EntityCache {
    package let cache: any EntityCache
    private let sealing: any EntitySealing

    /// Creates a cache over another one.
    public init(_ cache: any EntityCache, sealing: any EntitySealing) {
        (self.cache, self.sealing) = (cache, sealing)
    }

    /// Whether the other cache is persistent.
    public var isPersistent: Bool { cache.isPersistent }

    /// The key of the other cache.
    public var fingerprintKey: FingerprintKey { cache.fingerprintKey }

    /// The entity under a key; `nil` if there is none, or if it was sealed with a key that is not known.
    public func entity(for key: EntityKey) async throws -> StoredEntity? {
        guard let sealed = try await cache.entity(for: key), let envelope = Envelope(sealed.body),
            let opened = try await sealing.open(envelope.bytes, keyID: envelope.keyID, context: Data(key.bytes))
        else { return nil }
        return opened.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let head = reader.counted(), let body = reader.take(reader.count) else { return nil }
            return StoredEntity(head: head, body: Data(body))
        }
    }

    /// Seals and stores an entity.
    public func store(_ entity: StoredEntity, for key: EntityKey) async throws {
        var writer = ByteWriter()
        entity.head.withUnsafeBytes { writer.append(counted: $0) }
        writer.append(entity.body)
        // The key's name is read once, so that a change of keys meanwhile does no harm.
        let keyID = sealing.keyID
        let sealed = try await sealing.seal(Data(writer.bytes), context: Data(key.bytes))
        let envelope = Envelope(keyID: keyID, bytes: sealed)
        try await cache.store(StoredEntity(body: envelope.data, date: entity.date), for: key)
    }

    /// Removes an entity.
    public func remove(_ key: EntityKey) async throws { try await cache.remove(key) }

    /// Removes all entities of a scope.
    public func removeAll(in scope: EntityScope) async throws { try await cache.removeAll(in: scope) }

    /// Sealed bytes with the name of their key.
    private struct Envelope {
        let keyID: String
        let bytes: Data

        init(keyID: String, bytes: Data) { (self.keyID, self.bytes) = (keyID, bytes) }

        init?(_ data: Data) {
            let parts = data.withUnsafeBytes { bytes -> (String, Data)? in
                var reader = ByteReader(bytes)
                guard let keyID = reader.text(), let rest = reader.take(reader.count) else { return nil }
                return (keyID, Data(rest))
            }
            guard let parts else { return nil }
            (keyID, bytes) = parts
        }

        var data: Data {
            var writer = ByteWriter()
            writer.append(text: keyID)
            writer.append(bytes)
            return Data(writer.bytes)
        }
    }
}
