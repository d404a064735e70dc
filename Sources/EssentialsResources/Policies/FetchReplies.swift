import Synchronization

/// The replies of the cache and the server to one iteration that has asked both at once, in the order of their arrival.
final class FetchReplies: Sendable {
    enum Reply: Sendable {
        case cache(LoadedModel?)
        case server(ServedModel)
        /// The waiting task was cancelled.
        case cancelled
    }

    private struct State {
        /// At most one of each kind.
        var ready: [Reply] = []
        var waiter: CheckedContinuation<Reply, Never>?
        var isCancelled = false

        mutating func takeFirst() -> Reply? {
            if isCancelled { return .cancelled }
            return ready.isEmpty ? nil : ready.removeFirst()
        }
    }

    private let state = Mutex(State())

    /// Hands in a reply.
    func deliver(_ reply: Reply) {
        let waiter = state.withLock { state in
            if state.waiter == nil { state.ready.append(reply) }
            return state.waiter.take()
        }
        waiter?.resume(returning: reply)
    }

    /// The next reply. Only one task may wait.
    func next() async -> Reply {
        if let reply = state.withLock({ $0.takeFirst() }) { return reply }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let reply = state.withLock { state -> Reply? in
                    let reply = state.takeFirst()
                    if reply == nil { state.waiter = continuation }
                    return reply
                }
                if let reply { continuation.resume(returning: reply) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.isCancelled = true
                return state.waiter.take()
            }
            waiter?.resume(returning: .cancelled)
        }
    }
}
