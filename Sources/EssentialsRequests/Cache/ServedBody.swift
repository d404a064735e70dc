import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A stored body that is delivered in pieces, at the pace of the reader.
final class ServedBody: ResponseBody.Source {
    /// The size of a piece from memory, as of those that a transport delivers.
    private static let size = 64 << 10

    private struct State {
        var position: Int
        /// The first piece of a file, which was read in advance.
        var first: Data?
        var isCancelled = false
    }

    private let content: StoredContent
    private let end: Int
    private let size: Int
    private let host: String?
    private let state: Mutex<State>

    init(_ content: StoredContent, _ range: Range<Int>, host: String?) {
        (self.content, end, self.host) = (content, range.upperBound, host)
        // A larger piece of a file costs no more than a small one, because it is checked as a whole.
        size = content.data == nil ? StoredContent.pieceSize : Self.size
        state = Mutex(State(position: range.lowerBound))
    }

    /// Reads the first piece of a file, so that a body that is gone is noticed while it can still be fetched.
    ///
    /// - Returns: Whether it is there.
    func prepare() async -> Bool {
        guard content.data == nil, let piece = nextPiece(), !piece.isEmpty else { return true }
        guard let bytes = await content.bytes(in: piece) else { return false }
        state.withLock { $0.first = bytes }
        return true
    }

    /// The next piece; `nil` after the cancellation.
    private func nextPiece() -> Range<Int>? {
        state.withLock { state in
            guard !state.isCancelled else { return nil }
            let start = state.position
            // Up to the end of the stored piece, so that none is read twice.
            state.position = max(start, min((start / size + 1) * size, end))
            return start..<state.position
        }
    }

    func next() async throws(RequestFailure) -> BodyChunk? {
        if let first = state.withLock({ $0.isCancelled ? nil : $0.first.take() }) { return BodyChunk(first) }
        guard let piece = nextPiece(), !Task.isCancelled else { throw cancelled }
        if piece.isEmpty { return nil }
        guard let bytes = await content.bytes(in: piece, isFurther: true) else {
            throw RequestFailure(
                .interrupted, "The stored body is damaged or was removed while it was being read.",
                remedy: "Send the request again; it is then fetched anew.", phase: .receiving, host: host)
        }
        guard state.withLock({ !$0.isCancelled }) else { throw cancelled }
        return BodyChunk(bytes)
    }

    private var cancelled: RequestFailure {
        RequestFailure(
            .cancelled, "The request was cancelled while its stored body was being read.", phase: .receiving, host: host
        )
    }

    func cancel() { state.withLock { $0.isCancelled = true } }

    /// No bytes were transferred.
    var ending: ResponseEnding? {
        state.withLock { !$0.isCancelled && $0.first == nil && $0.position >= end } ? ResponseEnding() : nil
    }
}
