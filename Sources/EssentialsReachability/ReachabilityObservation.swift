import Synchronization

/// Keeps a handler observing statuses: it ends with ``cancel()``, or when the last reference to it goes.
///
/// ```swift
/// observation = tracker.observe(on: .main) { status in banner.show(status) }
/// observation = nil        // the handler is called no more
/// ```
public final class ReachabilityObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    /// Makes one from what ends it, which is called once at most. For services of your own.
    public init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    deinit { cancel() }

    /// Ends the observation. From any thread, any number of times; it never waits.
    ///
    /// Called on the handler's own serial queue, the handler is not called after this has returned; from elsewhere it
    /// may already be running.
    public func cancel() {
        let end = self.end.withLock { $0.take() }
        end?()
    }

    /// Whether it was not cancelled yet.
    public var isActive: Bool { end.withLock { $0 != nil } }
}
