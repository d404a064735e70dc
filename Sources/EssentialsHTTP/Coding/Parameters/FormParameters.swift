#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Named values for a query or a body, nested as deep as needed.
///
/// ```swift
/// let parameters: FormParameters = ["role": "admin", "page": 2, "tags": ["a", "b"], "all": nil]
/// try FormEncoding.standard.query(parameters)     // all&page=2&role=admin&tags[]=a&tags[]=b
/// try JSONEncoder().encode(parameters)            // {"all":null,"page":2,"role":"admin","tags":["a","b"]}
/// ```
///
/// Names have no order, so that equal parameters give equal queries. Where order or names that repeat matter, use
/// ``QueryItems``.
public struct FormParameters: Sendable, Hashable {
    /// One value.
    public enum Value: Sendable, Hashable {
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
        case array([Value])
        /// Values without an order; in a query each under the name itself, sorted. In JSON an array.
        case set(Set<Value>)
        /// Values by name.
        case dictionary([String: Value])
    }

    /// The values by name.
    public var values: [String: Value]

    /// How deep values may be nested to be written: more is the failure `encoding`.
    public static let maximumDepth = 64

    /// Makes parameters from values.
    public init(_ values: [String: Value] = [:]) { self.values = values }

    /// Makes parameters from the properties of a model.
    ///
    /// Dates and data keep their types, so that the encoding decides on their form; sets become ``Value/set(_:)``; URLs
    /// and `Decimal`s without an exact `Double` become text. A property that is nil is left out, unless the model
    /// encodes nil explicitly.
    ///
    /// - Throws: `encoding` when the model is no collection of named values, or is nested more than ``maximumDepth``
    ///   deep.
    public init(encoding model: some Encodable) throws(RequestFailure) {
        if let parameters = model as? FormParameters {
            self = parameters
            return
        }
        let value: Value
        do {
            value = try ValueEncoder.value(of: model, path: [])
        } catch {
            throw CodingFault.encoding(error, type(of: model), as: "parameters")
        }
        guard case .dictionary(let values) = value else {
            throw RequestFailure(
                .encoding, "\(type(of: model)) has no names, so it cannot be written as parameters.",
                remedy: "Use a structure or a dictionary.")
        }
        self.values = values
    }

    /// Whether there are none.
    @inlinable
    public var isEmpty: Bool { values.isEmpty }

    /// The value for a name.
    public subscript(name: String) -> Value? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// These and the others; where both have a name, the other's value counts, whole.
    public func merging(_ other: FormParameters) -> FormParameters {
        FormParameters(values.merging(other.values) { _, other in other })
    }
}

extension FormParameters: ExpressibleByDictionaryLiteral {
    /// The last of equal names wins.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init(Dictionary(elements) { _, last in last })
    }
}

extension FormParameters.Value: ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
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
    /// Nothing.
    public init(nilLiteral: ()) { self = .null }
    /// Values in their order.
    public init(arrayLiteral elements: Self...) { self = .array(elements) }
    /// The last of equal names wins.
    public init(dictionaryLiteral elements: (String, Self)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }

    /// A whole number, as ``integer(_:)`` where it fits.
    public static func whole(_ value: UInt64) -> Self { Int64(exactly: value).map(integer) ?? unsigned(value) }
}
