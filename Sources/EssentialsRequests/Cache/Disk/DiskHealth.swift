import EssentialsStorage
import EssentialsTools
import FoundationEssentials

/// Decides when a directory of responses is left alone, and counts what goes wrong.
final class DiskHealth: Sendable {
    /// How long nothing is stored after the disk was full.
    private static let fullTime = Duration.seconds(60)

    private struct State {
        var problems = CacheProblems()
        var rest = CacheRest()
        /// Until when nothing is stored.
        var isFullUntil: ContinuousClock.Instant?
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// Whether the directory is used now.
    var isUsable: Bool { state.withLock { !$0.rest.isResting(at: ContinuousClock.now - start) } }

    /// Whether responses are stored now.
    var stores: Bool {
        isUsable && state.withLock { state in state.isFullUntil.map { $0 <= .now } ?? true }
    }

    var problems: CacheProblems {
        state.withLock { state in
            var problems = state.problems
            problems.resting = state.rest.isResting(at: ContinuousClock.now - start) ? 1 : 0
            return problems
        }
    }

    func succeeded() { state.withLock { $0.rest.succeeded() } }

    /// Counts a failure.
    ///
    /// - Returns: Whether the disk is full, so that records should be evicted. That is said once in the time in which nothing is
    ///   stored, because another program may have filled the disk.
    func failed(_ error: FileError) -> Bool {
        state.withLock { state in
            // A response that is too large for the present room is no fault of the disk.
            guard error.code != EFBIG else { return false }
            state.problems.count += 1
            state.problems.last = "The directory could not be used: \(error)"
            guard error.code == ENOSPC || error.code == EDQUOT else {
                _ = state.rest.failed(at: ContinuousClock.now - start)
                return false
            }
            let wasFull = state.isFullUntil.map { $0 > .now } ?? false
            state.isFullUntil = .now + Self.fullTime
            return !wasFull
        }
    }
}
