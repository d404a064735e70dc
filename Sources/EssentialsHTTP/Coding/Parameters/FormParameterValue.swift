#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type that can be used as a parameter: texts, numbers, Booleans, dates, bytes, and optionals, arrays, sets and
/// dictionaries of these.
///
/// The values in a literal of ``FormParameters`` can be literals and variables of different types. An optional that is
/// `nil` becomes ``FormValue/null``, which by default is the name alone in a query; see ``FormEncoding``.
///
/// ```swift
/// func list(role: String, page: Int, ids: [Int], since: Date?) async throws -> [User] {
///     try await requests.get("users", parameters: ["role": role, "page": page, "ids": ids, "since": since])
/// }
/// ```
///
/// An enumeration with raw values needs only the conformance:
///
/// ```swift
/// enum Role: String, FormParameterValue { case admin, guest }
/// ```
public protocol FormParameterValue: Sendable {
    /// The value to write.
    var formValue: FormValue { get }
}

extension FormValue: FormParameterValue {
    /// The value itself.
    public var formValue: FormValue { self }
}

extension FormParameters: FormParameterValue {
    /// The parameters as a nested dictionary.
    public var formValue: FormValue { .dictionary(values) }
}

extension FormParameterValue where Self: RawRepresentable, RawValue: FormParameterValue {
    /// The raw value.
    public var formValue: FormValue { rawValue.formValue }
}

// MARK: - Text, Booleans, dates and bytes

extension String: FormParameterValue {
    /// The text.
    public var formValue: FormValue { .text(self) }
}

extension Substring: FormParameterValue {
    /// The text.
    public var formValue: FormValue { .text(String(self)) }
}

extension Bool: FormParameterValue {
    /// The Boolean.
    public var formValue: FormValue { .boolean(self) }
}

extension Date: FormParameterValue {
    /// The date.
    public var formValue: FormValue { .date(self) }
}

extension Data: FormParameterValue {
    /// The bytes.
    public var formValue: FormValue { .data(self) }
}

// MARK: - Numbers

extension FormParameterValue where Self: FixedWidthInteger & SignedInteger {
    /// The whole number.
    public var formValue: FormValue { .integer(Int64(truncatingIfNeeded: self)) }
}

extension FormParameterValue where Self: FixedWidthInteger & UnsignedInteger {
    /// The whole number.
    public var formValue: FormValue { .whole(UInt64(truncatingIfNeeded: self)) }
}

extension Int: FormParameterValue {}
extension Int8: FormParameterValue {}
extension Int16: FormParameterValue {}
extension Int32: FormParameterValue {}
extension Int64: FormParameterValue {}
extension UInt: FormParameterValue {}
extension UInt8: FormParameterValue {}
extension UInt16: FormParameterValue {}
extension UInt32: FormParameterValue {}
extension UInt64: FormParameterValue {}

extension Double: FormParameterValue {
    /// The number.
    public var formValue: FormValue { .number(self) }
}

extension Float: FormParameterValue {
    /// The number with the digits of its own description: converting it to `Double` would add digits.
    public var formValue: FormValue { .number(Double(description) ?? Double(self)) }
}

// MARK: - Optionals and containers

extension Optional: FormParameterValue where Wrapped: FormParameterValue {
    /// The value, or ``FormValue/null``.
    public var formValue: FormValue { self?.formValue ?? .null }
}

extension Array: FormParameterValue where Element: FormParameterValue {
    /// The values in order.
    public var formValue: FormValue { .array(map(\.formValue)) }
}

extension Set: FormParameterValue where Element: FormParameterValue {
    /// The values without an order.
    public var formValue: FormValue { .set(Set<FormValue>(map(\.formValue))) }
}

extension Dictionary: FormParameterValue where Key == String, Value: FormParameterValue {
    /// The values by name.
    public var formValue: FormValue { .dictionary(mapValues(\.formValue)) }
}
