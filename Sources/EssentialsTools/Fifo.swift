// The queues are inlinable, so that other modules specialize them for their elements.

/// A queue that releases each element as soon as it is popped. The first element has the index 0.
package struct Fifo<Element>: RandomAccessCollection {
    @usableFromInline var elements: [Element?] = []
    /// The number of popped elements whose slots still exist.
    @usableFromInline var first = 0

    @inlinable
    package init() {}

    @inlinable
    package init(_ elements: some Sequence<Element>) { self.elements = elements.map { $0 } }

    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { elements.count - first }
    @inlinable package var count: Int { elements.count - first }
    @inlinable package var isEmpty: Bool { elements.count == first }

    @inlinable
    package subscript(position: Int) -> Element {
        get {
            guard let element = elements[first + position] else { preconditionFailure("An element is missing.") }
            return element
        }
        set { elements[first + position] = newValue }
    }

    @inlinable
    package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count {
            // Frees the memory that a burst has allocated.
            elements.removeAll(keepingCapacity: elements.capacity <= 1_024)
            first = 0
        } else if first >= 64, first * 2 >= elements.count {
            // An element is moved at most once for every element that was popped.
            elements.removeFirst(first)
            first = 0
        }
        return element
    }

    /// Removes elements, and keeps the order of the others.
    @inlinable
    package mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        elements = try elements[first...].filter { element in try element.map { try !isRemoved($0) } ?? false }
        first = 0
    }
}

extension Fifo: Sendable where Element: Sendable {}

/// A queue that returns the most urgent elements first, and equally urgent ones in the order of their arrival.
package struct PriorityFifo<Element> {
    /// One queue for each level, the most urgent first. A level is added with its first element.
    @usableFromInline var levels: [Fifo<Element>] = []

    @inlinable
    package init() {}

    @inlinable package var count: Int { levels.reduce(0) { $0 + $1.count } }

    /// The elements in the order in which they would be returned.
    @inlinable package var all: [Element] { levels.flatMap { $0 } }

    /// - Parameter level: The urgency of the element: 0 is the most urgent level.
    @inlinable
    package mutating func append(_ element: Element, level: Int) {
        while levels.count <= level { levels.append(Fifo()) }
        levels[level].append(element)
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        for index in levels.indices where !levels[index].isEmpty { return levels[index].popFirst() }
        return nil
    }

    /// Removes elements, and keeps the order of the others.
    @inlinable
    package mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        for index in levels.indices { try levels[index].removeAll(where: isRemoved) }
    }
}

extension PriorityFifo: Sendable where Element: Sendable {}
