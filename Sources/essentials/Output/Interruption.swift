import Dispatch
import Glibc
import ServiceEssentials
import Synchronization

/// Lets SIGINT and SIGTERM cancel what runs, so that it can clean up.
enum Interruption {
    /// The signal that cancelled an operation; the underlying error of its failure.
    struct Signal: Error, Hashable {
        let number: Int32
    }

    /// Runs an operation that ends as `cancelled` when a signal comes.
    ///
    /// One that does not notice within a second, because a write blocks, is ended with the process.
    ///
    /// - Parameter path: Removed before the process is ended that way.
    static func watch(
        removing path: String?, _ operation: @escaping @Sendable () async throws(RequestFailure) -> Void
    ) async throws(RequestFailure) {
        let task = Task { () -> RequestFailure? in
            do throws(RequestFailure) {
                try await operation()
                return nil
            } catch {
                return error
            }
        }
        let caught = Caught()
        let queue = DispatchQueue(label: "essentials.signals")
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                caught.signal.withLock { $0 = $0 ?? Signal(number: number) }
                task.cancel()
                queue.asyncAfter(deadline: .now() + 1) {
                    if let path { unlink(path) }
                    _exit(128 + number)
                }
            }
            source.resume()
            return source
        }
        let failure = await task.value
        for source in sources { source.cancel() }
        guard let failure else { return }
        guard failure.reason == .cancelled, let signal = caught.signal.withLock({ $0 }) else { throw failure }
        throw RequestFailure(
            .cancelled, "The request was interrupted by a signal.", phase: failure.phase, host: failure.host,
            attempt: failure.attempt, underlying: signal)
    }

    private final class Caught: Sendable {
        let signal = Mutex<Signal?>(nil)
    }
}
