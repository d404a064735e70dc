import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// The resources whose content was set without a known size. They are measured when they are no longer used.
///
/// The end of a resource's use cannot be observed, so some resources are examined now and then: new ones first, and as
/// many of those that were in use at the last examination. Each call examines only a few, so its time does not depend
/// on their number.
struct UnmeasuredOrder: Sendable {
    private var new = Heap<Int32, Int64, Int32>()
    private var held = Heap<Int32, Int64, Int32>()
    private var lastTurn: Int64 = 0

    /// The number of resources.
    var count: Int { new.count + held.count }

    /// Adds a resource whose content was just set.
    mutating func add(_ index: Int32) {
        held.remove(index)
        new.set(index, at: nextTurn(), index)
    }

    /// Removes a resource whose size is known, or which was dropped.
    mutating func remove(_ index: Int32) {
        guard count > 0 else { return }
        new.remove(index)
        held.remove(index)
    }

    /// Takes out unused resources.
    ///
    /// - Parameters:
    ///   - looks: How many resources are examined of those that were never examined, and how many of the others.
    ///   - isUsed: Whether a resource is in use.
    mutating func takeUnused(looks: Int, isUsed: (Int32) -> Bool) -> [Int32] {
        var unused: [Int32] = []
        let again = held.takeDue(at: lastTurn, limit: looks)
        for index in new.takeDue(at: lastTurn, limit: looks) + again {
            if isUsed(index) { held.set(index, at: nextTurn(), index) } else { unused.append(index) }
        }
        return unused
    }

    private mutating func nextTurn() -> Int64 {
        lastTurn += 1
        return lastTurn
    }
}

/// The size in bytes with which content counts against the limit of unused resources.
enum ContentSize {
    /// The size of content that cannot be encoded. With it, 2,048 contents reach the limit of 32 MiB, and 2,048 is also
    /// the limit of their number.
    static let estimate = 16 << 10

    /// The size of bytes and texts; `nil` for other contents.
    static func known(_ content: any Sendable) -> Int? {
        switch content {
        case let data as Data: data.count
        case let bytes as [UInt8]: bytes.count
        case let text as String: text.utf8.count
        case let text as Substring: text.utf8.count
        default: nil
        }
    }

    /// The size of content: that of its bytes or text, otherwise that of its JSON, otherwise the estimate. This runs
    /// foreign code, so it is called without a lock.
    static func measured(_ content: any Sendable) -> Int {
        if let known = known(content) { return known }
        guard let model = content as? any Encodable else { return estimate }
        return (try? ModelCoding.encodeInPlace(model).count) ?? estimate
    }
}
