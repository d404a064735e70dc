import EssentialsTransport

/// A queue from which the more urgent come first, and equals in their order.
struct PriorityFifo<Element> {
    /// The most urgent first; none until somebody comes.
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
