/// Parses elements from a sequence of byte chunks. It does no I/O.
protocol ChunkParser {
    associatedtype Element

    /// Parses the next element that ends in a chunk; `nil` if the rest of the chunk was consumed.
    ///
    /// - Parameters:
    ///   - bytes: The chunk.
    ///   - offset: The number of bytes of the chunk that were parsed. The method advances it.
    mutating func next(in bytes: UnsafeRawBufferPointer, from offset: inout Int) throws(RequestFailure) -> Element?

    /// Parses the element that the end of the bytes completes; `nil` if there is none. It is called once.
    mutating func finish() throws(RequestFailure) -> Element?
}
