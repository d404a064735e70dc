#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a response: complete bytes or a stream.
///
/// The reader of a stream determines its pace: the transfer pauses while no data is requested. A stream can be read
/// once, and releasing it unread cancels the transfer.
///
/// ```swift
/// for try await chunk in response.body { consume(chunk) }
/// let whole = try await response.body.collect(upTo: 1_000_000)
/// ```
public struct ResponseBody: Sendable {
    /// The source of a streamed body, implemented by a transport.
    @usableFromInline
    package protocol Source: AnyObject, Sendable {
        /// Returns the next piece, or `nil` after the last one. It supports one reader at a time.
        func next() async throws(RequestFailure) -> BodyChunk?
        /// Cancels the transfer, because the body will not be read further.
        func cancel()
        /// Cancels the transfer and closes the connection, because more was already read than a new connection costs.
        func abandon()
        /// The ending of the body; `nil` before the last piece was read and after a failure.
        var ending: ResponseEnding? { get }
    }

    @usableFromInline
    package enum Content: Sendable {
        case bytes(Data)
        case stream(any Source)
    }

    @usableFromInline package let content: Content

    /// Creates a complete body.
    public init(_ data: Data) { content = .bytes(data) }

    package init(source: any Source) { content = .stream(source) }

    /// The bytes of a complete body; `nil` for a stream.
    public var data: Data? {
        if case .bytes(let data) = content { data } else { nil }
    }

    /// Whether the body is complete in memory.
    @inlinable package var isWhole: Bool {
        if case .bytes = content { true } else { false }
    }

    /// The ending of a stream: its trailer fields and the metrics of the whole exchange. `nil` before the last piece
    /// was read, after a failure, and for a complete body, whose response has both.
    public var ending: ResponseEnding? {
        if case .stream(let source) = content { source.ending } else { nil }
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Throws: `tooLarge` if the body exceeds the limit, and the failure of the transfer.
    public func collect(upTo limit: Int) async throws(RequestFailure) -> Data {
        try await collect(upTo: limit) { _ in }
    }

    /// Reads the whole body, and passes the number of bytes so far to a closure after each piece.
    package func collect(
        upTo limit: Int, reached: (Int) -> Void
    ) async throws(RequestFailure) -> Data {
        switch content {
        case .bytes(let data):
            guard data.count <= limit else { throw Self.tooLarge(limit) }
            reached(data.count)
            return data
        case .stream(let source):
            var collected = Data()
            while let chunk = try await source.next() {
                guard chunk.count <= limit - collected.count else {
                    source.cancel()
                    throw Self.tooLarge(limit)
                }
                chunk.withUnsafeBytes { collected.append(contentsOf: $0) }
                reached(collected.count)
            }
            return collected
        }
    }

    package static func tooLarge(_ limit: Int) -> RequestFailure {
        RequestFailure(.tooLarge, "The body of the response exceeds \(limit) bytes.", phase: .receiving)
    }
}

extension ResponseBody.Source {
    package var ending: ResponseEnding? { nil }
    package func abandon() { cancel() }
}

extension ResponseBody: AsyncSequence {
    /// A piece of the body.
    public typealias Element = BodyChunk
    /// The failure that ends a body early.
    public typealias Failure = RequestFailure

    /// Iterates over the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var content: Content?

        init(content: Content) { self.content = content }

        /// Returns the next piece, or `nil` after the last one.
        public mutating func next() async throws(RequestFailure) -> BodyChunk? {
            switch content {
            case nil: return nil
            case .bytes(let data):
                content = nil
                return data.isEmpty ? nil : BodyChunk(data)
            case .stream(let source):
                let chunk = try await source.next()
                if chunk == nil { content = nil }
                return chunk
            }
        }

        /// Returns the next piece, on the caller's actor. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> BodyChunk? {
            try await next()
        }
    }

    /// Starts reading. A stream can be read once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(content: content) }
}

extension ResponseBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body and its size, without its bytes.
    public var description: String { data.map(RedactedText.size) ?? "a stream" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// No children, because ``description`` contains everything that may be shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ResponseBody {
    /// The start of a body; the rest of a stream is cancelled. Failures are ignored.
    package func beginning(upTo limit: Int) async -> Data {
        switch content {
        case .bytes(let data): return data
        case .stream(let source):
            var beginning = Data()
            while beginning.count < limit, let chunk = try? await source.next() {
                chunk.withUnsafeBytes { beginning.append(contentsOf: $0.prefix(limit - beginning.count)) }
            }
            source.cancel()
            return beginning
        }
    }
}
