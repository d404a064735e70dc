/// The id of a model: a UUID of version 7 (RFC 9562, section 5.7), known before anything is saved.
///
/// Ids sort by the time of their creation, to the millisecond. Ids that one process creates in the same millisecond
/// sort in the order of their creation. An id of one model is not an id of another, so mixing them up does not compile.
///
/// ```swift
/// struct Film: Codable {
///     var id = ModelID<Film>()
///     var studioID: ModelID<Studio>?
/// }
/// let id = ModelID<Film>("018f4d6e-6a1c-7abc-8def-0123456789ab")
/// ```
public struct ModelID<Model>: Sendable {
    private let high: UInt64
    private let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a new id from the clock and the random numbers of ``ModelIDGenerator/current``.
    public init() { self = ModelIDGenerator.current.next() }

    /// Creates an id from 16 bytes of any version of UUID; `nil` for another number of bytes.
    public init?(bytes: some Collection<UInt8>) { self.init(array: Array(bytes)) }

    /// Used for every row that is read, so it avoids generic code.
    private init?(array: [UInt8]) {
        guard array.count == 16 else { return nil }
        (high, low) = array.withUnsafeBytes { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Creates an id from its text, in either case; `nil` if the text is no UUID.
    public init?(_ description: some StringProtocol) {
        var bytes: [UInt8] = []
        var nibble: UInt8?
        for (index, character) in description.utf8.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard character == UInt8(ascii: "-") else { return nil }
            } else {
                guard index < 36, let value = HexText.value(character) else { return nil }
                if let first = nibble {
                    bytes.append(first << 4 | value)
                    nibble = nil
                } else {
                    nibble = value
                }
            }
        }
        self.init(bytes: bytes)
    }

    /// The 16 bytes, in the order in which they sort.
    public var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

    /// The time at which the id was created, in milliseconds since 1970, if this is a UUID of version 7.
    public var milliseconds: Int64? { high >> 12 & 15 == 7 ? Int64(high >> 16) : nil }
}

extension ModelID: Hashable, Comparable {
    /// Compares bytes.
    public static func < (one: ModelID, other: ModelID) -> Bool { (one.high, one.low) < (other.high, other.low) }
}

extension ModelID: LosslessStringConvertible {
    /// Creates an id from its text; `nil` if the text is no UUID.
    public init?(_ description: String) { self.init(description[...]) }

    /// The text of 36 characters in lower case.
    public var description: String {
        let digits = HexText.text(bytes).utf8
        var text: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ModelID: Codable {
    /// Decodes the text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = ModelID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is no UUID.")
        }
        self = id
    }

    /// Encodes the text. In columns, ids are stored as bytes.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension ModelID: ModelIdentifier {
    /// ``ColumnStorage/blob``.
    public static var storage: ColumnStorage { .blob }
    /// The 16 bytes.
    public var storedValue: StoredValue? { .blob(bytes) }
    /// Creates the id from 16 bytes.
    public init?(storedValue: StoredValue) {
        guard case .blob(let bytes) = storedValue else { return nil }
        self.init(array: bytes)
    }
}
