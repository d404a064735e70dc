import Synchronization

/// A gate that starts closed and is opened once, to fix the order of what a test and its server do.
///
/// ```swift
/// let gate = LoopbackGate()
/// let server = try LoopbackServer { _ in
///     .raw([.head(headers: [("Content-Length", "2")]), .gate(gate), .text("ok"), .keepAlive])
/// }
/// // … look at the half-arrived response …
/// gate.open()
/// ```
///
/// Safe from any thread. A gate made while the process has no file descriptor left is open from the start.
public final class LoopbackGate: Sendable {
    private struct State {
        var isOpen: Bool
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    let wakeup = Wakeup()
    private let state: Mutex<State>

    /// Makes a closed gate.
    public init() {
        state = Mutex(State(isOpen: wakeup.descriptor < 0))
    }

    /// Whether `open()` was called.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Lets everybody through, now and later.
    public func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        wakeup.signal()
        for waiter in waiters.values { waiter.resume() }
    }

    /// Blocks the calling thread until the gate is open, and says whether it is. For handlers and plain threads; tasks
    /// use `opened()`.
    @discardableResult
    public func wait(timeout: Duration? = nil) -> Bool {
        if !isOpen { _ = Wakeup.wait(for: [wakeup.descriptor], timeout: timeout) }
        return isOpen
    }

    /// Suspends until the gate is open or the task is cancelled.
    public func opened() async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiters[waiter] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }
}
