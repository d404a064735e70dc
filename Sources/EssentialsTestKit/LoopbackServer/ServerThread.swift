import Glibc

/// A server's thread, which must be joined or detached once. SIGPIPE is blocked on it, so that a write to a closed
/// connection fails with an error; the process's signal disposition is not changed.
struct ServerThread: Sendable {
    private let handle: pthread_t

    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts the thread.
    init(_ run: @escaping @Sendable () -> Void) throws(TestKitError) {
        // The retained reference is consumed by the thread, or released below if the thread cannot start.
        let body = Unmanaged.passRetained(Body(run))
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { pointer in
                if let pointer {
                    ServerThread.blockBrokenPipeSignal()
                    Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
                }
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw TestKitError("No thread for the loopback server", errorNumber: code)
        }
        self.handle = handle
    }

    /// Joins the thread; if the caller is the thread itself, detaches it.
    func joinOrDetach() {
        if pthread_equal(handle, pthread_self()) != 0 {
            pthread_detach(handle)
        } else {
            pthread_join(handle, nil)
        }
    }

    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
