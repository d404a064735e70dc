import EssentialsTools

/// The resources whose content was set without a known size, until nobody uses them any more and they are measured.
///
/// Nothing says when a resource is no longer used, so some are looked at now and then: first those that nobody has looked
/// at yet, and as many of those that were in use at the time. Each call looks at a few, so its time does not depend on
/// their number.
struct UnmeasuredOrder: Sendable {
    private var new = Heap<Int32, Int64, Int32>()
    private var held = Heap<Int32, Int64, Int32>()
    private var lastTurn: Int64 = 0

    /// The number of resources.
    var count: Int { new.count + held.count }

    /// Adds a resource, whose content was set now.
    mutating func add(_ index: Int32) {
        held.remove(index)
        new.set(index, at: nextTurn(), index)
    }

    /// Removes a resource, whose size is known, or which was dropped.
    mutating func remove(_ index: Int32) {
        guard count > 0 else { return }
        new.remove(index)
        held.remove(index)
    }

    /// Takes out the resources that nobody uses.
    ///
    /// - Parameters:
    ///   - looks: How many are looked at of those that nobody has looked at, and of the others.
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
