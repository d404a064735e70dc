import Glibc
import Synchronization

/// Tells a process from the one that it was forked from, without asking the system each time.
enum ProcessGeneration {
    private static let forks = Atomic<Int>(0)
    private static let isWatching: Bool = pthread_atfork(nil, nil, { ProcessGeneration.forked() }) == 0

    /// The generation in which a request was sent, and with it a Swift task ran; less than any before the first one.
    private static let taskGeneration = Atomic<Int>(-1)

    /// A number that a child process has one more of.
    static var current: Int {
        _ = isWatching
        return forks.load(ordering: .relaxed)
    }

    /// Notes that Swift tasks run in this process.
    static func noteTasks() {
        let current = current
        if taskGeneration.load(ordering: .relaxed) != current { taskGeneration.store(current, ordering: .relaxed) }
    }

    /// Whether tasks ran in a process that this one was forked from. Swift's task pool still counts on the threads of
    /// that process, which do not exist here, so a new task never runs.
    static var hasLostTasks: Bool {
        let noted = taskGeneration.load(ordering: .relaxed)
        return noted >= 0 && noted != current
    }

    /// Runs in the child, where only functions that are safe in signal handlers may be called; an atomic is.
    private static func forked() { forks.wrappingAdd(1, ordering: .relaxed) }
}
