import EssentialsTools

/// The serial executor of an actor that works on files. Its jobs run one after another, each on
/// any of the ``FileThreads``.
package final class FileQueue: SerialExecutor {
    private struct State {
        var jobs = Fifo<UnownedJob>()
        /// Whether the queue is submitted to the file threads or running on one.
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

    /// Runs one job on a file thread. If more jobs are waiting, the queue is submitted again behind the other queues.
    func runNext() {
        let job = state.withLock { $0.jobs.popFirst() }
        job?.runSynchronously(on: asUnownedSerialExecutor())
        let submits = state.withLock { state in
            state.isSubmitted = !state.jobs.isEmpty
            return state.isSubmitted
        }
        if submits { FileThreads.shared.submit(self) }
    }
}
