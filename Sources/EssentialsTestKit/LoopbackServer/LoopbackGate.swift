import Synchronization

/// A gate that starts closed and is opened once, to order events between a test and its server.
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
/// Safe to use from any thread. If no file descriptor is available when a gate is created, it starts open.
public final class LoopbackGate: Sendable {
    private struct State {
        var isOpen: Bool
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    let wakeup = Wakeup()
    private let state: Mutex<State>

    /// Creates a closed gate.
    public init() {
        state = Mutex(State(isOpen: wakeup.descriptor < 0))
    }

    /// Whether `open()` was called.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate for all current and future waiters.
    public func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        wakeup.signal()
        for waiter in waiters.values { waiter.resume() }
    }

    /// Blocks the calling thread until the gate is open or the timeout expires, and returns whether the gate is open.
    /// Use it in handlers and plain threads; tasks use `opened()`.
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
