import EssentialsHTTP
import FoundationEssentials
import Synchronization

/// Reads the source of a streamed request body, one piece each time the engine wants one.
final class UploadPump: Sendable {
    private struct State {
        var isWanted = false
        var isStopped = false
        var waiter: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    private let open: @Sendable () -> RequestBody.Source

    init(open: @escaping @Sendable () -> RequestBody.Source) { self.open = open }

    /// The source's error, if it threw one.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Starts reading. `send` posts a piece to the engine, empty at the end; `fail` says that the source threw.
    func start(send: @escaping @Sendable (Data) -> Void, fail: @escaping @Sendable () -> Void) {
        let task = Task {
            let source = open()
            do {
                while await demand() {
                    let piece = try await source()
                    if let piece, piece.isEmpty { continue }
                    supplied()
                    send(piece ?? Data())
                    if piece == nil { return }
                }
            } catch {
                state.withLock { $0.failure = error }
                fail()
            }
        }
        let isStopped = state.withLock { state in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    /// The engine has sent everything that it was given. Engine thread.
    func wantsMore() {
        let waiter = state.withLock { state in
            state.isWanted = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// The exchange is over. Engine thread.
    func stop() {
        let (waiter, task) = state.withLock { state in
            state.isStopped = true
            return (state.waiter.take(), state.task.take())
        }
        task?.cancel()
        waiter?.resume()
    }

    /// Waits until a piece is wanted. False when the exchange is over.
    private func demand() async -> Bool {
        await withCheckedContinuation { continuation in
            let resumesNow = state.withLock { state in
                let isReady = state.isWanted || state.isStopped
                if !isReady { state.waiter = continuation }
                return isReady
            }
            if resumesNow { continuation.resume() }
        }
        return state.withLock { !$0.isStopped }
    }

    private func supplied() { state.withLock { $0.isWanted = false } }
}
