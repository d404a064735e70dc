// The heap is inlinable, so that other modules specialize it for their elements.

/// A queue of elements by their order, such as the time at which they are due. Each key has at most one element, whose
/// place can be changed.
///
/// It is a binary heap that knows the place of each key. Setting and removing take logarithmic time. Elements of equal
/// order leave in any order.
package struct Heap<Key: Hashable, Order: Comparable, Element> {
    @usableFromInline
    struct Entry {
        @usableFromInline let key: Key
        @usableFromInline let order: Order
        @usableFromInline let element: Element

        @inlinable
        init(key: Key, order: Order, element: Element) {
            (self.key, self.order, self.element) = (key, order, element)
        }
    }

    @usableFromInline var heap: [Entry] = []
    @usableFromInline var places: [Key: Int] = [:]

    @inlinable
    package init() {}

    /// The number of elements.
    @inlinable package var count: Int { heap.count }
    /// The smallest order; `nil` if the queue is empty.
    @inlinable package var first: Order? { heap.first?.order }

    /// Sets the element of a key and its order.
    @inlinable
    package mutating func set(_ key: Key, at order: Order, _ element: Element) {
        let entry = Entry(key: key, order: order, element: element)
        let place = places[key] ?? heap.count
        if place == heap.count { heap.append(entry) } else { heap[place] = entry }
        places[key] = place
        settle(place)
    }

    /// Removes the element of a key.
    ///
    /// - Returns: The element; `nil` if the key had none.
    @discardableResult @inlinable
    package mutating func remove(_ key: Key) -> Element? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        let removed = heap[place].element
        let last = heap.removeLast()
        if place < heap.count {
            heap[place] = last
            places[last.key] = place
            settle(place)
        }
        return removed
    }

    /// Removes elements that are due, in their order.
    ///
    /// - Parameters:
    ///   - now: The present time. An element is due at its own time.
    ///   - limit: The maximum number of elements.
    @inlinable
    package mutating func takeDue(at now: Order, limit: Int) -> [Element] {
        var due: [Element] = []
        while due.count < limit, let first = heap.first, first.order <= now, let element = remove(first.key) {
            due.append(element)
        }
        return due
    }

    /// Removes all elements, in their order. It takes as long as sorting them.
    @inlinable
    package mutating func takeAll() -> [Element] {
        defer { (heap, places) = ([], [:]) }
        return heap.sorted { $0.order < $1.order }.map(\.element)
    }

    /// Moves an entry to its correct position.
    @inlinable
    mutating func settle(_ start: Int) {
        var place = start
        while place > 0, heap[place].order < heap[(place - 1) / 2].order {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        while true {
            let left = place * 2 + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && heap[right].order < heap[left].order ? right : left
            guard heap[child].order < heap[place].order else { return }
            swap(place, child)
            place = child
        }
    }

    @inlinable
    mutating func swap(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        places[heap[one].key] = one
        places[heap[other].key] = other
    }
}

extension Heap: Sendable where Key: Sendable, Order: Sendable, Element: Sendable {}
extension Heap.Entry: Sendable where Key: Sendable, Order: Sendable, Element: Sendable {}
