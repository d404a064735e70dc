#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a response: bytes that have all arrived, or a stream of them.
///
/// Iterating a stream sets its pace: the transfer pauses while nobody reads. A stream can be read once; dropping it
/// unread cancels the transfer.
///
/// ```swift
/// for try await chunk in response.body { consume(chunk) }
/// let whole = try await response.body.collect(upTo: 1_000_000)
/// ```
public struct ResponseBody: Sendable {
    /// Where a transport delivers a streamed body.
    @usableFromInline
    package protocol Source: AnyObject, Sendable {
        /// The next piece, or nil after the last. Called by one reader at a time.
        func next() async throws(RequestFailure) -> BodyChunk?
        /// Nobody will read on.
        func cancel()
        /// Nobody will read on, and the connection is not worth keeping: more was read already than a new one costs.
        func abandon()
        /// What came with the end; nil before the last piece was read, and after a failure.
        var ending: ResponseEnding? { get }
    }

    @usableFromInline
    package enum Content: Sendable {
        case bytes(Data)
        case stream(any Source)
    }

    @usableFromInline package let content: Content

    /// A body that has all arrived.
    public init(_ data: Data) { content = .bytes(data) }

    package init(source: any Source) { content = .stream(source) }

    /// The bytes, if they have all arrived; nil for a stream.
    public var data: Data? {
        if case .bytes(let data) = content { data } else { nil }
    }

    /// Whether all of it has arrived.
    @inlinable package var isWhole: Bool {
        if case .bytes = content { true } else { false }
    }

    /// What came with the end of a stream: the fields behind it, and the metrics of the whole exchange. Nil until its last
    /// piece was read, after a failure, and for bytes that have all arrived, whose response has both.
    public var ending: ResponseEnding? {
        if case .stream(let source) = content { source.ending } else { nil }
    }

    /// Waits for the whole body.
    ///
    /// - Parameter limit: The most bytes to take.
    /// - Throws: `tooLarge` over the limit, and whatever ended the transfer.
    public func collect(upTo limit: Int) async throws(RequestFailure) -> Data {
        switch content {
        case .bytes(let data):
            guard data.count <= limit else { throw Self.tooLarge(limit) }
            return data
        case .stream(let source):
            var collected = Data()
            while let chunk = try await source.next() {
                guard chunk.count <= limit - collected.count else {
                    source.cancel()
                    throw Self.tooLarge(limit)
                }
                chunk.withUnsafeBytes { collected.append(contentsOf: $0) }
            }
            return collected
        }
    }

    private static func tooLarge(_ limit: Int) -> RequestFailure {
        RequestFailure(.tooLarge, "The body is over \(limit) bytes.", phase: .receiving)
    }
}

extension ResponseBody.Source {
    package var ending: ResponseEnding? { nil }
    package func abandon() { cancel() }
}

extension ResponseBody: AsyncSequence {
    /// A piece of the body.
    public typealias Element = BodyChunk
    /// What ends a body early.
    public typealias Failure = RequestFailure

    /// Reads the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var content: Content?

        init(content: Content) { self.content = content }

        /// The next piece, or nil after the last.
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

        /// The next piece, read where the caller runs; what a `for` loop calls.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(RequestFailure) -> BodyChunk? {
            try await next()
        }
    }

    /// Begins to read; a stream can be read once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(content: content) }
}

extension ResponseBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of body and its size, never its bytes.
    public var description: String { data.map(RedactedText.size) ?? "a stream" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Nothing, because ``description`` says all that may be shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
