import Glibc
import Synchronization

/// Tells a process from the one that it was forked from, without asking the system each time.
enum ProcessGeneration {
    private static let forks = Atomic<Int>(0)
    private static let isWatching: Bool = pthread_atfork(nil, nil, { ProcessGeneration.forked() }) == 0

    /// A number that a child process has one more of.
    static var current: Int {
        _ = isWatching
        return forks.load(ordering: .relaxed)
    }

    /// Runs in the child, where only functions that are safe in signal handlers may be called; an atomic is.
    private static func forked() { forks.wrappingAdd(1, ordering: .relaxed) }
}
