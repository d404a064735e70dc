import EssentialsTools

/// A moment in the order of all operations and clearings of the process.
///
/// An operation takes the epoch of now when it begins, before it reads credentials or settings. A store that is cleared
/// begins a new epoch and notes it. What an operation of an older epoch brings is then not stored any more: a late
/// response cannot bring back what a logout has removed.
///
/// ```swift
/// let begun = Epoch.now                               // before the request is sent
/// clearings.clear(host)                               // meanwhile, under the lock of the store
/// guard !clearings.forbid(host, since: begun) else { return }
/// ```
package struct Epoch: Sendable, Hashable, Comparable {
    private static let latest = Atomic<UInt64>(0)

    /// Greater than those of all earlier epochs of the process.
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    /// The epoch of now. It reads one number.
    package static var now: Epoch { Epoch(number: latest.load(ordering: .sequentiallyConsistent)) }
    /// An epoch before all others, for what was there before the process began.
    package static let first = Epoch(number: 0)

    /// Begins a new epoch. All operations that have begun belong to an earlier one.
    package static func begin() -> Epoch {
        Epoch(number: latest.add(1, ordering: .sequentiallyConsistent).newValue)
    }

    package static func < (one: Epoch, other: Epoch) -> Bool { one.number < other.number }
}

/// The latest clearing of each part of a store. It is a value that the store keeps under its lock.
///
/// At most ``maximum`` parts are remembered. Beyond that the oldest clearing counts for the whole store, so that nothing
/// which had to go comes back; an operation that began before it merely stores nothing.
package struct Clearings<Part: Hashable & Sendable>: Sendable {
    /// The maximum number of parts that are remembered.
    package static var maximum: Int { 256 }

    private var epochs: [Part: Epoch] = [:]
    /// What began before this is not stored, whatever part it belongs to.
    private var whole = Epoch.first

    package init() {}

    /// Notes that a part of the store is cleared now, and returns the epoch that begins with it.
    @discardableResult
    package mutating func clear(_ part: Part) -> Epoch {
        let epoch = Epoch.begin()
        epochs[part] = epoch
        if epochs.count > Self.maximum, let oldest = epochs.min(by: { $0.value < $1.value }) {
            whole = max(whole, oldest.value)
            epochs[oldest.key] = nil
        }
        return epoch
    }

    /// Notes that the whole store is cleared now, and returns the epoch that begins with it.
    @discardableResult
    package mutating func clearAll() -> Epoch {
        whole = Epoch.begin()
        epochs = [:]
        return whole
    }

    /// Whether a part was cleared after an operation had begun.
    package func forbid(_ part: Part, since begun: Epoch) -> Bool {
        begun < whole || epochs[part].map { begun < $0 } ?? false
    }

    /// Whether a part that meets a condition was cleared after an operation had begun.
    package func forbid(since begun: Epoch, where concerns: (Part) -> Bool) -> Bool {
        if begun < whole { return true }
        return epochs.contains { begun < $0.value && concerns($0.key) }
    }
}
