/// Makes elements out of bytes that come in pieces. Has no I/O.
protocol ChunkParser {
    associatedtype Element

    /// The next element that ends in a piece; nil when the rest of the piece has been taken over.
    ///
    /// - Parameters:
    ///   - bytes: The piece.
    ///   - offset: How far the piece has been read; moved on.
    mutating func next(in bytes: UnsafeRawBufferPointer, from offset: inout Int) throws(RequestFailure) -> Element?

    /// The element that the end of the bytes makes whole, if any. Called once.
    mutating func finish() throws(RequestFailure) -> Element?
}
