import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A stored body that is delivered in pieces, at the pace of the reader.
final class ServedBody: ResponseBody.Source {
    /// The size of a piece, as of those that a transport delivers.
    private static let size = 64 << 10

    private struct State {
        var position: Int
        var isCancelled = false
    }

    private let data: Data
    private let host: String?
    private let state: Mutex<State>

    init(_ data: Data, host: String?) {
        (self.data, self.host) = (data, host)
        state = Mutex(State(position: data.startIndex))
    }

    func next() async throws(RequestFailure) -> BodyChunk? {
        let piece = state.withLock { state -> Range<Int>? in
            guard !state.isCancelled else { return nil }
            let start = state.position
            state.position = min(start + Self.size, data.endIndex)
            return start..<state.position
        }
        guard let piece, !Task.isCancelled else {
            throw RequestFailure(
                .cancelled, "The request was cancelled while its stored body was being read.", phase: .receiving,
                host: host)
        }
        return piece.isEmpty ? nil : BodyChunk(data[piece])
    }

    func cancel() { state.withLock { $0.isCancelled = true } }

    /// No bytes were transferred.
    var ending: ResponseEnding? {
        state.withLock { !$0.isCancelled && $0.position == data.endIndex } ? ResponseEnding() : nil
    }
}
