#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a request: none, bytes in memory, a file, or a stream.
///
/// ```swift
/// request.body = .bytes(Data("hello".utf8))
/// request.body = try .file("/srv/films/1.mp4")
/// request.body = .stream(lines, length: nil)      // chunked over HTTP/1.1
/// ```
public struct RequestBody: Sendable {
    /// Returns the next piece of a stream, or `nil` at its end. It is called again only after it has returned.
    public typealias Source = @Sendable () async throws -> Data?

    package enum Content: Sendable {
        case none
        case bytes(Data)
        /// Each call of `open` starts from the beginning. It is called more than once only if the stream is replayable.
        case stream(length: Int?, isReplayable: Bool, open: @Sendable () -> Source)
    }

    package let content: Content

    package init(content: Content) { self.content = content }

    /// No body. Methods that usually have one (POST, PUT, PATCH) are sent with `Content-Length: 0`
    /// (RFC 9110, section 8.6).
    public static var none: RequestBody { RequestBody(content: .none) }

    /// Bytes in memory, which can be sent again.
    public static func bytes(_ data: Data) -> RequestBody { RequestBody(content: .bytes(data)) }

    /// A stream of pieces, which is read while it is sent. It is read at most 512 KiB and one piece ahead of the bytes
    /// that the peer accepts. It cannot be sent again.
    ///
    /// The pieces can be `Data`, `[UInt8]`, any other collection of bytes, or the ``BodyChunk``s of a response's body:
    ///
    /// ```swift
    /// upload.body = .stream(download.body, length: nil)
    /// ```
    ///
    /// `Data` and chunks of at least 16 KiB are sent without a copy, and other pieces are copied once. Empty pieces are
    /// left out. If the sequence throws, the request fails, and the error is the failure's underlying error.
    ///
    /// - Parameters:
    ///   - sequence: The pieces. The sequence is iterated once, on a task of the transport, and therefore has to be
    ///     `Sendable`. Its pieces and its iterator need not be.
    ///   - length: The number of bytes, or `nil` for a chunked body (RFC 9112, section 7.1).
    public static func stream<Pieces: AsyncSequence & Sendable>(_ sequence: Pieces, length: Int?) -> RequestBody
    where Pieces.Element: Collection<UInt8> {
        RequestBody(
            content: .stream(length: length, isReplayable: false) {
                let iterator = SerialIterator(sequence)
                return { try await iterator.next() }
            })
    }

    /// Whether the same bytes can be sent again.
    public var isReplayable: Bool {
        if case .stream(_, let isReplayable, _) = content { isReplayable } else { true }
    }

    /// Whether there is no body.
    package var isEmpty: Bool {
        if case .none = content { true } else { false }
    }

    /// Whether the body is read while it is sent.
    package var isStream: Bool {
        if case .stream = content { true } else { false }
    }
}

/// Keeps an iterator between the calls of a source.
private actor SerialIterator<Pieces: AsyncSequence & Sendable> where Pieces.Element: Collection<UInt8> {
    private var iterator: Pieces.AsyncIterator?

    init(_ sequence: Pieces) { iterator = sequence.makeAsyncIterator() }

    func next() async throws -> Data? {
        // Removed while it is used; the source is called again only after it has returned.
        guard var taken = iterator.take() else { return nil }
        let piece = try await taken.next(isolation: self)
        guard let piece else { return nil }
        iterator = taken
        return Self.data(of: piece)
    }

    private static func data(of piece: Pieces.Element) -> Data {
        if let data = piece as? Data { return data }
        if let chunk = piece as? BodyChunk { return chunk.sharedData }
        // This is many times faster than the loop over elements that unspecialized code uses.
        return piece.withContiguousStorageIfAvailable { Data($0) } ?? Data(piece)
    }
}

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body and its size, without its bytes.
    public var description: String {
        switch content {
        case .none: "no body"
        case .bytes(let bytes): RedactedText.size(of: bytes)
        case .stream(let length, _, _): length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// No children, because ``description`` contains everything that may be shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
