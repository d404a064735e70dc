import EssentialsHTTP
import EssentialsTools

/// A removal of entities that several caches make. The entities are not found any more from its beginning on.
package final class EntityRemoval: Sendable {
    /// The time after which nothing waits for a removal any more.
    package static let patience = Duration.seconds(5)

    private let clock: RequestClock
    private let promise = OneShot<Bool>()
    private let state: Mutex<(left: Int, isDone: Bool)>

    /// - Parameter count: How many caches make it.
    package init(_ count: Int, _ clock: RequestClock) {
        self.clock = clock
        state = Mutex((count, true))
        if count == 0 { promise.provide(true) }
    }

    /// A cache has made its part, or failed.
    package func end(isDone: Bool) {
        let result = state.withLock { state -> Bool? in
            state.left -= 1
            state.isDone = state.isDone && isDone
            return state.left == 0 ? state.isDone : nil
        }
        if let result { promise.provide(result) }
    }

    /// Waits until all caches have made their part, for at most ``patience``. Those that take longer go on.
    ///
    /// - Returns: Whether all have made it.
    @discardableResult
    package func isDone() async -> Bool { await promise.value(within: Self.patience, clock, otherwise: false) }
}
