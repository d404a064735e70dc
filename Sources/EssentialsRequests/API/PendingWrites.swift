/// Writes that wait for the network, which are sent before content is loaded again.
///
/// An outbox is one. A service of resources sends the writes that are attached to it when the server is reachable again,
/// and loads its resources afterwards, so that they show what the writes have changed.
///
/// ```swift
/// final class Drafts: PendingWrites {
///     func sendPending(waitingAtMost deadline: Duration) async { await uploadDrafts(within: deadline) }
/// }
/// ```
public protocol PendingWrites: AnyObject, Sendable {
    /// Tries again to send what the network did not carry.
    ///
    /// It returns when nothing is left to send, or after a time. What then still runs is not cancelled.
    ///
    /// - Parameter deadline: The longest time to wait.
    func sendPending(waitingAtMost deadline: Duration) async
}

/// Pending writes that another object sends, so that nobody who waits for it keeps their owner alive.
package protocol OwnedPendingWrites: PendingWrites {
    /// The object that sends.
    var sender: any PendingWrites { get }
}
