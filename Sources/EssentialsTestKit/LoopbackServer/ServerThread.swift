import EssentialsHTTP
import EssentialsTools

/// A server's thread, which must be joined or detached once. A write to a closed connection fails with an error on it and
/// does not end the process.
struct ServerThread: Sendable {
    private let thread: SystemThread

    /// Starts the thread.
    init(_ run: @escaping @Sendable () -> Void) throws(TestKitError) {
        do throws(SystemThread.Failure) {
            thread = try SystemThread(named: "loopback", run)
        } catch {
            throw TestKitError("No thread for the loopback server: \(SystemError(code: error.code)).")
        }
    }

    /// Joins the thread; if the caller is the thread itself, detaches it.
    func joinOrDetach() {
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }
}
