/// The name of a record's file: hashes of the key, its partition and its group, and the number of the record under its
/// key.
///
/// Partition and group, such as an account and an origin, are in the name, so that their records can be removed without
/// opening files. Two keys with equal hashes are distinguished by the key in the file.
package struct RecordName: Hashable, Sendable {
    package let key: UInt128
    package let partition: UInt64
    package let group: UInt64
    /// Several records can have one key, such as variants of a response.
    package let number: UInt8

    private static let suffix = ".record"

    package init(key: UInt128, partition: UInt64, group: UInt64, number: UInt8 = 0) {
        (self.key, self.partition, self.group, self.number) = (key, partition, group, number)
    }

    /// Reads a name; `nil` if it is not the name of a record's file.
    package init?(_ text: String) {
        guard text.hasSuffix(Self.suffix) else { return nil }
        self.init(stem: text.dropLast(Self.suffix.utf8.count))
    }

    fileprivate init?(stem: Substring) {
        let parts = stem.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 4, let key = UInt128(String(Substring(parts[0])), radix: 16),
            let partition = UInt64(String(Substring(parts[1])), radix: 16),
            let group = UInt64(String(Substring(parts[2])), radix: 16),
            let number = UInt8(String(Substring(parts[3])), radix: 16)
        else { return nil }
        self.init(key: key, partition: partition, group: group, number: number)
        // A sign or other zeros would be another name for the same record.
        guard self.stem == stem else { return nil }
    }

    fileprivate var stem: String {
        [
            StableHash.hexadecimal(key), StableHash.hexadecimal(partition), StableHash.hexadecimal(group),
            StableHash.hexadecimal(number),
        ].joined(separator: "-")
    }

    /// The name as a text.
    package var text: String { stem + Self.suffix }

    /// The name of another record under the same key.
    package func numbered(_ number: UInt8) -> RecordName {
        RecordName(key: key, partition: partition, group: group, number: number)
    }
}

/// The name of the file with the body of a record. It consists of the record's name and the number of this body.
package struct RecordBodyName: Hashable, Sendable {
    package let record: RecordName
    package let id: UInt64

    private static let suffix = ".body"

    package init(_ record: RecordName, _ id: UInt64) { (self.record, self.id) = (record, id) }

    /// Reads a name; `nil` if it is not the name of a body's file.
    package init?(_ text: String) {
        guard text.hasSuffix(Self.suffix), let end = text.lastIndex(of: "-"),
            let record = RecordName(stem: text[..<end]),
            let id = UInt64(text[text.index(after: end)...].dropLast(Self.suffix.utf8.count), radix: 16)
        else { return nil }
        self.init(record, id)
        guard self.text == text else { return nil }
    }

    /// The name as a text.
    package var text: String { record.stem + "-" + StableHash.hexadecimal(id) + Self.suffix }
}

/// Records that are removed together: those of a partition, of a group, or of both. Without either, all records.
package struct RecordScope: Hashable, Sendable {
    /// `nil` means all partitions.
    package var partition: UInt64?
    /// `nil` means all groups.
    package var group: UInt64?

    package init(partition: UInt64? = nil, group: UInt64? = nil) { (self.partition, self.group) = (partition, group) }

    package func contains(_ name: RecordName) -> Bool {
        (partition.map { $0 == name.partition } ?? true) && (group.map { $0 == name.group } ?? true)
    }
}

/// A key of records.
package struct RecordKey: Hashable, Sendable {
    /// The name of the first record.
    package let name: RecordName
    /// The whole key, which is compared with the key in the file.
    package let bytes: [UInt8]

    package init(_ name: RecordName, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
}
