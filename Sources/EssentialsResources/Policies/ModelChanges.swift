import Synchronization

/// Notifies those who observe models in a cache, for a cache that implements ``ObservableCache``.
///
/// ```swift
/// let changes = ModelChanges()
/// changes.changed(ModelKey<[Coin]>("coins"))
/// ```
///
/// A notice says only that there was a change, and the observer then loads the model. So nothing piles up for slow
/// observers, and without observers a notice costs one lock. All functions can be called from any thread.
public final class ModelChanges: Sendable {
    private struct State {
        var watchers: [ModelSlot: [UInt64: ModelWatcher]] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Creates an object without observers.
    public init() {}

    /// The number of observers.
    public var observerCount: Int { state.withLock { $0.watchers.values.reduce(0) { $0 + $1.count } } }

    /// Notifies the observers of a model that was saved or deleted. Call it after the change can be seen, and under no
    /// lock.
    public func changed<Value: Codable & Sendable>(_ key: ModelKey<Value>) { changed(ModelSlot(key)) }

    /// Notifies all observers.
    public func allChanged() { changed(of: nil) }

    func changed(_ slot: ModelSlot) {
        let watchers = state.withLock { $0.watchers.isEmpty ? nil : $0.watchers[slot] }
        guard let watchers else { return }
        for watcher in watchers.values { watcher.changed() }
    }

    /// Notifies the observers of models of a partition, or all.
    func changed(of partition: EntityPartition?) {
        let watchers = state.withLock { state in
            state.watchers.filter { partition == nil || $0.key.partition == partition }.flatMap { $0.value.values }
        }
        for watcher in watchers { watcher.changed() }
    }

    func add(_ watcher: ModelWatcher, for slot: ModelSlot) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.watchers[slot, default: [:]][state.lastNumber] = watcher
            return state.lastNumber
        }
    }

    func remove(_ number: UInt64, for slot: ModelSlot) {
        // The last reference to the watcher ends outside the lock.
        let watcher = state.withLock { state -> ModelWatcher? in
            let watcher = state.watchers[slot]?.removeValue(forKey: number)
            if state.watchers[slot]?.isEmpty == true { state.watchers[slot] = nil }
            return watcher
        }
        withExtendedLifetime(watcher) {}
    }
}

/// Remembers for one observer that there was a change, until it asks.
final class ModelWatcher: Sendable {
    private struct State {
        /// The first question counts as a change, so that the observer sees what is there.
        var hasChanged = true
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())

    func changed() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.hasChanged = true }
            return state.waiter
        }
        waiter?.resume(returning: true)
    }

    /// Waits for a change.
    ///
    /// - Returns: `false` if the task is cancelled.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (result, earlier) = state.withLock { state in
                    if Task.isCancelled { return (false, nil) as Beginning }
                    if state.hasChanged {
                        state.hasChanged = false
                        return (true, nil)
                    }
                    // Two tasks must not read with one iterator. If they do, the earlier one ends.
                    defer { state.waiter = continuation }
                    return (nil, state.waiter)
                }
                earlier?.resume(returning: false)
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: false)
        }
    }

    private typealias Beginning = (Bool?, CheckedContinuation<Bool, Never>?)
}
