public import EssentialsHTTP

/// An event of a resource.
///
/// ```swift
/// for await change in cart.changes() {
///     if case .failed(let failure) = change.event { show(failure.message) }
/// }
/// ```
public enum ResourceEvent: Sendable, Hashable {
    /// The observer was added. Only this observer receives the event.
    case attached
    /// A load has begun.
    case requested
    /// A load was cancelled.
    case cancelled
    /// A load has ended and changes nothing, because something newer has changed the state, or because its outcome is
    /// only for its caller.
    case superseded
    /// The newest load has progressed: its progress from 0 to 1.
    ///
    /// Only observers that have requested progress receive the event, at most every 50 milliseconds. The progress of a
    /// load never decreases. It is 1 once, just before the event with which the load ends, even if the load fails or is
    /// cancelled.
    case progress(Double)
    /// There is new content.
    case newContent(Provenance)
    /// The server has confirmed the content.
    case notModified
    /// A load has failed, or its response cannot be read. The content stays.
    case failed(RequestFailure)
    /// The content was marked as outdated.
    case invalidated
    /// An optimistic change was applied to the content; see <doc:WritingOptimistically>.
    case layered
    /// An optimistic change was removed from the content, because its write has failed or was cancelled.
    case undone(RequestFailure)
    /// Content and failure were removed.
    case wiped(WipeReason)
}

/// Why a resource was wiped.
///
/// ```swift
/// if case .wiped(.environment) = change.event { showSpinner() }
/// ```
public enum WipeReason: Sendable, Hashable {
    /// The application called `wipe`.
    case requested
    /// The environment has changed, so the content came from another server.
    case environment
    /// The private state of the origin was cleared, as at a logout.
    case authorization
    /// The application has entered another partition, as after a login with another account.
    case partition
    /// The server has deleted the resource.
    case deleted

    /// Whether the entities of the resource have other keys in the caches afterwards. The caches are then read again.
    var changesKeys: Bool { self == .environment || self == .partition }

    /// Whether another account or server follows. Earlier changes are not delivered any more, and waiting writes are
    /// not sent, because they were not meant for it.
    var endsSession: Bool { changesKeys || self == .authorization }
}

/// An event, and the state of the resource after it.
///
/// ```swift
/// let observation = cart.observe { change in log(change.event, change.state.version) }
/// ```
public struct ResourceChange<Content: Sendable>: Sendable {
    /// The event.
    public let event: ResourceEvent
    /// The state after the event.
    public let state: ResourceState<Content>
    /// The number of earlier events that were dropped, because the observer was too slow. The state contains their
    /// effects. Events of an account or environment that was left are not counted.
    public let missed: Int

    @usableFromInline
    init(event: ResourceEvent, state: ResourceState<Content>, missed: Int) {
        self.event = event
        self.state = state
        self.missed = missed
    }
}
