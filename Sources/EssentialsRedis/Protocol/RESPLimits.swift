/// What a server may send at most. Beyond a limit, the connection is useless.
package struct RESPLimits: Sendable {
    /// How deep arrays, sets and maps may be nested.
    package var depth = 8
    /// The bytes of one string.
    package var bulkBytes = 16 << 20
    /// The elements of one message, with those of nested arrays, sets and maps. A map has two for each pair.
    package var elements = 100_000
    /// The memory of one message, as estimated from its texts and the number of its elements.
    package var messageBytes = 64 << 20
    /// The bytes of a line: a status, an error, a number or a length.
    package var lineBytes = 64 << 10

    package init() {}
}

/// Bytes that are not of the protocol, or more of them than the limits allow. The connection cannot be used any more.
package struct RESPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
