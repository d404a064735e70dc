import EssentialsTools

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
    let wakeup = Wakeup()
    private let opening = OneShot<Void>()

    /// Creates a closed gate.
    public init() { if wakeup.descriptor < 0 { opening.provide(()) } }

    /// Whether `open()` was called.
    public var isOpen: Bool { opening.isProvided }

    /// Opens the gate for all current and future waiters.
    public func open() {
        opening.provide(())
        wakeup.signal()
    }

    /// Blocks the calling thread until the gate is open or the timeout expires, and returns whether the gate is open.
    /// Use it in handlers and plain threads; tasks use `opened()`.
    @discardableResult
    public func wait(timeout: Duration? = nil) -> Bool {
        if !isOpen { _ = Wakeup.wait(for: [wakeup.descriptor], timeout: timeout) }
        return isOpen
    }

    /// Suspends until the gate is open or the task is cancelled.
    public func opened() async { await opening.valueUnlessCancelled() }
}
