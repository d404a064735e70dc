#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One value of ``FormParameters``.
///
/// Where elements of different types stand in one array or dictionary, a literal of this type takes them:
///
/// ```swift
/// let filter = ["role", 7, since, nil] as FormValue
/// ```
public enum FormValue: Sendable, Hashable {
    /// Text as it is.
    case text(String)
    /// A whole number.
    case integer(Int64)
    /// A whole number that may be greater than `Int64.max`.
    case unsigned(UInt64)
    /// A number; in a query a whole one has no `.0`.
    case number(Double)
    /// True or false.
    case boolean(Bool)
    /// A point in time.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// Nothing: in a query the name alone.
    case null
    /// Values in their order.
    case array([FormValue])
    /// Values without an order; in a query each under the name itself, sorted. In JSON an array.
    case set(Set<FormValue>)
    /// Values by name.
    case dictionary([String: FormValue])
}

extension FormValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Text as it is.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Null.
    public init(nilLiteral: ()) { self = .null }
    /// Values in their order.
    public init(arrayLiteral elements: (any FormParameterValue)?...) { self = .array(elements.map(Self.init)) }
    /// The last of equal names wins.
    public init(dictionaryLiteral elements: (String, (any FormParameterValue)?)...) {
        self = .dictionary(Self.named(elements))
    }

    init(_ value: (any FormParameterValue)?) { self = value?.formValue ?? .null }

    static func named(_ elements: [(String, (any FormParameterValue)?)]) -> [String: Self] {
        Dictionary(elements.map { ($0, Self($1)) }) { _, last in last }
    }

    /// A whole number, as ``integer(_:)`` where it fits.
    public static func whole(_ value: UInt64) -> Self { Int64(exactly: value).map(integer) ?? unsigned(value) }
}
