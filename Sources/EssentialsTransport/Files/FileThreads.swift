#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The threads on which all blocking work on files is done, so that it holds up neither Swift's threads nor a
/// transport's.
///
/// There are at most four in a process, started when there is work for them and kept from then on. They sleep while
/// there is none. Debuggers show them as `essentials-file`. Every signal is blocked on them except those that tell of a
/// crash: no handler of the program runs there, and a write over the limit of file sizes is an error and not the
/// process's end.
///
/// At the end of the process they are ended like every thread, wherever they are: what is half written then stays
/// behind under its temporary name, and never under the destination's. In a child made by fork(2) they do not exist, as
/// Swift's own threads do not: nothing that is asynchronous works there before exec(2), which closes the files
/// (`O_CLOEXEC`).
///
/// `@unchecked Sendable`: the variables are used only while `mutex` is held. Both pointers are constants, whose memory
/// is initialized before the object is shared and never freed, as the one object lives as long as the process.
package final class FileThreads: @unchecked Sendable {
    package static let shared = FileThreads()
    static let limit = 4

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: [FileQueue] = []
    private var threadCount = 0
    private var idleCount = 0

    private init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    /// Makes sure that there is a thread. It is called before work is given to a ``FileQueue``, which cannot fail.
    ///
    /// - Throws: `resources` if there is no thread and the system gives none.
    package func start() throws(RequestFailure) {
        pthread_mutex_lock(mutex)
        let error = threadCount > 0 ? nil : launch()
        pthread_mutex_unlock(mutex)
        if let error {
            throw RequestFailure(
                .resources, "The system gave no thread for work on files: \(error).",
                remedy: "Raise the limit of threads.", underlying: error)
        }
    }

    /// Has a queue's next job run on one of the threads.
    func submit(_ queue: FileQueue) {
        pthread_mutex_lock(mutex)
        waiting.append(queue)
        // Fewer threads than wanted are no failure, because those that run serve this queue, too.
        if idleCount < waiting.count, threadCount < Self.limit { _ = launch() }
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Starts a thread, and returns the system's error if there is none. The mutex is held.
    private func launch() -> SystemError? {
        do throws(SystemError) {
            try SystemThread(named: "essentials-file") { FileThreads.shared.run() }.detach()
        } catch {
            return error
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
        while waiting.isEmpty {
            idleCount += 1
            pthread_cond_wait(condition, mutex)
            idleCount -= 1
        }
        return waiting.removeFirst()
    }
}
