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

    /// Sees to it that there is a thread. Called before work is given to a ``FileQueue``, which cannot fail.
    ///
    /// - Throws: `file` when there is none and the system gives none.
    package func start() throws(RequestFailure) {
        pthread_mutex_lock(mutex)
        let code = threadCount > 0 ? 0 : launch()
        pthread_mutex_unlock(mutex)
        guard code == 0 else {
            throw RequestFailure(
                .file, "The system gave no thread for work on files: \(SystemError(code: code)).",
                remedy: "Raise the limit of threads.", underlying: SystemError(code: code))
        }
    }

    /// Has a queue's next job run on one of the threads.
    func submit(_ queue: FileQueue) {
        pthread_mutex_lock(mutex)
        waiting.append(queue)
        // One thread fewer than wished for is no failure: those that run come to this queue, too.
        if idleCount < waiting.count, threadCount < Self.limit { _ = launch() }
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Starts a thread and gives the error number, or 0. The mutex is held.
    private func launch() -> Int32 {
        var blocked = sigset_t()
        var before = sigset_t()
        sigfillset(&blocked)
        for crash in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, crash) }
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        #if canImport(Darwin)
            var handle: pthread_t?
            let code = pthread_create(&handle, nil, { _ in FileThreads.shared.run() }, nil)
            if code == 0, let handle { pthread_detach(handle) }
        #else
            var handle = pthread_t()
            let code = pthread_create(&handle, nil, { _ in FileThreads.shared.run() }, nil)
            if code == 0 { pthread_detach(handle) }
        #endif
        if code == 0 { threadCount += 1 }
        return code
    }

    private func run() -> Never {
        Self.nameThread()
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

    private static func nameThread() {
        #if canImport(Darwin)
            pthread_setname_np("essentials-file")
        #else
            // The call that names a thread is not among what Swift imports; the kernel takes the name here as well.
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = "essentials-file".withCString { write(file, $0, strlen($0)) }
            close(file)
        #endif
    }
}
