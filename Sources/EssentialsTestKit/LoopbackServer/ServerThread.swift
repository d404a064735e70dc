import Glibc

/// A thread of the server's own, to be joined or detached once. SIGPIPE is blocked on it, so that a write to a closed
/// connection fails with an error; the process's disposition stays as it is.
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
        // The one reference made here is taken over by the thread, or released below when there is none.
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
            throw TestKitError("No thread for the loopback server: \(String(cString: strerror(code))).")
        }
        self.handle = handle
    }

    /// Waits for the end of the thread; a thread that asks for its own end is only detached.
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
