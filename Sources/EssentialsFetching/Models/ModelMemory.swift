import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// Decoded models by their slots, up to a number and a size, and the order of the operations on them, as a pure value.
///
/// Encoding and reading take time, so an operation has a beginning and an end. A save counts only if no change of the
/// same slot that began later has already ended. A read counts only if there was no change meanwhile.
///
/// Removed models are returned, so that the caller can release them outside its lock.
struct ModelMemory: Sendable {
    /// The beginning of an operation.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
        fileprivate let changes: UInt64
    }

    /// A model, and the facts that do not depend on its type.
    struct Entry: Sendable {
        /// The box of a ``CachedModel``.
        let model: FetchedModel
        let date: Date
        /// The origin with whose credentials the model was received, without an account.
        var credentials: Origin?
        /// The provenance of a model that a fetch of this process has received.
        var provenance: ModelProvenance?

        /// Whether the model must not be shown any more, because its removal is about to begin.
        var isHidden: Bool { credentials != nil && provenance?.hasEnded == true }
    }

    /// A part of the models that is removed together.
    private enum Part: Hashable, Sendable {
        case partition(EntityPartition)
        case credentials(Origin)
    }

    private struct Operations: Sendable {
        /// The number of operations that have begun and not ended.
        var count = 0
        /// The number of the newest change.
        var newest: UInt64 = 0
        /// The number of changes.
        var changes: UInt64 = 0
    }

    private var entries: LeastRecentlyUsed<ModelSlot, Entry>
    private var operations: [ModelSlot: Operations] = [:]
    private var lastNumber: UInt64 = 0
    private var clearings = Clearings<Part>()
    /// The origins with whose credentials a model was kept; `nil` if there were too many.
    private var origins: Set<Origin>? = []

    /// The maximum number of origins, which is more than an application fetches from with credentials.
    private static let maximumOrigins = 64

    init(maximumCount: Int, maximumBytes: Int) {
        entries = LeastRecentlyUsed(maximumCount: maximumCount, maximumBytes: maximumBytes)
    }

    /// The number of models.
    var count: Int { entries.count }
    /// The approximate size of all models.
    var bytes: Int { entries.bytes }
    /// The number of slots with operations that have not ended.
    var operationCount: Int { operations.count }

    /// Returns the model in a slot. This counts as a use.
    mutating func use(_ slot: ModelSlot) -> Entry? { entries.use(slot) }

    // MARK: Operations

    /// Begins an operation. ``end(_:)`` must be called for it.
    mutating func begin(_ slot: ModelSlot) -> Ticket {
        lastNumber += 1
        operations[slot, default: Operations()].count += 1
        return Ticket(number: lastNumber, changes: operations[slot]?.changes ?? 0)
    }

    /// Returns whether a change counts. If it does, changes that began earlier no longer count.
    mutating func claims(_ slot: ModelSlot, _ ticket: Ticket) -> Bool {
        guard let known = operations[slot], ticket.number > known.newest else { return false }
        operations[slot]?.newest = ticket.number
        operations[slot]?.changes += 1
        return true
    }

    /// Whether there was no change since an operation began.
    func isUnchanged(_ slot: ModelSlot, since ticket: Ticket) -> Bool { operations[slot]?.changes == ticket.changes }

    /// Ends an operation.
    mutating func end(_ slot: ModelSlot) {
        guard let known = operations[slot] else { return }
        if known.count > 1 { operations[slot]?.count -= 1 } else { operations[slot] = nil }
    }

    // MARK: Contents

    /// Keeps a model as the newest one. A model that is larger than the maximum is not kept.
    ///
    /// - Returns: The models that were removed for it.
    mutating func insert(_ entry: Entry, for slot: ModelSlot, bytes: Int) -> [Entry] {
        var removed: [Entry] = []
        if let earlier = entries.remove(slot) { removed.append(earlier) }
        let bytes = min(max(bytes, 0), 1 << 60) + slot.byteCount
        guard bytes <= entries.maximumBytes, entries.maximumCount > 0 else { return removed }
        while entries.count >= entries.maximumCount || entries.bytes + bytes > entries.maximumBytes {
            guard let oldest = entries.removeOldest()?.value else { break }
            removed.append(oldest)
        }
        _ = entries.insert(entry, for: slot, bytes: bytes)
        return removed
    }

    /// Removes a model. Changes of the slot that have already begun no longer count.
    mutating func remove(_ slot: ModelSlot) -> Entry? {
        supersede(slot)
        return entries.remove(slot)
    }

    /// Removes the models of a partition, or all models. Changes that have already begun no longer count.
    mutating func removeAll(of partition: EntityPartition?) -> [Entry] {
        if let partition { clearings.clear(.partition(partition)) } else { clearings.clearAll() }
        let isRemoved = { (slot: ModelSlot) in partition == nil || slot.partition == partition }
        for slot in operations.keys where isRemoved(slot) { supersede(slot) }
        return entries.keys.filter(isRemoved).compactMap { entries.remove($0) }
    }

    /// Removes the models that were received with the credentials of an origin and without an account.
    ///
    /// - Parameter all: Whether to remove all models without an account.
    mutating func removeAll(ofCredentials origin: Origin, all: Bool) -> [Entry] {
        clearings.clear(.credentials(origin))
        if all { clearings.clear(.partition(.shared)) }
        // Models that are being read may have been removed from the entity cache.
        for slot in operations.keys where slot.partition.isShared { operations[slot]?.changes += 1 }
        let removed = entries.keys.filter { slot in
            slot.partition.isShared && (all || entries.value(of: slot)?.credentials == origin)
        }
        return removed.compactMap { entries.remove($0) }
    }

    /// Whether the model of an operation that began at a moment must not be kept, because its part was removed since.
    func forbids(_ partition: EntityPartition, _ credentials: Origin?, since begun: Epoch) -> Bool {
        if clearings.forbid(.partition(partition), since: begun) { return true }
        return credentials.map { clearings.forbid(.credentials($0), since: begun) } ?? false
    }

    /// Records that a model was kept that was received with the credentials of an origin.
    mutating func note(credentials origin: Origin) {
        origins?.insert(origin)
        if let count = origins?.count, count > Self.maximumOrigins { origins = nil }
    }

    /// Whether a model may have been kept that was received with the credentials of an origin.
    func mayHold(credentials origin: Origin) -> Bool { origins?.contains(origin) ?? true }

    /// Removes a part of the models, beginning with those that were used longest ago.
    mutating func trim(part: Double) -> [Entry] {
        // A part that is not a number removes nothing.
        guard part > 0 else { return [] }
        let number = Int(Double(entries.count) * min(part, 1))
        return (0..<number).compactMap { _ in entries.removeOldest()?.value }
    }

    private mutating func supersede(_ slot: ModelSlot) {
        guard operations[slot] != nil else { return }
        lastNumber += 1
        operations[slot]?.newest = lastNumber
        operations[slot]?.changes += 1
    }
}
