/// An array that leaves out elements that cannot be read, and says how many. Asked for by name only: a plain array
/// fails with the first such element.
///
/// ```swift
/// let users: LossyArray<User> = try await requests.get("users")
/// if users.skippedCount > 0 { logger.warning("users left out", metadata: ["count": "\(users.skippedCount)"]) }
/// ```
public struct LossyArray<Element> {
    /// The elements that could be read, in their order.
    public var elements: [Element]
    /// How many could not.
    public let skippedCount: Int

    /// Makes one from elements.
    public init(_ elements: [Element], skippedCount: Int = 0) {
        self.elements = elements
        self.skippedCount = skippedCount
    }
}

extension LossyArray: Sendable where Element: Sendable {}
extension LossyArray: Equatable where Element: Equatable {}
extension LossyArray: Hashable where Element: Hashable {}

extension LossyArray: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { elements.startIndex }
    /// The count.
    public var endIndex: Int { elements.endIndex }
    /// An element; the index must be one of ``elements``.
    public subscript(position: Int) -> Element { elements[position] }
}

extension LossyArray: Decodable where Element: Decodable {
    /// Accepts any element, to get past it.
    private struct Skipped: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// Reads an array.
    ///
    /// - Throws: `DecodingError` when it is no array.
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
    /// Writes the elements as an array.
    public func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }
}
