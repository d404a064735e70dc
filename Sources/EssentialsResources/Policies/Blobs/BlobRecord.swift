import EssentialsHTTP
import FoundationEssentials

/// What is stored beside the bytes of a blob, in a file of its own: the head of the response, and what its other file must
/// be like. The record is an ``EntityFile`` whose body is the description of the other file: the number of its format, the
/// generation, the size and the checksums.
struct BlobRecord: Sendable {
    /// The stage in the keys of blobs.
    static let stage = PipelineStage("blob")
    /// The maximum size of a record.
    static let maximumBytes =
        StoredEntity.maximumHead + ResourceURL.maximumBytes + 4_096 + 8
        * PieceChecksums.count(
            for: PieceChecksums.maximumSize)
    /// The format of the description. The first one had no number.
    private static let format: UInt8 = 2
    /// The size of a description in the first format, which had one checksum, and none for blobs of more than 1 MiB.
    private static let firstSize = 24

    /// Distinguishes the bytes from those of an earlier response to the same URL.
    let generation: UInt64
    let size: Int64
    /// The checksums of the bytes.
    let checksums: PieceChecksums
    /// The head of the response, without a body.
    let entity: StoredEntity

    init(generation: UInt64, size: Int64, checksums: PieceChecksums, entity: StoredEntity) {
        (self.generation, self.size, self.checksums) = (generation, size, checksums)
        var entity = entity
        entity.body = Data()
        self.entity = entity
    }

    /// Reads the record from the entity of its file; `nil` if it is damaged.
    init?(stored: StoredEntity) {
        let description: (UInt64, Int64, PieceChecksums)? = stored.body.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let format: UInt8 = reader.number(), format == Self.format,
                let generation: UInt64 = reader.number(),
                let size: Int64 = reader.number(), (0...PieceChecksums.maximumSize).contains(size),
                reader.count == 8 * PieceChecksums.count(for: size)
            else { return nil }
            var sums: [UInt64] = []
            while let sum: UInt64 = reader.number() { sums.append(sum) }
            return (generation, size, PieceChecksums(sums))
        }
        guard let (generation, size, checksums) = description else { return nil }
        self.init(generation: generation, size: size, checksums: checksums, entity: stored)
    }

    /// Whether a file that is no record is one of the first format, and not damaged.
    static func isOutdated(_ stored: StoredEntity) -> Bool { stored.body.count == firstSize }

    /// The entity of the file.
    var stored: StoredEntity {
        var writer = ByteWriter()
        writer.append(Self.format)
        writer.append(generation)
        writer.append(size)
        for sum in checksums.sums { writer.append(sum) }
        var entity = entity
        entity.body = Data(writer.bytes)
        return entity
    }

    /// The record with another head.
    func with(_ entity: StoredEntity) -> BlobRecord {
        BlobRecord(generation: generation, size: size, checksums: checksums, entity: entity)
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
