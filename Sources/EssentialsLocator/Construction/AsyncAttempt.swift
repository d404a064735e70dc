import Synchronization

/// One run of an asynchronous factory: who waits for it, and what it waits for in turn.
final class AsyncAttempt: Sendable {
    /// The attempt whose factory the current task runs, or was started by.
    @TaskLocal static var current: AsyncAttempt?

    private enum Ending: Sendable {
        case built
        case failed(ServiceLocatorError)
        case cancelled
    }

    private struct Waiting {
        var ending: Ending?
        var continuations: [UInt64: CheckedContinuation<Ending, Never>] = [:]
        /// Waiters that were cancelled before they waited.
        var cancelled: Set<UInt64> = []
        var lastWaiter: UInt64 = 0
    }

    /// The registration that is built. Weak, because work that a factory has started may keep this for long.
    let slot: WeakReference<Slot>
    /// What others wait for when they wait for this.
    let node: WaitNode
    private let waiting = Mutex(Waiting())

    init(slot: Slot, label: String) {
        self.slot = WeakReference(slot)
        node = WaitNode(label)
    }

    /// The attempt that the current task is part of, unless its factory has ended and left work behind.
    static var running: AsyncAttempt? {
        guard let current, current.waiting.withLock({ $0.ending == nil }) else { return nil }
        return current
    }

    /// Waits until the service is built.
    ///
    /// - Throws: What the factory failed with; `cycle` when that would never end; `cancelled` when the waiting task is.
    func join(_ slot: Slot) async throws(ServiceLocatorError) {
        let asking = Self.running?.node
        if let asking, let path = AsyncLinks.shared.withLock({ $0.link(asking, to: node) }) {
            throw .cycle(slot, path: path)
        }
        let ending = await wait()
        if let asking { AsyncLinks.shared.withLock { $0.unlink(asking, from: node) } }
        switch ending {
        case .built: return
        case .failed(let error): throw error
        case .cancelled: throw .cancelled(slot, label: node.label)
        }
    }

    /// Waits for the end of it, well or not, also in a cancelled task; false if that would never come.
    func ended(for asking: WaitNode) async -> Bool {
        guard AsyncLinks.shared.withLock({ $0.link(asking, to: node) }) == nil else { return false }
        _ = await suspended(nextWaiter())
        AsyncLinks.shared.withLock { $0.unlink(asking, from: node) }
        return true
    }

    /// Says how it ended: nil for a service that is stored.
    func end(_ failure: ServiceLocatorError?) {
        let ending = failure.map(Ending.failed) ?? .built
        let continuations = waiting.withLock { waiting in
            waiting.ending = ending
            defer { waiting.continuations = [:] }
            return waiting.continuations
        }
        for continuation in continuations.values { continuation.resume(returning: ending) }
    }

    private func nextWaiter() -> UInt64 {
        waiting.withLock { waiting in
            waiting.lastWaiter += 1
            return waiting.lastWaiter
        }
    }

    private func wait() async -> Ending {
        let id = nextWaiter()
        return await withTaskCancellationHandler {
            await suspended(id)
        } onCancel: {
            let continuation = waiting.withLock { waiting in
                let found = waiting.continuations.removeValue(forKey: id)
                if found == nil { waiting.cancelled.insert(id) }
                return found
            }
            continuation?.resume(returning: .cancelled)
        }
    }

    private func suspended(_ id: UInt64) async -> Ending {
        await withCheckedContinuation { continuation in
            let ending = waiting.withLock { waiting -> Ending? in
                if let ending = waiting.ending { return ending }
                if waiting.cancelled.remove(id) != nil { return .cancelled }
                waiting.continuations[id] = continuation
                return nil
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }
}
