#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a request: nothing, bytes in memory, a file, or a stream.
///
/// ```swift
/// request.body = .bytes(Data("hello".utf8))
/// request.body = try .file("/srv/films/1.mp4")
/// request.body = .stream(lines, length: nil)      // chunked over HTTP/1.1
/// ```
public struct RequestBody: Sendable {
    /// Gives the pieces of a stream one by one, nil at the end. Called again only after it has returned.
    public typealias Source = @Sendable () async throws -> Data?

    package enum Content: Sendable {
        case none
        case bytes(Data)
        /// Each call of `open` gives the pieces from the beginning; more than one call only if it is replayable.
        case stream(length: Int?, isReplayable: Bool, open: @Sendable () -> Source)
    }

    package let content: Content

    package init(content: Content) { self.content = content }

    /// No body. A method that usually has one (POST, PUT, PATCH) is sent with `Content-Length: 0` (RFC 9110, 8.6).
    public static var none: RequestBody { RequestBody(content: .none) }

    /// Bytes in memory; they can be sent again.
    public static func bytes(_ data: Data) -> RequestBody { RequestBody(content: .bytes(data)) }

    /// A stream of pieces, read while they are sent and only as fast as the peer takes them: at most 512 KiB and a piece
    /// ahead of what is being sent. It cannot be sent again.
    ///
    /// An error that the sequence throws ends the request with that error as the failure's underlying one.
    ///
    /// - Parameters:
    ///   - sequence: The pieces. Iterated once.
    ///   - length: How many bytes there will be, or nil for a chunked body (RFC 9112, 7.1).
    public static func stream<Pieces: AsyncSequence & Sendable>(_ sequence: Pieces, length: Int?) -> RequestBody
    where Pieces.Element == Data {
        RequestBody(
            content: .stream(length: length, isReplayable: false) {
                let iterator = SerialIterator(sequence)
                return { try await iterator.next() }
            })
    }

    /// Whether the same bytes can be sent a second time.
    public var isReplayable: Bool {
        if case .stream(_, let isReplayable, _) = content { isReplayable } else { true }
    }

    /// Whether there is none.
    package var isEmpty: Bool {
        if case .none = content { true } else { false }
    }

    /// Whether it is read while it is sent.
    package var isStream: Bool {
        if case .stream = content { true } else { false }
    }
}

/// Carries an iterator from call to call of a source.
private actor SerialIterator<Pieces: AsyncSequence & Sendable> where Pieces.Element == Data {
    private var iterator: Pieces.AsyncIterator?

    init(_ sequence: Pieces) { iterator = sequence.makeAsyncIterator() }

    func next() async throws -> Data? {
        // Taken out while it is used: the source is called again only after it has returned.
        guard var taken = iterator.take() else { return nil }
        let piece = try await taken.next(isolation: self)
        if piece != nil { iterator = taken }
        return piece
    }
}

extension RequestBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body and its size, never its bytes.
    public var description: String {
        switch content {
        case .none: "no body"
        case .bytes(let bytes): RedactedText.size(of: bytes)
        case .stream(let length, _, _): length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Nothing, because ``description`` says all that may be shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
