import EssentialsHTTP
import EssentialsTools

/// Whether the caches of a resource were asked for its entity.
enum CacheReading: UInt8, Sendable {
    case notBegun, running, ended
}

/// One reading of the caches of a resource, for which loads wait a short time.
final class CacheRead: Sendable {
    /// How long a load waits for an entity before it goes to the network.
    static let patience = Duration.milliseconds(250)

    private let ended = OneShot<Void>()

    /// The reading has ended, with an entity or without one.
    func end() { ended.provide(()) }

    /// Waits for the end, at most for ``patience``, or until the task is cancelled.
    func wait(_ clock: RequestClock) async {
        _ = await ended.valueUnlessCancelled { _ = try? await clock.sleep(for: Self.patience) }
    }
}
