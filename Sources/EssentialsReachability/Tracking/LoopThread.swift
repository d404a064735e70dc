import Glibc

/// Starts threads for blocking work, which must not run on the threads of Swift concurrency or Dispatch.
enum LoopThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread in the network namespace of the calling thread, and returns the error number or 0.
    ///
    /// All signals except those for crashes are blocked on it, so that no signal handler of the program runs there.
    static func start(named name: StaticString, _ run: @escaping @Sendable () -> Void) -> Int32 {
        var blocked = sigset_t()
        var before = sigset_t()
        sigfillset(&blocked)
        for crash in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, crash) }
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let body = Unmanaged.passRetained(
            Body {
                nameThread(name)
                run()
            })
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        if code == 0 { pthread_detach(handle) } else { body.release() }
        return code
    }

    private static func nameThread(_ name: StaticString) {
        // Swift does not import pthread_setname_np. Writing this file has the same effect.
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = "\(name)".withCString { write(file, $0, strlen($0)) }
        close(file)
    }
}
