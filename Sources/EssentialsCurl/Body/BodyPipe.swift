import EssentialsTools
import EssentialsTransport

/// The chunks of one streamed response between the engine's thread and a reader.
final class BodyPipe: Sendable {
    /// The engine pauses a transfer at this number of waiting chunks, and resumes it when the reader has taken most.
    static let softLimit = 4

    private struct State {
        var chunks = Fifo<BodyChunk>()
        var waiter: Waiter<Void>?
        var end: Result<ResponseEnding, RequestFailure>?

        var count: Int { chunks.count }
    }

    private let state = Mutex(State())
    /// The reader's requests to the engine. They are set before the exchange is posted.
    let requests: Requests

    /// The requests that a reader can make to the engine.
    struct Requests: Sendable {
        var read: @Sendable () -> Void
        var cancel: @Sendable () -> Void
        var drop: @Sendable () -> Void
    }

    init(requests: Requests) { self.requests = requests }

    // MARK: Engine thread

    /// Whether a reader waits and there is nothing to read.
    var isAwaited: Bool { state.withLock { $0.waiter != nil && $0.count == 0 } }

    /// Adds chunks and returns whether the reader has enough for now.
    ///
    /// All chunks that have arrived are added at once. A reader that is resumed for the first chunk often waits again
    /// before the second arrives, and resuming it costs more than copying the chunk.
    func push(_ chunks: [BodyChunk]) -> Bool {
        let (waiter, isFull) = state.withLock { state in
            for chunk in chunks { state.chunks.append(chunk) }
            return (state.waiter.take(), state.count >= Self.softLimit)
        }
        waiter?.resume()
        return isFull
    }

    /// Ends the stream. The first call counts.
    func finish(_ end: Result<ResponseEnding, RequestFailure>) {
        let waiter = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    // MARK: Reader

    private enum Step {
        case chunk(BodyChunk, hasRoom: Bool)
        case end(Result<ResponseEnding, RequestFailure>)
        case wait
    }

    /// Returns the next chunk, or `nil` after the last one. There may be one reader at a time.
    func next() async throws(RequestFailure) -> BodyChunk? {
        while true {
            let step = state.withLock { state -> Step in
                if let chunk = state.chunks.popFirst() {
                    return .chunk(chunk, hasRoom: state.count < 2 && state.end == nil)
                }
                return state.end.map { .end($0) } ?? .wait
            }
            switch step {
            case .chunk(let chunk, let hasRoom):
                if hasRoom { requests.read() }
                return chunk
            case .end(let result):
                _ = try result.get()
                return nil
            case .wait: try await waitForChange()
            }
        }
    }

    private func waitForChange() async throws(RequestFailure) {
        guard state.withLock({ $0.waiter == nil }) else { throw Self.secondReader }
        await withTaskCancellationHandler {
            await withWaiter { continuation in
                let resumesNow = state.withLock { state in
                    // If another reader has arrived meanwhile, this one checks again and is then refused.
                    let hasNews = state.count > 0 || state.end != nil || state.waiter != nil
                    if !hasNews { state.waiter = continuation }
                    return hasNews
                }
                // The engine is notified after the waiter is set, so that it also delivers a partial chunk.
                if resumesNow { continuation.resume() } else { requests.read() }
            }
        } onCancel: {
            finish(.failure(RequestFailure(.cancelled, "The reading task was cancelled.", phase: .receiving)))
            requests.cancel()
        }
    }

    private static let secondReader = RequestFailure(
        .invalidRequest, "Two tasks read one streamed body at the same time.", remedy: "Read it in one task.",
        phase: .receiving)

    /// Whether the end has been reached or set.
    var isEnded: Bool { state.withLock { $0.end != nil } }

    /// The trailers and metrics of a complete body, once the reader has taken all chunks.
    var ending: ResponseEnding? { state.withLock { $0.count == 0 ? try? $0.end?.get() : nil } }
}

/// The reader's reference to a streamed body. The transfer ends if it is released before the end.
final class BodyStream: ResponseBody.Source {
    private let pipe: BodyPipe

    init(_ pipe: BodyPipe) { self.pipe = pipe }

    deinit { cancel() }

    func next() async throws(RequestFailure) -> BodyChunk? { try await pipe.next() }

    func cancel() { end(pipe.requests.drop) }

    func abandon() { end(pipe.requests.cancel) }

    private func end(_ request: () -> Void) {
        guard !pipe.isEnded else { return }
        pipe.finish(.failure(RequestFailure(.cancelled, "The body was dropped before its end.", phase: .receiving)))
        request()
    }

    var ending: ResponseEnding? { pipe.ending }
}
