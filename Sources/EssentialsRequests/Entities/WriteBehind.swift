import EssentialsHTTP
import EssentialsTools

/// The changes that wait until a cache has taken those before them, as a pure value.
///
/// Of the changes for one key only their sum is kept, and one is not begun before the previous one for that key has ended.
/// Over the limits the oldest entities are dropped. Removals are never dropped: if there are too many, they become one
/// removal of all of their accounts, because a cache may forget what it likes but must not show what was removed.
package struct WriteBehind: Sendable {
    /// A change for one key.
    package enum Change: Sendable, Hashable {
        case store(StoredEntity)
        case revalidate(EntityConfirmation)
        case remove
    }

    /// What is to be done next.
    package enum Work: Sendable {
        case change(EntityKey, Change)
        case removeAll(EntityScope, number: UInt64)
    }

    /// What is known about a key without the cache.
    enum Knowledge: Sendable, Hashable {
        /// This entity is or will be stored.
        case entity(StoredEntity)
        /// There is or will be none.
        case none
        /// What the cache has, with a confirmation that waits.
        case cached(EntityConfirmation?)
    }

    fileprivate struct Entry: Sendable {
        var change: Change
        /// The place in the order.
        let number: UInt64
        /// Whether the key must be removed if this change is not made.
        var replacesRemoval: Bool

        var bytes: Int {
            if case .store(let entity) = change { entity.byteCount } else { 0 }
        }
        var isDroppable: Bool {
            if case .remove = change { false } else { true }
        }
    }

    private struct Removal: Sendable {
        /// The removals of which this one is made.
        let parts: [EntityScope]
        let scope: EntityScope
        let number: UInt64

        init(_ parts: [EntityScope], number: UInt64) {
            scope = .union(parts)
            self.parts = parts.count > EntityScope.maximumParts ? [scope] : parts
            self.number = number
        }
    }

    /// The size of the entities that may wait, unless another one is given.
    package static let standardBytes = 16 << 20
    /// The maximum number of removals of scopes that wait.
    static let maximumRemovals = 16

    package let maximumCount: Int
    package let maximumBytes: Int
    /// How many entities were dropped because of the limits.
    private(set) var dropped = 0
    /// The size of the entities that wait.
    private(set) var bytes = 0
    private var entries: [EntityKey: Entry] = [:]
    /// The keys in the order of their first change. Numbers that do not match an entry are of changes that are gone.
    private var order = Fifo<(number: UInt64, key: EntityKey)>()
    private var removals: [Removal] = []
    /// What has failed to be removed, and is not tried again before ``resume()``.
    private var postponed: [Removal] = []
    private var postponedKeys: Set<EntityKey> = []
    /// The removals of scopes that operations must not undo which began before.
    private var removed = RemovedScopes()
    private var running: (key: EntityKey, entry: Entry)?
    private var runningRemoval: Removal?
    private var lastNumber: UInt64 = 0

    /// Creates an empty queue.
    package init(maximumCount: Int = 1_000, maximumBytes: Int = Self.standardBytes) {
        (self.maximumCount, self.maximumBytes) = (max(maximumCount, 1), max(maximumBytes, 0))
    }

    /// Whether nothing waits and nothing runs.
    package var isIdle: Bool { entries.isEmpty && removals.isEmpty && running == nil && runningRemoval == nil }
    /// The number of changes that wait.
    package var count: Int { entries.count + removals.count }

    // MARK: Adding

    /// Adds a change of an operation that began at a time, unless the entity was removed with a scope since.
    package mutating func add(_ change: Change, for key: EntityKey, since begun: Epoch) {
        if !wasRemoved(key, since: begun) { add(change, for: key) }
    }

    /// Whether the entity of a key was removed with a scope after an operation had begun.
    func wasRemoved(_ key: EntityKey, since begun: Epoch) -> Bool { removed.contain(key, since: begun) }

    /// Adds a change.
    package mutating func add(_ change: Change, for key: EntityKey) {
        if let entry = entries[key] {
            set(key, entry.adding(change))
        } else {
            insert(key, change, replacesRemoval: false)
        }
        enforceLimits()
    }

    /// Adds the removal of a scope. Changes of its keys that wait are dropped.
    ///
    /// - Returns: The number of the removal.
    @discardableResult
    package mutating func removeAll(in scope: EntityScope) -> UInt64 {
        for key in entries.keys.filter({ scope.contains($0) }) { take(key) }
        removed.note(scope)
        lastNumber += 1
        if removals.count >= Self.maximumRemovals {
            removals = [Removal(removals.flatMap(\.parts) + [scope], number: lastNumber)]
        } else {
            removals.append(Removal([scope], number: lastNumber))
        }
        return lastNumber
    }

    /// Whether a removal has not been made.
    var hasRemoval: Bool {
        if !removals.isEmpty || !postponed.isEmpty || runningRemoval != nil || !postponedKeys.isEmpty { return true }
        return entries.values.contains { $0.replacesRemoval && !$0.isDroppable }
    }

    // MARK: Working

    /// Takes out what is to be done next; `nil` if something runs or nothing waits.
    ///
    /// Removals of scopes come first. Changes of their keys that were added before are gone, so no order is lost.
    package mutating func next() -> Work? {
        guard running == nil, runningRemoval == nil else { return nil }
        if !removals.isEmpty {
            let removal = removals.removeFirst()
            runningRemoval = removal
            return .removeAll(removal.scope, number: removal.number)
        }
        while let (number, key) = order.popFirst() {
            guard let entry = entries[key], entry.number == number else { continue }
            take(key)
            running = (key, entry)
            return .change(key, entry.change)
        }
        return nil
    }

    /// Ends what ``next()`` has returned. A removal that has failed is tried again.
    ///
    /// - Parameter isPostponed: Whether this is not done before ``resume()``. Until then it hides its entities.
    package mutating func end(isDone: Bool, isPostponed: Bool = false) {
        if let removal = runningRemoval {
            runningRemoval = nil
            guard !isDone else { return }
            if isPostponed { postponed.append(removal) } else { removals.insert(removal, at: 0) }
        } else if let (key, entry) = running {
            running = nil
            guard !isDone, entry.replacesRemoval || !entry.isDroppable else { return }
            guard !removals.contains(where: { $0.scope.contains(key) }) else { return }
            if isPostponed { postponedKeys.insert(key) } else { removeAgain(key) }
        }
    }

    /// Lets what was postponed be tried again.
    package mutating func resume() {
        removals = postponed + removals
        let keys = postponedKeys
        (postponed, postponedKeys) = ([], [])
        for key in keys { removeAgain(key) }
    }

    /// Adds a removal before the change that waits for the key.
    private mutating func removeAgain(_ key: EntityKey) {
        if let later = entries[key] {
            var removal = later
            removal.change = .remove
            removal.replacesRemoval = true
            set(key, removal.adding(later.change))
        } else {
            insert(key, .remove, replacesRemoval: true)
            enforceLimits()
        }
    }

    // MARK: Reading

    /// What is known about a key.
    func knowledge(of key: EntityKey) -> Knowledge {
        if let entry = entries[key] {
            guard case .revalidate(let confirmation) = entry.change else { return Self.knowledge(of: entry.change) }
            switch earlierKnowledge(of: key) {
            case .entity(let entity): return .entity(entity.revalidated(by: confirmation))
            case .none: return .none
            case .cached(let earlier): return .cached(earlier?.adding(confirmation) ?? confirmation)
            }
        }
        return earlierKnowledge(of: key)
    }

    private func earlierKnowledge(of key: EntityKey) -> Knowledge {
        if runningRemoval?.scope.contains(key) == true || removals.contains(where: { $0.scope.contains(key) }) {
            return .none
        }
        if postponedKeys.contains(key) || postponed.contains(where: { $0.scope.contains(key) }) { return .none }
        guard let running, running.key == key else { return .cached(nil) }
        return Self.knowledge(of: running.entry.change)
    }

    private static func knowledge(of change: Change) -> Knowledge {
        switch change {
        case .store(let entity): .entity(entity)
        case .remove: .none
        case .revalidate(let confirmation): .cached(confirmation)
        }
    }

    // MARK: Entries

    private mutating func insert(_ key: EntityKey, _ change: Change, replacesRemoval: Bool) {
        lastNumber += 1
        order.append((lastNumber, key))
        set(key, Entry(change: change, number: lastNumber, replacesRemoval: replacesRemoval))
    }

    private mutating func set(_ key: EntityKey, _ entry: Entry) {
        bytes += entry.bytes - (entries.updateValue(entry, forKey: key)?.bytes ?? 0)
    }

    private mutating func take(_ key: EntityKey) {
        bytes -= entries.removeValue(forKey: key)?.bytes ?? 0
    }

    private mutating func enforceLimits() {
        var position = 0
        while bytes > maximumBytes || entries.count > maximumCount {
            guard position < order.count else {
                // Only removals are left. Accounts for which nothing is removed keep what they have.
                let partitions = Set(entries.keys.map(\.partition))
                removeAll(in: EntityScope(partition: partitions.count == 1 ? partitions.first : nil))
                break
            }
            let (number, key) = order[position]
            position += 1
            guard let entry = entries[key], entry.number == number, entry.isDroppable else { continue }
            // An entity that is dropped for its size only, and follows a removal, becomes that removal again.
            if entry.replacesRemoval {
                guard entry.bytes > 0 else { continue }
                set(key, Entry(change: .remove, number: number, replacesRemoval: true))
            } else {
                take(key)
            }
            dropped += 1
        }
        // Numbers of changes that are gone do not pile up.
        if order.count > 2 * maximumCount {
            order.removeAll { [entries] in entries[$0.key]?.number != $0.number }
        }
    }
}

extension WriteBehind.Entry {
    /// The sum of a change and a later one.
    fileprivate func adding(_ later: WriteBehind.Change) -> Self {
        var sum = self
        switch (change, later) {
        case (.store(let entity), .revalidate(let confirmation)):
            sum.change = .store(entity.revalidated(by: confirmation))
        case (.revalidate(let earlier), .revalidate(let confirmation)):
            sum.change = .revalidate(earlier.adding(confirmation))
        case (.remove, .revalidate): break
        case (.remove, _):
            sum.change = later
            sum.replacesRemoval = true
        case (_, .store), (_, .remove): sum.change = later
        }
        return sum
    }
}
