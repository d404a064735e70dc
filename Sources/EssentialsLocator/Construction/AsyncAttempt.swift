import Synchronization

/// One run of an asynchronous factory, and the tasks that wait for it.
final class AsyncAttempt: Sendable {
    /// The attempt whose factory the current task runs, or whose factory has started the current task.
    @TaskLocal static var current: AsyncAttempt?

    private enum Ending: Sendable {
        case built
        case failed(ServiceLocatorError)
        case cancelled
    }

    private struct Waiting {
        var ending: Ending?
        var continuations: [UInt64: CheckedContinuation<Ending, Never>] = [:]
        /// Waiters that were cancelled before they were suspended.
        var cancelled: Set<UInt64> = []
        var lastWaiter: UInt64 = 0
    }

    /// The registration that is built. Weak, because tasks that a factory has started may retain the attempt for a long
    /// time.
    let slot: WeakReference<Slot>
    /// Represents the attempt in ``AsyncLinks``.
    let node: WaitNode
    private let waiting = Mutex(Waiting())

    init(slot: Slot, label: String) {
        self.slot = WeakReference(slot)
        node = WaitNode(label)
    }

    /// The attempt that the current task is part of, or `nil` if the factory has ended.
    static var running: AsyncAttempt? {
        guard let current, current.waiting.withLock({ $0.ending == nil }) else { return nil }
        return current
    }

    /// Waits until the service is built.
    ///
    /// - Throws: The error of the factory, `cycle` if the wait would never end, or `cancelled` if the waiting task is
    ///   cancelled.
    func join(_ slot: Slot) async throws(ServiceLocatorError) {
        let caller = Self.running?.node
        if let caller, let path = AsyncLinks.shared.withLock({ $0.link(caller, to: node) }) {
            throw .cycle(slot, path: path)
        }
        let ending = await wait()
        if let caller { AsyncLinks.shared.withLock { $0.unlink(caller, from: node) } }
        switch ending {
        case .built: return
        case .failed(let error): throw error
        case .cancelled: throw .cancelled(slot, label: node.label)
        }
    }

    /// Waits for the end of the attempt, even in a cancelled task. Returns `false` if the wait would never end.
    func ended(for caller: WaitNode) async -> Bool {
        guard AsyncLinks.shared.withLock({ $0.link(caller, to: node) }) == nil else { return false }
        _ = await suspended(nextWaiter())
        AsyncLinks.shared.withLock { $0.unlink(caller, from: node) }
        return true
    }

    /// Ends the attempt. `nil` means that the service is stored.
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
