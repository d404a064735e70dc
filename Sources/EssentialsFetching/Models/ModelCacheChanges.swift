import EssentialsRequests
import EssentialsTools

/// Notifies the observers of models in a cache. A cache that implements ``ObservableCache`` uses it.
///
/// ```swift
/// let changes = ModelCacheChanges()
/// changes.changed(ModelKey<[Coin]>("coins"))
/// ```
///
/// A notification says only that there was a change, and the observer then loads the model. Nothing piles up for slow
/// observers, and without observers a notification costs one lock. All functions can be called from any thread.
public final class ModelCacheChanges: Sendable {
    private struct State {
        var watchers: [ModelSlot: [UInt64: ChangeSignal]] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Creates an object without observers.
    public init() {}

    /// The number of observers.
    public var observerCount: Int { state.withLock { $0.watchers.values.reduce(0) { $0 + $1.count } } }

    /// Notifies the observers of a model that was saved or deleted. Call it when the change is visible, and without
    /// holding a lock.
    public func changed<Value: Codable & Sendable>(_ key: ModelKey<Value>) { changed(ModelSlot(key)) }

    /// Notifies all observers.
    public func allChanged() { changed(of: nil) }

    func changed(_ slot: ModelSlot) {
        let watchers = state.withLock { $0.watchers.isEmpty ? nil : $0.watchers[slot] }
        guard let watchers else { return }
        for watcher in watchers.values { watcher.raise() }
    }

    /// Notifies the observers of models of a partition; `nil` means all observers.
    func changed(of partition: EntityPartition?) {
        let watchers = state.withLock { state in
            state.watchers.filter { partition == nil || $0.key.partition == partition }.flatMap { $0.value.values }
        }
        for watcher in watchers { watcher.raise() }
    }

    /// Adds an observer of a model until the place is released.
    func place(for watcher: ChangeSignal, of slot: ModelSlot) -> Place {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.watchers[slot, default: [:]][state.lastNumber] = watcher
            return state.lastNumber
        }
        return Place { self.remove(number, for: slot) }
    }

    private func remove(_ number: UInt64, for slot: ModelSlot) {
        // The last reference to the watcher is released outside the lock.
        let watcher = state.withLock { state -> ChangeSignal? in
            let watcher = state.watchers[slot]?.removeValue(forKey: number)
            if state.watchers[slot]?.isEmpty == true { state.watchers[slot] = nil }
            return watcher
        }
        withExtendedLifetime(watcher) {}
    }
}
