import EssentialsStorage
import FoundationEssentials

/// An entity and its key as bytes, for stores that keep one value for each key.
///
/// The bytes are a record with the mark `SEentity` and three parts: the key, the head and the body.
package enum EntityBytes {
    /// The first version had lengths of 32 bits.
    static let format = RecordFormat(mark: "SEentity", version: 2, partCount: 3)

    /// All bytes; `nil` if what is stored beside the body is too large.
    package static func bytes(of entity: StoredEntity, for key: EntityKey) -> [UInt8]? {
        let (key, head) = (key.bytes, entity.head)
        guard head.count <= StoredEntity.maximumHead else { return nil }
        let header = key.withUnsafeBytes { key in
            head.withUnsafeBytes { head in entity.body.withUnsafeBytes { format.header(for: [key, head, $0]) } }
        }
        return header + key + head + entity.body
    }

    /// Reads the bytes; `nil` if they are damaged, or of another version.
    package static func read(_ bytes: [UInt8]) -> (key: EntityKey, entity: StoredEntity)? {
        bytes.withUnsafeBytes { bytes in
            guard case .record(_, let parts) = format.content(of: bytes),
                let key = EntityKey(bytes: UnsafeRawBufferPointer(rebasing: bytes[parts[0]])),
                let entity = StoredEntity(
                    head: UnsafeRawBufferPointer(rebasing: bytes[parts[1]]), body: Data(bytes[parts[2]]))
            else { return nil }
            return (key, entity)
        }
    }
}
