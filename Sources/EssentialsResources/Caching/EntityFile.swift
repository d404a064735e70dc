import FoundationEssentials

/// The bytes of a file that holds one entity, and its name.
///
/// The bytes are: the mark `SEentity`, the version of the format, the lengths of key, head and body, a checksum of
/// everything else, the key, the head and the body. Numbers have the least significant byte first.
package enum EntityFile {
    /// The name of a file: hashes of the key, of its partition and of its origin, so that a partition or an origin can be
    /// removed without opening files.
    package struct Name: Hashable, Sendable {
        let key: UInt128
        package let partition: UInt64
        package let origin: UInt64

        /// The hash of the key in 32 hexadecimal digits.
        package var keyText: String { StableHash.hexadecimal(key) }

        package init(_ key: EntityKey) {
            self.key = StableHash.name(of: key.bytes)
            partition = Self.hash(key.partition.name)
            origin = Self.hash(key.origin)
        }

        /// Reads a name; `nil` if it is the name of another file.
        init?(_ text: String) {
            let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard text.hasSuffix(Self.suffix), parts.count == 3,
                let key = UInt128(String(Substring(parts[0])), radix: 16),
                let partition = UInt64(String(Substring(parts[1])), radix: 16),
                let origin = UInt64(String(Substring(parts[2].dropLast(Self.suffix.utf8.count))), radix: 16)
            else { return nil }
            (self.key, self.partition, self.origin) = (key, partition, origin)
            // A sign or other zeros would be another name for the same file.
            guard self.text == text else { return nil }
        }

        /// The name as a text.
        var text: String {
            StableHash.hexadecimal(key) + "-" + StableHash.hexadecimal(partition) + "-" + StableHash.hexadecimal(origin)
                + Self.suffix
        }

        package static func hash(_ text: some StringProtocol) -> UInt64 {
            UInt64(truncatingIfNeeded: StableHash.name(of: text.utf8))
        }

        private static let suffix = ".entity"
    }

    /// What was read.
    package enum Content: Sendable {
        case entity(EntityKey, StoredEntity)
        /// Bytes of another version or none of ours.
        case damaged
    }

    /// The version of the format.
    static let version: UInt32 = 1
    private static let mark = Array("SEentity".utf8)
    /// The size of what stands before the key.
    static let headerSize = 36

    /// A temporary name.
    static func temporaryName() -> String { ".entity-" + String(UInt64.random(in: .min ... .max), radix: 16) + ".tmp" }

    /// Whether a name was made by ``temporaryName()``.
    static func isTemporary(_ name: String) -> Bool { name.hasPrefix(".entity-") && name.hasSuffix(".tmp") }

    /// All bytes; `nil` if what is stored beside the body is too large.
    package static func bytes(of entity: StoredEntity, for key: EntityKey) -> [UInt8]? {
        guard entity.head.count <= StoredEntity.maximumHead else { return nil }
        return head(of: entity, for: key) + entity.body
    }

    /// The bytes before the body.
    static func head(of entity: StoredEntity, for key: EntityKey) -> [UInt8] {
        let (keyBytes, head) = (key.bytes, entity.head)
        var writer = ByteWriter()
        writer.append(mark)
        writer.append(version)
        writer.append(UInt32(clamping: keyBytes.count))
        writer.append(UInt32(clamping: head.count))
        writer.append(UInt64(entity.body.count))
        let sum = writer.bytes.withUnsafeBytes { StableHash.checksum($0) }
        let rest = keyBytes + head
        let keySum = rest.withUnsafeBytes { StableHash.checksum($0, sum) }
        writer.append(entity.body.withUnsafeBytes { StableHash.checksum($0, keySum) })
        writer.append(rest)
        return writer.bytes
    }

    /// The size of the key that follows a header; `nil` if it is none of ours.
    static func keySize(of header: [UInt8]) -> Int? {
        header.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard reader.take(mark.count).map({ $0.elementsEqual(mark) }) == true,
                let version: UInt32 = reader.number(), version == Self.version, let size: UInt32 = reader.number()
            else { return nil }
            return Int(size)
        }
    }

    /// Reads the bytes of a file.
    package static func content(of bytes: [UInt8]) -> Content {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard reader.take(mark.count).map({ $0.elementsEqual(mark) }) == true,
                let version: UInt32 = reader.number(), version == Self.version,
                let keySize: UInt32 = reader.number(), let headSize: UInt32 = reader.number(),
                let bodySize: UInt64 = reader.number(), let checksum: UInt64 = reader.number(),
                bodySize <= UInt64(reader.count),
                UInt64(keySize) + UInt64(headSize) + bodySize == UInt64(reader.count),
                let rest = reader.take(Int(keySize) + Int(headSize)), let body = reader.take(Int(bodySize))
            else { return .damaged }
            let start = UnsafeRawBufferPointer(rebasing: bytes[..<(headerSize - 8)])
            let sum = StableHash.checksum(body, StableHash.checksum(rest, StableHash.checksum(start)))
            guard sum == checksum,
                let key = EntityKey(bytes: UnsafeRawBufferPointer(rebasing: rest[..<Int(keySize)])),
                let entity = StoredEntity(
                    head: UnsafeRawBufferPointer(rebasing: rest[Int(keySize)...]), body: Data(body))
            else { return .damaged }
            return .entity(key, entity)
        }
    }
}
