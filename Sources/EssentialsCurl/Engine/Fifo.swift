/// A queue that gives up what it hands out at once: a popped element's memory goes with it.
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
            // Each element is moved at most once for each that was popped.
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}
