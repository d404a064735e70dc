/// Any JSON value (RFC 8259), for documents whose structure is not known in advance.
///
/// ```swift
/// let value: JSONValue = ["id": 7, "tags": ["a", "b"], "parent": nil]
/// value["tags"]?[0]?.string     // "a"
/// let user: JSONValue = ["id": JSONValue(id), "name": "\(name)", "address": try JSONValue(encoding: address)]
/// ```
///
/// The elements of a literal are literals or other JSON values. Initializers convert variables of other types.
///
/// The members of an object have no order. ``JSONCodec`` and the test kit sort them by name, so that equal values have
/// equal encodings. An equal model or dictionary has the same encoding.
///
/// Whole numbers keep all of their 64 bits. A whole number is an ``integer(_:)``, also if the text is `1.0`, or an
/// ``unsigned(_:)`` if it is greater than `Int64.max`. All other numbers are a ``number(_:)``.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// The value `true` or `false`.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number greater than `Int64.max`. Use ``integer(_:)`` for smaller numbers: the two cases are never equal.
    case unsigned(UInt64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object: values by name.
    case object([String: JSONValue])

    /// The maximum depth of a value that can be encoded, or decoded by ``JSONCodec``.
    public static let maximumDepth = 512

    /// The maximum depth of a value that a decoder other than ``JSONCodec``, such as a plain `JSONDecoder`, can decode.
    public static let maximumDepthOfOtherDecoders = 32

    /// A whole number: an ``integer(_:)`` if it fits, otherwise an ``unsigned(_:)``.
    static func whole(_ value: UInt64) -> JSONValue { Int64(exactly: value).map(integer) ?? unsigned(value) }
}

// MARK: - Access

extension JSONValue {
    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// The Boolean of a ``boolean(_:)``; `nil` for other cases.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The number as an `Int64`; `nil` if it is not a whole number in that range.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .unsigned(let value): Int64(exactly: value)
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number as a `UInt64`; `nil` if it is not a whole number in that range.
    public var unsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .number(let value): UInt64(exactly: value)
        default: nil
        }
    }

    /// The number as a `Double`, rounded if it needs more than 53 bits.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text of a ``string(_:)``; `nil` for other cases.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements of an ``array(_:)``; `nil` for other cases.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of an ``object(_:)``; `nil` for other cases.
    public var object: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member with a name; `nil` if there is none or the value is not an ``object(_:)``.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at an index; `nil` if there is none or the value is not an ``array(_:)``.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

// MARK: - Conversions

extension JSONValue {
    /// Creates a ``string(_:)``, or ``null`` from `nil`.
    public init(_ text: String?) { self = text.map(Self.string) ?? .null }

    /// Creates a ``boolean(_:)``, or ``null`` from `nil`.
    public init(_ boolean: Bool?) { self = boolean.map(Self.boolean) ?? .null }

    /// Creates a ``number(_:)``, or ``null`` from `nil`. Numbers that are not finite cannot be encoded.
    public init(_ number: Double?) { self = number.map(Self.number) ?? .null }

    /// Creates an ``integer(_:)``, or ``null`` from `nil`. A number outside the range of `Int64` becomes an
    /// ``unsigned(_:)``, or a rounded ``number(_:)``.
    public init(_ integer: (some BinaryInteger)?) {
        guard let integer else {
            self = .null
            return
        }
        self =
            Int64(exactly: integer).map(Self.integer) ?? UInt64(exactly: integer).map(Self.unsigned)
            ?? .number(Double(integer))
    }

    /// Creates a value from a model, as ``JSONCodec`` encodes it: dates are ISO 8601.
    ///
    /// - Throws: `encoding` if the model cannot be represented in JSON or has more than ``maximumDepth`` levels.
    public init(encoding model: some Encodable) throws(RequestFailure) {
        if let value = model as? JSONValue {
            self = value
            return
        }
        do {
            self = try JSONParser.value(in: Self.codec.encode(model, as: .json))
        } catch {
            throw CodingFault.encoding(error, type(of: model), as: "JSON")
        }
    }

    private static let codec = JSONCodec()
}

// MARK: - Literals

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates a ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an ``integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a ``number(_:)``.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a ``boolean(_:)``.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates a ``null``.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an ``array(_:)``.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an ``object(_:)``. If a name occurs twice, the last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
