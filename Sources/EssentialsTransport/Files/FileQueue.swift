import Synchronization

/// The executor of one actor that works on files: its jobs run one after another, each on any of the ``FileThreads``.
package final class FileQueue: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Whether a thread works on this queue or will.
        var isSubmitted = false
    }

    private let state = Mutex(State())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let submits = state.withLock { state in
            state.jobs.append(unowned)
            defer { state.isSubmitted = true }
            return !state.isSubmitted
        }
        if submits { FileThreads.shared.submit(self) }
    }

    /// Runs one job; if there are more, the others' come first. File thread.
    func runNext() {
        let job = state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
        job?.runSynchronously(on: asUnownedSerialExecutor())
        let submits = state.withLock { state in
            state.isSubmitted = !state.jobs.isEmpty
            return state.isSubmitted
        }
        if submits { FileThreads.shared.submit(self) }
    }
}
