import EssentialsTools

/// Keeps a handler registered for status changes. The observation ends with ``cancel()`` or when it is released.
///
/// ```swift
/// observation = tracker.observe(on: .main) { status in banner.show(status) }
/// observation = nil        // the handler is no longer called
/// ```
public final class ReachabilityObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    /// Creates an observation for a custom service.
    ///
    /// - Parameter end: Ends the observation. It is called at most once.
    public init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    deinit { cancel() }

    /// Ends the observation. It can be called from any thread and any number of times, and it never blocks.
    ///
    /// If it is called on the handler's own serial queue, the handler is not called after this method returns.
    /// Otherwise a call of the handler may still be running.
    public func cancel() {
        let end = self.end.withLock { $0.take() }
        end?()
    }

    /// Whether the observation was not cancelled yet.
    public var isActive: Bool { end.withLock { $0 != nil } }
}
