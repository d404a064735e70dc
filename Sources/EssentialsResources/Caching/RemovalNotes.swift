import FoundationEssentials

/// What is to be removed from a directory of entities, as a file there says it. What it names is not found any more.
///
/// The file is written before the first entity is removed, and removed after the last one. It is left if an entity cannot be
/// removed or the process is killed, and then the next start goes on with it. A damaged one means that everything is to be
/// removed, because nobody knows what it has named.
struct RemovalNotes: Sendable, Hashable {
    /// Entities that are named by their partition and origin.
    struct Scope: Sendable, Hashable {
        /// `nil` means all partitions.
        var partition: UInt64?
        /// `nil` means all origins.
        var origin: UInt64?

        func contains(_ name: EntityFile.Name) -> Bool {
            (partition.map { $0 == name.partition } ?? true) && (origin.map { $0 == name.origin } ?? true)
        }
    }

    /// The name of the file.
    static let fileName = ".removals"
    /// The maximum number of entities that are named one by one. Beyond it their partitions and origins are named.
    static let maximumNames = 10_000
    /// The maximum number of scopes. Beyond it everything is named.
    static let maximumScopes = 1_000
    /// The maximum size of the file.
    static let maximumSize = 1 << 20
    private static let mark = Array("SEremove".utf8)
    private static let version: UInt32 = 1

    var scopes: Set<Scope> = []
    var names: Set<EntityFile.Name> = []

    var isEmpty: Bool { scopes.isEmpty && names.isEmpty }

    func contains(_ name: EntityFile.Name) -> Bool {
        names.contains(name) || scopes.contains { $0.contains(name) }
    }

    /// Adds what another file names.
    mutating func formUnion(_ other: RemovalNotes) {
        scopes.formUnion(other.scopes)
        names.formUnion(other.names)
    }

    /// Takes out what another value names.
    mutating func subtract(_ other: RemovalNotes) {
        scopes.subtract(other.scopes)
        names.subtract(other.names)
    }

    // MARK: Bytes

    /// All bytes: the mark, the version, a checksum of the rest, the scopes and the names.
    var bytes: [UInt8] {
        var (scopes, names) = (scopes, names)
        if names.count > Self.maximumNames {
            scopes.formUnion(names.map { Scope(partition: $0.partition, origin: $0.origin) })
            names = []
        }
        if scopes.count > Self.maximumScopes { (scopes, names) = ([Scope()], []) }
        var body = ByteWriter()
        body.append(UInt32(clamping: scopes.count))
        for scope in scopes {
            body.append(UInt8((scope.partition == nil ? 0 : 1) | (scope.origin == nil ? 0 : 2)))
            body.append(scope.partition ?? 0)
            body.append(scope.origin ?? 0)
        }
        body.append(UInt32(clamping: names.count))
        for name in names {
            let text = name.text
            body.append(text: text)
        }
        var writer = ByteWriter()
        writer.append(Self.mark)
        writer.append(Self.version)
        writer.append(body.bytes.withUnsafeBytes { StableHash.checksum($0) })
        writer.append(body.bytes)
        return writer.bytes
    }

    init() {}

    /// Reads the bytes of a file. Damaged ones name everything.
    init(bytes: [UInt8]) {
        guard let notes = Self.read(bytes) else {
            scopes = [Scope()]
            return
        }
        self = notes
    }

    private static func read(_ bytes: [UInt8]) -> RemovalNotes? {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard reader.take(mark.count).map({ $0.elementsEqual(mark) }) == true,
                let version: UInt32 = reader.number(), version == Self.version,
                let checksum: UInt64 = reader.number(), let body = reader.take(reader.count),
                StableHash.checksum(body) == checksum
            else { return nil }
            return read(body)
        }
    }

    private static func read(_ body: UnsafeRawBufferPointer) -> RemovalNotes? {
        var (reader, notes) = (ByteReader(body), RemovalNotes())
        guard let scopeCount: UInt32 = reader.number() else { return nil }
        for _ in 0..<scopeCount {
            guard let parts: UInt8 = reader.number(), let partition: UInt64 = reader.number(),
                let origin: UInt64 = reader.number()
            else { return nil }
            notes.scopes.insert(
                Scope(partition: parts & 1 == 0 ? nil : partition, origin: parts & 2 == 0 ? nil : origin))
        }
        guard let nameCount: UInt32 = reader.number() else { return nil }
        for _ in 0..<nameCount {
            guard let name = reader.text().flatMap({ EntityFile.Name($0) }) else { return nil }
            notes.names.insert(name)
        }
        return reader.count == 0 ? notes : nil
    }
}
