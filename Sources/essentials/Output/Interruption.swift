import Dispatch
import EssentialsTools
import ServiceEssentials

/// Cancels a running operation on SIGINT or SIGTERM, so that it can clean up.
enum Interruption {
    /// The signal that cancelled an operation. It is the underlying error of the failure.
    struct Signal: Error, Hashable {
        let number: Int32
    }

    /// Runs an operation, which fails with `cancelled` if a signal arrives.
    ///
    /// If the operation does not end within a second, for example because a write blocks, the process exits.
    ///
    /// - Parameter path: A file that is removed before the process exits in this way.
    static func watch(
        removing path: String?, _ operation: @escaping @Sendable () async throws(RequestFailure) -> Void
    ) async throws(RequestFailure) {
        let caught = Caught()
        let sources = [SIGINT, SIGTERM].map { source(for: $0, removing: path, caught) }
        // The operation starts after the signal sources are registered, so that no signal is missed.
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for source in sources {
                group.enter()
                source.setRegistrationHandler { group.leave() }
                source.resume()
            }
            group.notify(queue: queue) { continuation.resume() }
        }
        let task = Task { () -> RequestFailure? in
            do throws(RequestFailure) {
                try await operation()
                return nil
            } catch {
                return error
            }
        }
        caught.watch(task)
        let failure = await task.value
        for source in sources { source.cancel() }
        guard let failure else { return }
        guard failure.reason == .cancelled, let signal = caught.signal else { throw failure }
        throw RequestFailure(
            .cancelled, "The request was interrupted by a signal.", phase: failure.phase, host: failure.host,
            attempt: failure.attempt, underlying: signal)
    }

    private static let queue = DispatchQueue(label: "essentials.signals")

    private static func source(
        for number: Int32, removing path: String?, _ caught: Caught
    ) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
            caught.cancel(by: Signal(number: number))
            queue.asyncAfter(deadline: .now() + 1) {
                if let path { unlink(path) }
                _exit(128 + number)
            }
        }
        return source
    }

    /// The first signal that arrived, and the task that it cancels.
    private final class Caught: Sendable {
        private let state = Mutex<(signal: Signal?, task: Task<RequestFailure?, Never>?)>((nil, nil))

        var signal: Signal? { state.withLock { $0.signal } }

        func cancel(by signal: Signal) {
            let task = state.withLock { state in
                state.signal = state.signal ?? signal
                return state.task
            }
            task?.cancel()
        }

        func watch(_ task: Task<RequestFailure?, Never>) {
            let isLate = state.withLock { state in
                state.task = task
                return state.signal != nil
            }
            if isLate { task.cancel() }
        }
    }
}
