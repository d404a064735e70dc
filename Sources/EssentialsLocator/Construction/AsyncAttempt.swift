import EssentialsTools

/// One run of an asynchronous factory, and the tasks that wait for it.
final class AsyncAttempt: Sendable {
    /// The attempt whose factory the current task runs, or whose factory has started the current task.
    @TaskLocal static var current: AsyncAttempt?

    private enum Ending: Sendable {
        case built
        case failed(ServiceLocatorError)
    }

    /// The registration that is built. Weak, because tasks that a factory has started may retain the attempt for a long
    /// time.
    let slot: WeakReference<Slot>
    /// Represents the attempt in ``AsyncLinks``.
    let node: WaitNode
    private let ending = OneShot<Ending>()

    init(slot: Slot, label: String) {
        self.slot = WeakReference(slot)
        node = WaitNode(label)
    }

    /// The attempt that the current task is part of, or `nil` if the factory has ended.
    static var running: AsyncAttempt? {
        guard let current, !current.ending.isProvided else { return nil }
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
        let ending = await ending.valueUnlessCancelled()
        if let caller { AsyncLinks.shared.withLock { $0.unlink(caller, from: node) } }
        switch ending {
        case .built: return
        case .failed(let error): throw error
        case nil: throw .cancelled(slot, label: node.label)
        }
    }

    /// Waits for the end of the attempt, even in a cancelled task. Returns `false` if the wait would never end.
    func ended(for caller: WaitNode) async -> Bool {
        guard AsyncLinks.shared.withLock({ $0.link(caller, to: node) }) == nil else { return false }
        _ = await ending.value()
        AsyncLinks.shared.withLock { $0.unlink(caller, from: node) }
        return true
    }

    /// Ends the attempt. `nil` means that the service is stored.
    func end(_ failure: ServiceLocatorError?) {
        ending.provide(failure.map(Ending.failed) ?? .built)
    }
}
