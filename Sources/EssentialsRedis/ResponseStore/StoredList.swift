import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import EssentialsTransport
import FoundationEssentials

/// The responses of a key, as one value of the server.
///
/// It begins with the version, a checksum of all that follows, and a random tag, by which a change shows that it knows the list.
struct StoredList: Sendable {
    /// One response.
    struct Record: Sendable {
        /// The head, as ``StoredResponse/bytes(for:)`` writes it.
        var head: [UInt8]
        /// The name of the value with the body; zero if the body is in the list.
        var reference: UInt64
        /// The number of bytes of the body.
        var count: Int
        /// The body; empty if it is a value of its own.
        var body: [UInt8]
        /// How long the response is kept, in milliseconds since 1970.
        var end: Int64
    }

    static let version: UInt8 = 1
    /// The maximum number of responses, which differ in what `Vary` names.
    static let maximumRecords = 8
    /// The maximum size of a body in the list.
    static let maximumInlineBody = 16 << 10
    /// The maximum size of a list.
    static let maximumBytes = 1 << 20

    var tag: [UInt8] = []
    var epoch: UInt64
    /// What the generations of the key's partition are together.
    var generation: UInt64
    /// The hash of the account that the application has named; zero without one.
    var account: UInt128
    var url: String
    var records: [Record] = []

    /// The list as a value, with a new tag.
    func bytes() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt64.random(in: .min ... .max))
        writer.append(epoch)
        writer.append(generation)
        writer.append(account)
        writer.append(text: url)
        writer.append(UInt8(records.count))
        for record in records {
            record.head.withUnsafeBytes { writer.append(counted: $0) }
            writer.append(record.reference)
            writer.append(UInt32(record.count))
            record.body.withUnsafeBytes { writer.append(counted: $0) }
            writer.append(record.end)
        }
        return Self.framed(writer.bytes)
    }

    /// Reads a list; `nil` if it is damaged or of another version.
    init?(_ value: [UInt8]) {
        guard let content = Self.content(of: value) else { return nil }
        let list = content.withUnsafeBytes { bytes -> StoredList? in
            var reader = ByteReader(bytes)
            return StoredList(&reader)
        }
        guard let list else { return nil }
        self = list
    }

    init(epoch: UInt64, generation: UInt64, account: UInt128, url: String) {
        (self.epoch, self.generation, self.account, self.url) = (epoch, generation, account, url)
    }

    private init?(_ reader: inout ByteReader) {
        guard let tag: UInt64 = reader.number(), let epoch: UInt64 = reader.number(),
            let generation: UInt64 = reader.number(), let account: UInt128 = reader.number(),
            let url = reader.text(), let count: UInt8 = reader.number(), count <= Self.maximumRecords
        else { return nil }
        self.init(epoch: epoch, generation: generation, account: account, url: url)
        self.tag = withUnsafeBytes(of: tag.littleEndian) { Array($0) }
        for _ in 0..<count {
            guard let head = reader.counted().map({ Array($0) }), let reference: UInt64 = reader.number(),
                let count: UInt32 = reader.number(), let body = reader.counted().map({ Array($0) }),
                let end: Int64 = reader.number(), reference != 0 || body.count == Int(count)
            else { return nil }
            records.append(Record(head: head, reference: reference, count: Int(count), body: body, end: end))
        }
        guard reader.count == 0 else { return nil }
    }

    // MARK: Values

    /// Bytes as a value of the server: with the version and a checksum.
    static func framed(_ content: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(version)
        writer.append(content.withUnsafeBytes { StableHash.checksum($0) })
        writer.append(content)
        return writer.bytes
    }

    /// The bytes of a value; `nil` if it is damaged or of another version.
    static func content(of value: [UInt8]) -> ArraySlice<UInt8>? {
        guard value.count >= frameSize, value[0] == version else { return nil }
        let content = value[frameSize...]
        let expected = value[1..<frameSize].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return content.withUnsafeBytes { StableHash.checksum($0) } == expected ? content : nil
    }

    private static let frameSize = 9
}
