import EssentialsHTTP

/// Named values for a query, nested as deep as needed.
///
/// ```swift
/// let parameters: Parameters = ["role": "admin", "page": 2, "tags": ["a", "b"], "all": nil]
/// // all&page=2&role=admin&tags[]=a&tags[]=b
/// ```
///
/// Names are sorted without regard to case, so that equal parameters give equal queries. An array repeats `name[]`, a
/// dictionary gives `name[key]`, nil gives the bare name, an empty container nothing. Everything but the unreserved
/// characters of RFC 3986 is percent-encoded.
public struct Parameters: Sendable, Hashable {
    /// One value.
    public indirect enum Value: Sendable, Hashable {
        /// Text as it is.
        case text(String)
        /// The name alone.
        case null
        /// One item for each element.
        case array([Value])
        /// One item for each key.
        case dictionary([String: Value])
    }

    /// The values by name.
    public var values: [String: Value]

    /// Makes parameters from values.
    public init(_ values: [String: Value] = [:]) { self.values = values }

    /// The items in the order and form in which they stand in a query, not yet percent-encoded.
    var items: [(name: String, value: String?)] {
        Self.sorted(values).flatMap { Self.items(of: $0.value, name: RequestURL.queryEncoded($0.key)) }
    }

    /// The whole query, percent-encoded; empty when there is nothing to say.
    public var query: String {
        items.map { item in item.value.map { "\(item.name)=\(RequestURL.queryEncoded($0))" } ?? item.name }
            .joined(separator: "&")
    }

    private static func sorted(_ values: [String: Value]) -> [(key: String, value: Value)] {
        values.sorted { one, other in
            let (first, second) = (one.key.lowercased(), other.key.lowercased())
            return first == second ? one.key < other.key : first < second
        }
    }

    /// The items under an encoded name; brackets in a user's own keys are escaped, structural ones stay.
    private static func items(of value: Value, name: String) -> [(name: String, value: String?)] {
        switch value {
        case .text(let text): [(name, text)]
        case .null: [(name, nil)]
        case .array(let elements): elements.flatMap { items(of: $0, name: name + "[]") }
        case .dictionary(let values):
            sorted(values).flatMap { items(of: $0.value, name: "\(name)[\(RequestURL.queryEncoded($0.key))]") }
        }
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// The last of equal names wins.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init(Dictionary(elements) { _, last in last })
    }
}

extension Parameters.Value: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Text as it is.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Text as it is.
    public init(integerLiteral value: Int) { self = .text(String(value)) }
    /// A number; a whole one without `.0`.
    public init(floatLiteral value: Double) { self = Self.number(value) }
    /// `1` or `0`.
    public init(booleanLiteral value: Bool) { self = .text(value ? "1" : "0") }
    /// The bare name.
    public init(nilLiteral: ()) { self = .null }
    /// One item for each element.
    public init(arrayLiteral elements: Self...) { self = .array(elements) }
    /// The last of equal keys wins.
    public init(dictionaryLiteral elements: (String, Self)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }

    /// A number; a whole one without `.0`.
    public static func number(_ value: Double) -> Self {
        .text(Int(exactly: value).map(String.init) ?? String(value))
    }

    /// A whole number.
    public static func number(_ value: some BinaryInteger) -> Self { .text(String(value)) }
}
