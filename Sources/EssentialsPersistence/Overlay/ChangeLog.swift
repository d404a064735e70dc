/// The rows that the latest versions of a level changed. It is bounded, so old versions are forgotten.
package struct ChangeLog: Sendable {
    /// The minimum number of changes that are kept. Up to twice as many are kept for a short time.
    package static let capacity = 4096

    /// The keys, oldest first. Each belongs to one version.
    private var keys: [RowKey] = []
    /// The version before the first key.
    private var start: UInt64 = 0

    /// The number of changes so far.
    package var version: UInt64 { start + UInt64(keys.count) }

    package init() {}

    package mutating func append(_ key: RowKey) {
        keys.append(key)
        guard keys.count >= Self.capacity * 2 else { return }
        keys.removeFirst(Self.capacity)
        start += UInt64(Self.capacity)
    }

    /// Forgets all changes. One new version stands for a change of unknown extent.
    package mutating func forget() {
        start = version + 1
        keys.removeAll()
    }

    /// The rows that were changed since a version; `nil` if the log does not reach back that far, or does not know the
    /// version.
    package func keys(since version: UInt64) -> Set<RowKey>? {
        guard version >= start, version <= self.version else { return nil }
        return Set(keys[Int(version - start)...])
    }
}
