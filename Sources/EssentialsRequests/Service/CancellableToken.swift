import EssentialsHTTP
import Synchronization

/// Cancels a request that was started with a completion handler.
///
/// ```swift
/// let token = requests.get("report", deserializeTo: Report.self) { result in … }
/// token.cancel()          // the handler receives the failure `cancelled`
/// ```
public final class CancellableToken: Sendable {
    private enum State {
        case running(cancel: (@Sendable () -> Void)?)
        case cancelled
        case finished
    }

    private let state = Mutex(State.running(cancel: nil))

    init() {}

    /// Cancels the request. From any thread, any number of times; it never blocks and never calls the handler itself.
    ///
    /// Called on the handler's own serial queue, no success is delivered after it has returned; from elsewhere the
    /// handler may already be running.
    public func cancel() {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            guard case .running(let cancel) = state else { return nil }
            state = .cancelled
            return cancel
        }
        cancel?()
    }

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Whether the handler was called or is about to be.
    public var isFinished: Bool {
        state.withLock { if case .finished = $0 { true } else { false } }
    }

    /// Names what cancels; called at once when ``cancel()`` came first.
    func attach(_ cancel: @escaping @Sendable () -> Void) {
        let cancelsNow = state.withLock { state in
            switch state {
            case .running:
                state = .running(cancel: cancel)
                return false
            case .cancelled: return true
            case .finished: return false
            }
        }
        if cancelsNow { cancel() }
    }

    /// What the handler is to receive. Called once, on the handler's queue.
    func finish<Value>(with result: Result<Value, RequestFailure>) -> Result<Value, RequestFailure> {
        let wasCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .finished
            return false
        }
        guard wasCancelled else { return result }
        if case .failure(let failure) = result, failure.reason == .cancelled { return result }
        return .failure(RequestFailure(.cancelled, "The request was cancelled.", phase: .receiving))
    }
}
