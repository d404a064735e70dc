import EssentialsHTTP
import EssentialsTools

/// Whether the caches of a resource were read for its entity.
enum CacheReading: UInt8, Sendable {
    case notBegun, running, ended
}

/// One read of a resource's caches. Loads wait for it for a short time.
final class CacheRead: Sendable {
    /// How long a load waits for an entity before it goes to the network.
    static let patience = Duration.milliseconds(250)

    private let ended = OneShot<Void>()

    /// Ends the read, with an entity or without one.
    func end() { ended.provide(()) }

    /// Waits for the end, at most for ``patience``, or until the task is cancelled.
    func wait(_ clock: RequestClock) async {
        _ = await ended.valueUnlessCancelled { _ = try? await clock.sleep(for: Self.patience) }
    }
}
