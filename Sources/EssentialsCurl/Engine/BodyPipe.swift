import EssentialsTransport
import Synchronization

/// The chunks of one streamed response between the engine thread and a reader.
final class BodyPipe: Sendable {
    /// The engine pauses a transfer when this many chunks wait, and lets it run again when the reader has taken most.
    static let softLimit = 4

    private struct State {
        var chunks = Fifo<BodyChunk>()
        var waiter: Waiter<Void>?
        var end: Result<ResponseEnding, RequestFailure>?

        var count: Int { chunks.count }
    }

    private let state = Mutex(State())
    /// Asks the engine to look at the reader's side, or to cancel. Set once, before the exchange is posted.
    let requests: Requests

    /// What a reader asks of the engine.
    struct Requests: Sendable {
        var read: @Sendable () -> Void
        var cancel: @Sendable () -> Void
        var drop: @Sendable () -> Void
    }

    init(requests: Requests) { self.requests = requests }

    // MARK: Engine thread

    /// Whether a reader waits with nothing to read.
    var isAwaited: Bool { state.withLock { $0.waiter != nil && $0.count == 0 } }

    /// Adds chunks. True when the reader has enough for now.
    ///
    /// All that have come at once: a reader that is woken for the first has often waited again when the second comes, and
    /// to wake it costs more than to copy the chunk.
    func push(_ chunks: [BodyChunk]) -> Bool {
        let (waiter, isFull) = state.withLock { state in
            for chunk in chunks { state.chunks.append(chunk) }
            return (state.waiter.take(), state.count >= Self.softLimit)
        }
        waiter?.resume()
        return isFull
    }

    /// No chunk will follow. The first call counts.
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

    /// The next chunk, or nil after the last. One reader at a time.
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
                    // A reader that came in between is not left behind: this one looks again, and is refused then.
                    let hasNews = state.count > 0 || state.end != nil || state.waiter != nil
                    if !hasNews { state.waiter = continuation }
                    return hasNews
                }
                // Asked for after the waiter is in its place, so that what is half full is handed over too.
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

    /// What came with the end, once all before it was taken.
    var ending: ResponseEnding? { state.withLock { $0.count == 0 ? try? $0.end?.get() : nil } }
}

/// The reader's hold on a streamed body: dropping it unread ends the transfer.
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
