/// A queue of elements by the time at which they are due. Each key has at most one element, whose time can be changed.
///
/// It is a binary heap that knows the place of each key. Setting and removing take logarithmic time.
struct DueQueue<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        let key: Key
        let time: Duration
        let element: Element
    }

    private var heap: [Entry] = []
    private var places: [Key: Int] = [:]

    /// The number of elements.
    var count: Int { heap.count }
    /// The least time; `nil` if the queue is empty.
    var first: Duration? { heap.first?.time }

    /// Sets the element of a key and its time.
    mutating func set(_ key: Key, at time: Duration, _ element: Element) {
        let entry = Entry(key: key, time: time, element: element)
        let place = places[key] ?? heap.count
        if place == heap.count { heap.append(entry) } else { heap[place] = entry }
        places[key] = place
        settle(place)
    }

    /// Removes the element of a key.
    ///
    /// - Returns: The element; `nil` if there was none.
    @discardableResult
    mutating func remove(_ key: Key) -> Element? {
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

    /// Removes elements that are due, in the order of their times.
    ///
    /// - Parameters:
    ///   - now: The present time. An element is due at its own time.
    ///   - limit: The maximum number of elements.
    mutating func takeDue(at now: Duration, limit: Int) -> [Element] {
        var due: [Element] = []
        while due.count < limit, let first = heap.first, first.time <= now, let element = remove(first.key) {
            due.append(element)
        }
        return due
    }

    /// Moves an entry to where it belongs.
    private mutating func settle(_ start: Int) {
        var place = start
        while place > 0, heap[place].time < heap[(place - 1) / 2].time {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        while true {
            let left = place * 2 + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && heap[right].time < heap[left].time ? right : left
            guard heap[child].time < heap[place].time else { return }
            swap(place, child)
            place = child
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        places[heap[one].key] = one
        places[heap[other].key] = other
    }
}
