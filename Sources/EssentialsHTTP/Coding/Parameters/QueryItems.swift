#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The items of a query or form in order. A name can occur more than once.
///
/// ```swift
/// let items: QueryItems = ["q": "a b", "tag": "x", "tag": "y", "all": nil]
/// items.encodedQuery            // q=a%20b&tag=x&tag=y&all
/// items.values(for: "tag")      // ["x", "y"]
/// ```
///
/// Use ``FormParameters`` for sorted and nested values.
public struct QueryItems: Sendable, Hashable {
    /// A name and its value. The value is `nil` without a `=`.
    public struct Item: Sendable, Hashable, Codable {
        /// The name, not percent-encoded.
        public var name: String
        /// The value, not percent-encoded.
        public var value: String?

        /// Creates an item.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The items in order.
    public var items: [Item]

    /// The default for the maximum number of items that are read.
    public static let standardMaximum = 1000

    /// Creates a value from items.
    public init(_ items: [Item] = []) { self.items = items }

    /// Parses a percent-encoded query without its `?`.
    ///
    /// A `%` that begins no escape is kept, invalid UTF-8 becomes U+FFFD, and empty pairs are ignored.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - plusIsSpace: Whether `+` is a space, as in forms. The default is `false`, as in RFC 3986.
    ///   - maximumItems: The maximum number of items.
    /// - Throws: `tooLarge` if there are more items.
    public init(
        parsing query: some StringProtocol, plusIsSpace: Bool = false, maximumItems: Int = standardMaximum
    ) throws(RequestFailure) {
        try self.init(Array(query.utf8), .utf8, plusIsSpace: plusIsSpace, maximumItems: maximumItems)
    }

    /// Parses a body of the type `application/x-www-form-urlencoded`, in which `+` is a space.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - charset: The charset of the decoded bytes. UTF-8 is used instead of a charset that does not contain ASCII.
    ///   - maximumItems: The maximum number of items.
    /// - Throws: `tooLarge` if there are more items.
    public init(
        form body: Data, charset: Charset = .utf8, maximumItems: Int = standardMaximum
    ) throws(RequestFailure) {
        // Line breaks at the end are not part of the last value.
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
                    remedy: "Raise the maximum if more items are expected.", phase: .decoding)
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

    /// Whether there are no items.
    public var isEmpty: Bool { items.isEmpty }

    /// The values of all items with a name, in order.
    public func values(for name: String) -> [String?] { items.filter { $0.name == name }.map(\.value) }

    /// The value of the first item with a name; `nil` if there is no such item or it has no value.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// The query, percent-encoded as by ``FormEncoding``. An item without a name and a value is omitted.
    public var encodedQuery: String {
        // One buffer for all items, because appending a text to a string takes longer than encoding it.
        let size = items.reduce(0) { $0 + 3 * ($1.name.utf8.count + ($1.value?.utf8.count ?? 0)) + 2 }
        return String(unsafeUninitializedCapacity: size) { buffer in
            var writer = PercentWriter(buffer)
            for item in items where !item.name.isEmpty || item.value != nil {
                if writer.count > 0 { writer.append(UInt8(ascii: "&")) }
                writer.append(encoding: item.name)
                guard let value = item.value else { continue }
                writer.append(UInt8(ascii: "="))
                writer.append(encoding: value)
            }
            return writer.count
        }
    }
}

/// Writes percent-encoded text into a buffer that is large enough for it.
private struct PercentWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    /// The number of bytes that have been written.
    private(set) var count = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    mutating func append(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    /// Appends a text with everything percent-encoded except the unreserved characters (RFC 3986, section 2.3).
    mutating func append(encoding text: String) {
        var text = text
        text.withUTF8 { bytes in
            for byte in bytes {
                if byte.isURLUnreserved { append(byte); continue }
                append(UInt8(ascii: "%"))
                append((byte >> 4).hexDigit)
                append(byte.hexDigit)
            }
        }
    }
}

extension QueryItems: ExpressibleByArrayLiteral {
    /// Creates items from pairs of name and value, in order.
    public init(arrayLiteral elements: (String, String?)...) {
        self.init(elements.map { Item(name: $0.0, value: $0.1) })
    }
}

extension QueryItems: ExpressibleByDictionaryLiteral {
    /// Creates items from a literal, in order. A name can occur more than once.
    public init(dictionaryLiteral elements: (String, String?)...) {
        self.init(elements.map { Item(name: $0.0, value: $0.1) })
    }
}

extension QueryItems: Codable {
    /// Decodes an array of objects with a name and a value. ``FormCodec`` decodes the bodies of forms.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([Item].self))
    }

    /// Encodes an array of objects with a name and a value. ``FormCodec`` encodes the bodies of forms.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(items)
    }
}
