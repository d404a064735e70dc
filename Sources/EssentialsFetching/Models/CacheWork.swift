import EssentialsRequests
import EssentialsTools

/// A change of the cache that runs in a task of its own, so that a cancelled iteration loses no value and does not wait.
enum CacheWork {
    /// Performs a change, and waits for its end or for the cancellation of the calling task.
    static func run(_ change: @escaping @Sendable () async -> Void) async {
        let end = OneShot<Void>()
        // Most caches need no other thread before they reply.
        Task.immediate {
            await change()
            end.provide(())
        }
        await end.valueUnlessCancelled()
    }
}
