/// Passes the changes of a resource to a closure, on the thread that makes the change.
final class ClosureReceiver: ChangeReceiver {
    let reportsProgress: Bool
    private let body: @Sendable (PendingChange) -> Void
    private let end: @Sendable () -> Void

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - reportsProgress: Whether it requests the progress of loads.
    ///   - body: It is called for each change.
    ///   - end: It is called when no more changes will come. It may be called twice.
    init(
        reportsProgress: Bool = false, body: @escaping @Sendable (PendingChange) -> Void,
        end: @escaping @Sendable () -> Void = {}
    ) {
        (self.reportsProgress, self.body, self.end) = (reportsProgress, body, end)
    }

    func receive(_ change: PendingChange) { body(change) }
    func finish() { end() }
}
