import EssentialsHTTP
import EssentialsTools

/// The pieces of one streamed answer, delivered as the reader requests them.
final class ScriptedBody: Sendable {
    private struct State {
        var rest: ArraySlice<ScriptedPiece>
        /// When the next piece becomes readable, not counting a pause.
        var moment: ManualClock.Instant
        var end: Result<Void, RequestFailure>?
        var pause: Interruptible<Void>?
    }

    private enum Step {
        case chunk(BodyChunk)
        case pause(Interruptible<Void>, from: ManualClock.Instant, for: Duration)
        case end(Result<Void, RequestFailure>)
    }

    private let state: Mutex<State>
    private let pace: ScriptedPace
    private let host: String

    init(_ pieces: [ScriptedPiece], from moment: ManualClock.Instant, pace: ScriptedPace) {
        state = Mutex(State(rest: pieces[...], moment: moment))
        self.pace = pace
        host = pace.request.url.origin.host.text
    }

    /// Whether the body has ended.
    var isEnded: Bool { state.withLock { $0.end != nil } }

    /// Ends the body with `cancelled`, even while its reader waits.
    func cancel() {
        let pause = state.withLock { state in
            if state.end == nil { state.end = .failure(cancelled) }
            return state.pause.take()
        }
        pause?.cancel()
    }

    /// Returns the next chunk, or `nil` after the last one. It supports one reader at a time.
    func next() async throws(RequestFailure) -> BodyChunk? {
        if Task.isCancelled { cancel() }
        while true {
            switch try nextStep() {
            case .chunk(let chunk): return chunk
            case .end(let result):
                try result.get()
                return nil
            case .pause(let pause, let start, let duration):
                do throws(RequestFailure) {
                    try await pause.run { [pace] () throws(RequestFailure) in
                        try await pace.wait(from: start, for: duration, isHead: false)
                    }
                    state.withLock { $0.pause = nil }
                } catch {
                    // The next iteration of the loop returns this end.
                    state.withLock { state in
                        state.pause = nil
                        if state.end == nil { state.end = .failure(error) }
                    }
                }
            }
        }
    }

    private func nextStep() throws(RequestFailure) -> Step {
        try state.withLock { state throws(RequestFailure) -> Step in
            guard state.pause == nil else {
                throw RequestFailure(
                    .invalidRequest, "Two tasks read one streamed body at the same time.",
                    remedy: "Read it in one task.", phase: .receiving, host: host)
            }
            while true {
                if let end = state.end { return .end(end) }
                switch state.rest.popFirst() {
                case nil: state.end = .success(())
                case .bytes(let data): if !data.isEmpty { return .chunk(BodyChunk(data)) }
                case .failure(let reason): state.end = .failure(ScriptedFailure.make(reason, phase: .receiving, host))
                case .pause(let duration):
                    let pause = Interruptible<Void>(host: host, phase: .receiving)
                    state.pause = pause
                    defer { state.moment = state.moment.advanced(by: max(.zero, duration)) }
                    return .pause(pause, from: state.moment, for: duration)
                }
            }
        }
    }

    private var cancelled: RequestFailure {
        RequestFailure(.cancelled, "The request was cancelled.", phase: .receiving, host: host)
    }
}
