import EssentialsHTTP
import EssentialsTools

/// The event streams that a service follows.
final class EventFollowers: Sendable {
    private let entries = Mutex<[ObjectIdentifier: (follower: EventFollower, task: Task<Void, Never>)]>([:])

    func add(_ follower: EventFollower, _ task: Task<Void, Never>) {
        entries.withLock { $0[ObjectIdentifier(follower)] = (follower, task) }
        // A task that ended before it was added does not remove its entry any more.
        if follower.hasEnded { remove(follower) }
    }

    func remove(_ follower: EventFollower) {
        let removed = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(follower)) }
        _ = consume removed
    }

    /// Connects all streams again after the environment has changed.
    func reconnect() { for follower in followers { follower.reconnect() } }

    /// Ends the connections that use the cleared or replaced credentials of an origin.
    func credentialsEnded(at origin: Origin) {
        for follower in followers { follower.credentialsEnded(at: origin) }
    }

    /// Connects the streams that wait for credentials.
    func credentialsWereSet(at origin: Origin) { for follower in followers { follower.credentialsWereSet() } }

    /// Ends all streams, because the service was closed.
    func endAll() {
        for entry in entries.withLock({ Array($0.values) }) { entry.task.cancel() }
    }

    private var followers: [EventFollower] { entries.withLock { $0.values.map(\.follower) } }
}
