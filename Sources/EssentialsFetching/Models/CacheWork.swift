import EssentialsRequests
import EssentialsTools

/// A change of the cache that runs in a separate task, so that a cancelled iteration loses no value and does not wait.
enum CacheWork {
    /// Performs a change, and waits for its end or for the cancellation of the calling task.
    static func run(_ change: @escaping @Sendable () async -> Void) async {
        let end = OneShot<Void>()
        // Most caches reply without switching to another thread.
        Task.immediate {
            await change()
            end.provide(())
        }
        await end.valueUnlessCancelled()
    }
}
