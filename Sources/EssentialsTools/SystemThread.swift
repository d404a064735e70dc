/// A thread of this package, on which no signal handler of the program runs.
///
/// Every signal is blocked on the thread except those that report a crash. A write to a closed socket, or over the
/// limit of file sizes, therefore returns an error there and does not end the process.
///
/// `@unchecked Sendable`: the handle is a constant that any thread may pass to the system. `pthread_t` is a pointer on
/// Darwin, so that the compiler cannot see this.
package struct SystemThread: @unchecked Sendable {
    /// The number of the system's error, such as `EAGAIN`, if it cannot create a thread.
    package struct Failure: Error {
        package let code: Int32
    }

    private final class Start {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private let handle: pthread_t

    /// Starts a thread. It must be joined or detached once.
    ///
    /// - Parameters:
    ///   - name: The name that debuggers show, of at most 15 bytes.
    ///   - body: The work of the thread, which ends with it.
    package init(named name: String, _ body: @escaping @Sendable () -> Void) throws(Failure) {
        var blocked = sigset_t()
        var before = sigset_t()
        sigfillset(&blocked)
        for crash in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, crash) }
        // A new thread has the mask of the thread that starts it.
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        #if canImport(Darwin)
            var handle: pthread_t?
        #else
            var handle = pthread_t()
        #endif
        // The thread takes ownership of this reference.
        let start = Unmanaged.passRetained(Start(name, body))
        let code = pthread_create(&handle, nil, Self.run, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw Failure(code: code)
        }
        #if canImport(Darwin)
            guard let handle else { throw Failure(code: EAGAIN) }
        #endif
        self.handle = handle
    }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Waits until the thread has ended.
    package func join() { pthread_join(handle, nil) }

    /// Lets the system release the thread once it has ended.
    package func detach() { pthread_detach(handle) }

    #if canImport(Darwin)
        private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { argument in
            let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
            pthread_setname_np(start.name)
            start.body()
            return nil
        }
    #else
        private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            guard let argument else { return nil }
            let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
            nameThread(start.name)
            start.body()
            return nil
        }

        private static func nameThread(_ name: String) {
            // Swift does not import pthread_setname_np(3) here. The kernel also reads the name from this file.
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = name.withCString { write(file, $0, strlen($0)) }
            close(file)
        }
    #endif
}
