import EssentialsHTTP
import FoundationEssentials

/// What is stored beside the bytes of a blob, in a file of its own: the head of the response, and what its other file must
/// be like. The record is an ``EntityFile`` whose body is the description of the other file.
struct BlobRecord: Sendable {
    /// The stage in the keys of blobs.
    static let stage = PipelineStage("blob")
    /// The maximum size of a record.
    static let maximumBytes = StoredEntity.maximumHead + ResourceURL.maximumBytes + 4_096

    /// Distinguishes the bytes from those of an earlier response to the same URL.
    let generation: UInt64
    let size: Int64
    /// The checksum of the bytes; 0 for blobs that were not in memory as a whole.
    let checksum: UInt64
    /// The head of the response, without a body.
    let entity: StoredEntity

    init(generation: UInt64, size: Int64, checksum: UInt64, entity: StoredEntity) {
        (self.generation, self.size, self.checksum) = (generation, size, checksum)
        var entity = entity
        entity.body = Data()
        self.entity = entity
    }

    /// Reads the record from the entity of its file; `nil` if it is damaged.
    init?(stored: StoredEntity) {
        let description: (UInt64, Int64, UInt64)? = stored.body.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let generation: UInt64 = reader.number(), let size: Int64 = reader.number(), size >= 0,
                let checksum: UInt64 = reader.number(), reader.count == 0
            else { return nil }
            return (generation, size, checksum)
        }
        guard let (generation, size, checksum) = description else { return nil }
        self.init(generation: generation, size: size, checksum: checksum, entity: stored)
    }

    /// The entity of the file.
    var stored: StoredEntity {
        var writer = ByteWriter()
        writer.append(generation)
        writer.append(size)
        writer.append(checksum)
        var entity = entity
        entity.body = Data(writer.bytes)
        return entity
    }

    /// The record with another head.
    func with(_ entity: StoredEntity) -> BlobRecord {
        BlobRecord(generation: generation, size: size, checksum: checksum, entity: entity)
    }
}

/// The name of the file with the bytes of a blob: that of its record, and the generation.
struct BlobBodyName: Hashable, Sendable {
    let name: EntityFile.Name
    let generation: UInt64

    private static let suffix = ".body"

    init(_ name: EntityFile.Name, _ generation: UInt64) { (self.name, self.generation) = (name, generation) }

    /// Reads a name; `nil` if it is the name of another file.
    init?(_ text: String) {
        guard text.hasSuffix(Self.suffix), let end = text.lastIndex(of: "-"),
            let name = EntityFile.Name(String(text[..<end]) + Self.recordSuffix),
            let generation = UInt64(text[text.index(after: end)...].dropLast(Self.suffix.count), radix: 16)
        else { return nil }
        self.init(name, generation)
        guard self.text == text else { return nil }
    }

    private static let recordSuffix = ".entity"

    /// The name as a text.
    var text: String {
        String(name.text.dropLast(Self.recordSuffix.count)) + "-"
            + StableHash.hexadecimal(generation) + Self.suffix
    }
}
