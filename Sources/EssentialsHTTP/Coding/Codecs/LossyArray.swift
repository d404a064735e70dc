/// An array that skips elements that cannot be decoded, and counts them. A plain array fails at the first such element.
///
/// ```swift
/// let users: LossyArray<User> = try await requests.get("users")
/// if users.skippedCount > 0 { logger.warning("users left out", metadata: ["count": "\(users.skippedCount)"]) }
/// ```
public struct LossyArray<Element> {
    /// The decoded elements, in order.
    public var elements: [Element]
    /// The number of skipped elements.
    public let skippedCount: Int

    /// Creates an array from elements.
    public init(_ elements: [Element], skippedCount: Int = 0) {
        self.elements = elements
        self.skippedCount = skippedCount
    }
}

extension LossyArray: Sendable where Element: Sendable {}
extension LossyArray: Equatable where Element: Equatable {}
extension LossyArray: Hashable where Element: Hashable {}

extension LossyArray: RandomAccessCollection {
    /// The position of the first element.
    public var startIndex: Int { elements.startIndex }
    /// The position after the last element.
    public var endIndex: Int { elements.endIndex }
    /// The element at a position, which must be a valid index of ``elements``.
    public subscript(position: Int) -> Element { elements[position] }
}

extension LossyArray: Decodable where Element: Decodable {
    /// Accepts any element, so that decoding can continue after it.
    private struct Skipped: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// Decodes an array.
    ///
    /// - Throws: `DecodingError` if the value is not an array.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var elements: [Element] = []
        var skippedCount = 0
        while !container.isAtEnd {
            do {
                elements.append(try container.decode(Element.self))
            } catch {
                _ = try container.decode(Skipped.self)
                skippedCount += 1
            }
        }
        self.init(elements, skippedCount: skippedCount)
    }
}

extension LossyArray: Encodable where Element: Encodable {
    /// Encodes the elements as an array.
    public func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }
}
