import EssentialsTools

/// Distinguishes a process from the process that it was forked from, without a system call.
enum ProcessGeneration {
    private static let forks = Atomic<Int>(0)
    private static let isWatching: Bool = pthread_atfork(nil, nil, { ProcessGeneration.forked() }) == 0

    /// The last generation in which a request was sent, so that a Swift task ran. It is -1 before the first request.
    private static let taskGeneration = Atomic<Int>(-1)

    /// The generation number of this process. A child process has the next number.
    static var current: Int {
        _ = isWatching
        return forks.load(ordering: .relaxed)
    }

    /// Notes that Swift tasks run in this process.
    static func noteTasks() {
        let current = current
        if taskGeneration.load(ordering: .relaxed) != current { taskGeneration.store(current, ordering: .relaxed) }
    }

    /// Whether tasks ran in a process that this one was forked from. Swift's task pool still relies on the threads of
    /// that process, which do not exist here, so a new task never runs.
    static var hasLostTasks: Bool {
        let noted = taskGeneration.load(ordering: .relaxed)
        return noted >= 0 && noted != current
    }

    /// Runs in the child, where only functions may be called that are safe in signal handlers. An atomic is safe.
    private static func forked() { forks.wrappingAdd(1, ordering: .relaxed) }
}
