/// A value as a store holds it: one of the five kinds of values that SQLite has.
///
/// Values are equal if their stored bytes are equal. So texts with the same meaning but different scalars differ, an
/// integer differs from a real number, and `-0.0` differs from `0.0`.
///
/// ```swift
/// Film.where { _ in .sql("year % 4 = ?", [.integer(0)]) }
/// ```
public enum StoredValue: Sendable {
    /// No value.
    case null
    /// A signed integer of 64 bits.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text, stored as UTF-8. It has no NUL character, because many programs end texts there.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// Whether this is ``null``.
    public var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// The approximate number of bytes that the value occupies in memory.
    package var byteCount: Int {
        switch self {
        case .null, .integer, .real: 16
        case .text(let text): 16 + text.utf8.count
        case .blob(let bytes): 16 + bytes.count
        }
    }
}

extension StoredValue: Hashable {
    /// Compares kinds and bytes.
    public static func == (one: StoredValue, other: StoredValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        case (.text(let one), .text(let other)): haveSameBytes(one, other)
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }

    private static func haveSameBytes(_ one: String, _ other: String) -> Bool {
        var (one, other) = (one, other)
        // The buffers are used within the closures alone. Copies of a long text usually share one buffer.
        return one.withUTF8 { one in
            other.withUTF8 { one.count == $0.count && (one.baseAddress == $0.baseAddress || one.elementsEqual($0)) }
        }
    }

    /// Hashes the kind and the bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .integer(let value):
            hasher.combine(1 as UInt8)
            hasher.combine(value)
        case .real(let value):
            hasher.combine(2 as UInt8)
            hasher.combine(value.bitPattern)
        case .text(let value):
            hasher.combine(3 as UInt8)
            var value = value
            value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let value):
            hasher.combine(4 as UInt8)
            value.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}

extension StoredValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    /// Creates the value ``null``.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a real number.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// Creates a text.
    public init(stringLiteral value: String) { self = .text(value) }
}

extension StoredValue: CustomStringConvertible {
    /// The value as an SQL literal.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): "'\(value.replacing("'", with: "''"))'"
        case .blob(let value): "x'\(HexText.text(value))'"
        }
    }
}
