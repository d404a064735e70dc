#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Names and values of a query or form in their order; a name may come more than once.
///
/// ```swift
/// var items: QueryItems = ["q": "a b", "tag": "x", "tag": "y", "all": nil]
/// items.encodedQuery            // q=a%20b&tag=x&tag=y&all
/// items.values(for: "tag")      // ["x", "y"]
/// ```
///
/// For values that are sorted and nested use ``FormParameters``.
public struct QueryItems: Sendable, Hashable {
    /// A name and its value; nil where there is no `=`.
    public struct Item: Sendable, Hashable, Codable {
        /// Not percent-encoded.
        public var name: String
        /// Not percent-encoded.
        public var value: String?

        /// Makes one.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The items in their order.
    public var items: [Item]

    /// How many items are read, unless something else is said.
    public static let standardMaximum = 1000

    /// Makes one from items.
    public init(_ items: [Item] = []) { self.items = items }

    /// Reads a percent-encoded query, without its `?`.
    ///
    /// A `%` that begins no escape stands for itself, bytes that are no text are U+FFFD, and empty pairs are passed
    /// over.
    ///
    /// - Parameters:
    ///   - query: The query. In it `+` is a plus, as in RFC 3986.
    ///   - plusIsSpace: Read `+` as a space, as in forms.
    ///   - maximumItems: How many are read.
    /// - Throws: `tooLarge` when there are more.
    public init(
        parsing query: some StringProtocol, plusIsSpace: Bool = false, maximumItems: Int = standardMaximum
    ) throws(RequestFailure) {
        try self.init(Array(query.utf8), .utf8, plusIsSpace: plusIsSpace, maximumItems: maximumItems)
    }

    /// Reads a body of the type `application/x-www-form-urlencoded`, in which `+` is a space.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - charset: Of the bytes behind the escapes. One that does not contain ASCII is taken for UTF-8.
    ///   - maximumItems: How many are read.
    /// - Throws: `tooLarge` when there are more.
    public init(
        form body: Data, charset: Charset = .utf8, maximumItems: Int = standardMaximum
    ) throws(RequestFailure) {
        // Line breaks at the end are not the last value's.
        let lineBreaks: [UInt8] = [0x0a, 0x0d]
        let end = body.lastIndex { !lineBreaks.contains($0) }.map { body.index(after: $0) } ?? body.startIndex
        try self.init(
            Array(body[..<end]), charset.containsASCII ? charset : .utf8, plusIsSpace: true,
            maximumItems: maximumItems)
    }

    private init(
        _ bytes: [UInt8], _ charset: Charset, plusIsSpace: Bool, maximumItems: Int
    ) throws(RequestFailure) {
        items = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            guard items.count < maximumItems else {
                throw RequestFailure(
                    .tooLarge, "A query or form has more than \(maximumItems) items.",
                    remedy: "Raise the maximum if so many are expected.", phase: .decoding)
            }
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = PercentCoding.decoded(pair[..<(equals ?? pair.endIndex)], plusIsSpace: plusIsSpace)
            let value = equals.map { PercentCoding.decoded(pair[($0 + 1)...], plusIsSpace: plusIsSpace) }
            items.append(
                Item(
                    name: try charset.decode(name, isLenient: true),
                    value: try value.map { value throws(RequestFailure) in
                        try charset.decode(value, isLenient: true)
                    }))
        }
    }

    /// Adds an item at the end.
    public mutating func append(_ name: String, _ value: String?) { items.append(Item(name: name, value: value)) }

    /// Whether there are none.
    @inlinable
    public var isEmpty: Bool { items.isEmpty }

    /// The values of every item with a name, in their order.
    public func values(for name: String) -> [String?] { items.filter { $0.name == name }.map(\.value) }

    /// The value of the first item with a name; nil without one, and for one without a value.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// The whole query, percent-encoded as ``FormEncoding`` does it. An item without name and value gives nothing.
    public var encodedQuery: String {
        items.compactMap { item in
            let name = RequestURL.queryEncoded(item.name)
            guard let value = item.value else { return name.isEmpty ? nil : name }
            return "\(name)=\(RequestURL.queryEncoded(value))"
        }.joined(separator: "&")
    }
}

extension QueryItems: ExpressibleByArrayLiteral {
    /// Pairs of name and value in their order.
    public init(arrayLiteral elements: (String, String?)...) {
        self.init(elements.map { Item(name: $0.0, value: $0.1) })
    }
}

extension QueryItems: ExpressibleByDictionaryLiteral {
    /// The items in the order in which they are written; names may come more than once.
    public init(dictionaryLiteral elements: (String, String?)...) {
        self.init(elements.map { Item(name: $0.0, value: $0.1) })
    }
}

extension QueryItems: Codable {
    /// Reads an array of objects with name and value. Bodies of forms are read by ``FormCodec``.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([Item].self))
    }

    /// Writes an array of objects with name and value. Bodies of forms are written by ``FormCodec``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(items)
    }
}
