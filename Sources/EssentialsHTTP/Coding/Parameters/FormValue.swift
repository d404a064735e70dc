#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One value of ``FormParameters``.
///
/// A literal of this type can hold elements of different types in one array or dictionary:
///
/// ```swift
/// let filter = ["role", 7, since, nil] as FormValue
/// ```
public enum FormValue: Sendable, Hashable {
    /// A text.
    case text(String)
    /// A whole number.
    case integer(Int64)
    /// A whole number that can be greater than `Int64.max`.
    case unsigned(UInt64)
    /// A number. In a query, a whole number has no `.0`.
    case number(Double)
    /// A Boolean.
    case boolean(Bool)
    /// A date.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// No value. By default a query contains only the name.
    case null
    /// Values in order.
    case array([FormValue])
    /// Values without an order. A query writes each one under the name itself, sorted. JSON has an array.
    case set(Set<FormValue>)
    /// Values by name.
    case dictionary([String: FormValue])
}

extension FormValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a ``text(_:)``.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates an ``integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a ``number(_:)``.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a ``boolean(_:)``.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates a ``null``.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an ``array(_:)``. An element that is `nil` becomes ``null``.
    public init(arrayLiteral elements: (any FormParameterValue)?...) { self = .array(elements.map(Self.init)) }
    /// Creates a ``dictionary(_:)``. If a name occurs twice, the last value is used.
    public init(dictionaryLiteral elements: (String, (any FormParameterValue)?)...) {
        self = .dictionary(Self.named(elements))
    }

    init(_ value: (any FormParameterValue)?) { self = value?.formValue ?? .null }

    static func named(_ elements: [(String, (any FormParameterValue)?)]) -> [String: Self] {
        Dictionary(elements.map { ($0, Self($1)) }) { _, last in last }
    }

    /// A whole number: an ``integer(_:)`` if it fits, otherwise an ``unsigned(_:)``.
    static func whole(_ value: UInt64) -> Self { Int64(exactly: value).map(integer) ?? unsigned(value) }
}
