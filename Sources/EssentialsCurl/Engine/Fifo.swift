import EssentialsTransport

/// A queue that releases each element as soon as it is popped.
struct Fifo<Element> {
    private var elements: [Element?] = []
    private var first = 0

    var count: Int { elements.count - first }
    var isEmpty: Bool { first == elements.count }

    /// The elements in the order in which they came.
    var all: [Element] { elements[first...].compactMap { $0 } }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count {
            elements.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 64, first * 2 >= elements.count {
            // An element is moved at most once for every element that was popped.
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}

/// A queue that hands out the most urgent elements first, and equally urgent ones in the order in which they came.
struct PriorityFifo<Element> {
    /// One queue for each priority, the most urgent first. It is empty until the first element comes.
    private var levels: [Fifo<Element>] = []

    var count: Int { levels.reduce(0) { $0 + $1.count } }

    /// The elements in the order in which they would be handed out.
    var all: [Element] { levels.flatMap(\.all) }

    mutating func append(_ element: Element, _ priority: RequestPriority) {
        if levels.isEmpty { levels = RequestPriority.allCases.map { _ in Fifo() } }
        levels[levels.count - 1 - priority.rawValue].append(element)
    }

    mutating func popFirst() -> Element? {
        for index in levels.indices where !levels[index].isEmpty { return levels[index].popFirst() }
        return nil
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        for index in levels.indices {
            var kept = Fifo<Element>()
            while let element = levels[index].popFirst() {
                if !isRemoved(element) { kept.append(element) }
            }
            levels[index] = kept
        }
    }
}
