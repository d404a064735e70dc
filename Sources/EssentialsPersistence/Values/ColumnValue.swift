/// A value that fills one column of a row.
///
/// Numbers, `Bool`, `String`, `[UInt8]`, `Data`, `UUID`, `Date`, ids, and optionals of these are column values. An
/// enumeration with raw values only needs to declare the conformance:
///
/// ```swift
/// enum Genre: String, Codable, ColumnValue { case drama, comedy }
/// ```
public protocol ColumnValue: Sendable {
    /// How values of this type are stored.
    static var storage: ColumnStorage { get }
    /// Whether a column of this type may hold NULL. The default is `false`.
    static var isOptional: Bool { get }
    /// The value as it is stored; `nil` if it cannot be stored, such as a text with a NUL character or a NaN.
    var storedValue: StoredValue? { get }
    /// Creates the value from a stored one; `nil` if that has another kind or is out of range.
    init?(storedValue: StoredValue)
}

/// The type that a table declares for a column.
public enum ColumnStorage: String, Sendable, Hashable, CaseIterable {
    /// Integers and `Bool`.
    case integer = "INTEGER"
    /// Floating-point numbers.
    case real = "REAL"
    /// Texts, dates, and nested values as JSON.
    case text = "TEXT"
    /// Bytes, UUIDs and ids.
    case blob = "BLOB"
}

extension ColumnValue {
    /// The default is `false`.
    public static var isOptional: Bool { false }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    /// The storage of the wrapped type.
    public static var storage: ColumnStorage { Wrapped.storage }
    /// Always `true`.
    public static var isOptional: Bool { true }
    /// NULL for `nil`.
    public var storedValue: StoredValue? {
        switch self {
        case nil: .null
        case let value?: value.storedValue
        }
    }
    /// Creates `nil` from NULL.
    public init?(storedValue: StoredValue) {
        if storedValue.isNull {
            self = .none
        } else if let value = Wrapped(storedValue: storedValue) {
            self = .some(value)
        } else {
            return nil
        }
    }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    /// The storage of the raw value.
    public static var storage: ColumnStorage { RawValue.storage }
    /// The raw value as it is stored.
    public var storedValue: StoredValue? { rawValue.storedValue }
    /// Creates the value from its raw value; `nil` if no case has it.
    public init?(storedValue: StoredValue) {
        guard let rawValue = RawValue(storedValue: storedValue) else { return nil }
        self.init(rawValue: rawValue)
    }
}

extension ColumnValue where Self: FixedWidthInteger {
    /// ``ColumnStorage/integer``.
    public static var storage: ColumnStorage { .integer }
    /// The integer; `nil` if it is beyond `Int64`.
    public var storedValue: StoredValue? { Int64(exactly: self).map { .integer($0) } }
    /// Creates the integer; `nil` if it is out of range.
    public init?(storedValue: StoredValue) {
        guard case .integer(let value) = storedValue else { return nil }
        self.init(exactly: value)
    }
}

extension Int: ColumnValue {}
extension Int8: ColumnValue {}
extension Int16: ColumnValue {}
extension Int32: ColumnValue {}
extension Int64: ColumnValue {}
extension UInt8: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}
// A value beyond `Int64` cannot be stored.
extension UInt64: ColumnValue {}
extension UInt: ColumnValue {}

extension Bool: ColumnValue {
    /// ``ColumnStorage/integer``.
    public static var storage: ColumnStorage { .integer }
    /// 1 or 0.
    public var storedValue: StoredValue? { .integer(self ? 1 : 0) }
    /// Creates `false` from 0, and `true` from every other integer.
    public init?(storedValue: StoredValue) {
        guard case .integer(let value) = storedValue else { return nil }
        self = value != 0
    }
}

extension Double: ColumnValue {
    /// ``ColumnStorage/real``.
    public static var storage: ColumnStorage { .real }
    /// The number; `nil` for NaN.
    public var storedValue: StoredValue? { isNaN ? nil : .real(self) }
    /// Creates the number from a real number or an integer.
    public init?(storedValue: StoredValue) {
        switch storedValue {
        case .real(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }
}

extension Float: ColumnValue {
    /// ``ColumnStorage/real``.
    public static var storage: ColumnStorage { .real }
    /// The number; `nil` for NaN.
    public var storedValue: StoredValue? { isNaN ? nil : .real(Double(self)) }
    /// Creates the nearest number.
    public init?(storedValue: StoredValue) {
        guard let value = Double(storedValue: storedValue) else { return nil }
        self = Float(value)
    }
}

extension String: ColumnValue {
    /// ``ColumnStorage/text``.
    public static var storage: ColumnStorage { .text }
    /// The text; `nil` if it contains a NUL character.
    public var storedValue: StoredValue? { utf8.contains(0) ? nil : .text(self) }
    /// Creates the text.
    public init?(storedValue: StoredValue) {
        guard case .text(let value) = storedValue else { return nil }
        self = value
    }
}

extension [UInt8]: ColumnValue {
    /// ``ColumnStorage/blob``.
    public static var storage: ColumnStorage { .blob }
    /// The bytes.
    public var storedValue: StoredValue? { .blob(self) }
    /// Creates the bytes.
    public init?(storedValue: StoredValue) {
        guard case .blob(let value) = storedValue else { return nil }
        self = value
    }
}
