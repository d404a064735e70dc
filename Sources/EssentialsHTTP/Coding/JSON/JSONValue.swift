/// Any JSON value (RFC 8259), for documents whose shape is not known.
///
/// ```swift
/// let value: JSONValue = ["id": 7, "tags": ["a", "b"], "parent": nil]
/// value["tags"]?[0]?.string     // "a"
/// ```
///
/// Whole numbers keep all of their 64 bits. A whole number without a fraction is an ``integer(_:)``, also where the
/// text had `1.0`; one above the greatest of these is ``unsigned(_:)``; all others are ``number(_:)``.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number that is greater than `Int64.max`. Smaller ones are equal only as ``integer(_:)``.
    case unsigned(UInt64)
    /// Any other number.
    case number(Double)
    /// A text.
    case string(String)
    /// Values in their order.
    case array([JSONValue])
    /// Values by name.
    case object([String: JSONValue])

    /// How deep a value may be nested to be written, or to be read by ``JSONCodec``.
    public static let maximumDepth = 512

    /// How deep a value may be nested to be read by a decoder other than ``JSONCodec``, such as a plain `JSONDecoder`.
    public static let maximumDepthOfOtherDecoders = 32

    /// A whole number, as ``integer(_:)`` where it fits.
    public static func whole(_ value: UInt64) -> JSONValue { Int64(exactly: value).map(integer) ?? unsigned(value) }
}

// MARK: - Access

extension JSONValue {
    /// Whether it is `null`.
    public var isNull: Bool { self == .null }

    /// The value of a ``boolean(_:)``.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The whole number, if it fits.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .unsigned(let value): Int64(exactly: value)
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The whole number, if it fits.
    public var unsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .number(let value): UInt64(exactly: value)
        default: nil
        }
    }

    /// Any number, rounded if it has more than 53 bits.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text of a ``string(_:)``.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements of an ``array(_:)``.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of an ``object(_:)``.
    public var object: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of an ``object(_:)``; nil where there is none.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element of an ``array(_:)``; nil where there is none.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

// MARK: - Literals

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Values in their order.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Values by name; the last of equal names wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
