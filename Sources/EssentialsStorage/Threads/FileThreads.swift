import EssentialsTools

/// The threads for all blocking work on files, so that it blocks neither Swift's threads nor those of a transport.
///
/// There are at most four in a process. They are started on demand, are kept until the process exits, and sleep when
/// idle. Debuggers show them as `essentials-file`. All signals except those for crashes are blocked on them. So no
/// signal handler of the program runs there, and a write beyond the file size limit is an error instead of ending the
/// process.
///
/// When the process exits, the threads end at any point. An incomplete file then remains under its temporary name and
/// never under its destination's name. In a child process created by fork(2) the threads do not exist, just as Swift's
/// own threads do not. Asynchronous work is not possible there before exec(2), which closes the files (`O_CLOEXEC`).
///
/// `@unchecked Sendable`: the variables are accessed only while `mutex` is held. Both pointers are constants. Their
/// memory is initialized before the object is shared and never freed, because the only instance lives as long as the
/// process.
package final class FileThreads: @unchecked Sendable {
    package static let shared = FileThreads()
    static let limit = 4

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting = Fifo<FileQueue>()
    private var threadCount = 0
    private var idleCount = 0

    private init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    /// Ensures that there is at least one thread. Call it before work is enqueued on a ``FileQueue``, which cannot
    /// fail.
    ///
    /// - Throws: The system's error if there is no thread and none can be started.
    package func ensureStarted() throws(FileError) {
        pthread_mutex_lock(mutex)
        let error = threadCount > 0 ? nil : launch()
        pthread_mutex_unlock(mutex)
        if let error { throw error }
    }

    /// Schedules a queue's next job on one of the threads.
    func submit(_ queue: FileQueue) {
        pthread_mutex_lock(mutex)
        waiting.append(queue)
        // A failed launch is not an error, because the running threads will reach this queue too.
        if idleCount < waiting.count, threadCount < Self.limit { _ = launch() }
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Starts a thread, or returns the system's error. The mutex is held.
    private func launch() -> FileError? {
        do throws(SystemThread.Failure) {
            try SystemThread(named: "essentials-file") { FileThreads.shared.run() }.detach()
        } catch {
            return FileError(code: error.code)
        }
        threadCount += 1
        return nil
    }

    private func run() -> Never {
        while true { takeNext().runNext() }
    }

    private func takeNext() -> FileQueue {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let queue = waiting.popFirst() { return queue }
            idleCount += 1
            pthread_cond_wait(condition, mutex)
            idleCount -= 1
        }
    }
}
