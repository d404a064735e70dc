/// The elements that a mailbox keeps until they are read.
package protocol MailboxContents: Sendable {
    associatedtype Element: Sendable

    /// Removes and returns the next element; `nil` if there is no element.
    mutating func take() -> Element?
}

/// Passes elements to one reader at a time, which waits for the next one.
///
/// The contents decide which elements are kept without a reader, and what happens when they are full. Nothing is
/// resumed or released under the lock.
package final class Mailbox<Contents: MailboxContents>: Sendable {
    package typealias Element = Contents.Element
    private typealias Reader = CheckedContinuation<Element?, Never>

    private struct State {
        var contents: Contents
        var reader: Reader?
        var isFinished = false
    }

    /// An element on its way to a reader.
    package struct Delivery: Sendable {
        fileprivate let reader: CheckedContinuation<Element?, Never>
        fileprivate let element: Element

        /// Resumes the reader. It must be called exactly once, without holding a lock.
        package func make() { reader.resume(returning: element) }
    }

    private let state: Mutex<State>

    package init(_ contents: Contents) { state = Mutex(State(contents: contents)) }

    /// Changes the contents. A waiting reader receives the next element, if there is one now.
    ///
    /// - Parameter body: The change. It returns the elements that it removes, so that they are not released under the
    ///   lock.
    @discardableResult
    package func change<Result: Sendable>(_ body: (inout Contents) -> Result) -> Result {
        let (result, delivery) = changeHeld(body)
        delivery?.make()
        return result
    }

    /// Like ``change(_:)``, for a caller that holds a lock.
    ///
    /// - Returns: The result of the change, and the delivery to make after releasing the lock.
    package func changeHeld<Result: Sendable>(_ body: (inout Contents) -> Result) -> (Result, Delivery?) {
        state.withLock { state in
            let result = body(&state.contents)
            guard let reader = state.reader, let element = state.contents.take() else { return (result, nil) }
            state.reader = nil
            return (result, Delivery(reader: reader, element: element))
        }
    }

    /// Ends the mailbox: a waiting reader receives `nil`. Elements that are already there can still be read.
    package func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// The next element.
    ///
    /// - Returns: `nil` if the task is cancelled, and at the end.
    package func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (element, earlier, isReady) = state.withLock { state -> (Element?, Reader?, Bool) in
                    // If the cancellation came first, its handler has found no reader.
                    if Task.isCancelled { return (nil, nil, true) }
                    if let element = state.contents.take() { return (element, nil, true) }
                    if state.isFinished { return (nil, nil, true) }
                    // Two tasks must not read with one iterator. If they do, the earlier one ends.
                    defer { state.reader = continuation }
                    return (nil, state.reader, false)
                }
                earlier?.resume(returning: nil)
                if isReady { continuation.resume(returning: element) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(returning: nil)
        }
    }
}

// MARK: In order

/// Elements in order, up to a limit.
package struct BoundedQueue<Element: Sendable>: MailboxContents {
    /// The handling of an element when the queue is full.
    package enum Overflow: Sendable {
        /// The oldest element is dropped.
        case dropsOldest
        /// The element itself is dropped.
        case dropsNewest
    }

    private var elements = Fifo<Element>()
    private let limit: Int
    private let overflow: Overflow

    /// - Parameter limit: The maximum number of elements, at least 1.
    package init(limit: Int, _ overflow: Overflow) { (self.limit, self.overflow) = (max(1, limit), overflow) }

    /// Adds an element.
    ///
    /// - Returns: The element that was dropped for it.
    package mutating func put(_ element: Element) -> Element? {
        guard elements.count >= limit else {
            elements.append(element)
            return nil
        }
        guard overflow == .dropsOldest else { return element }
        defer { elements.append(element) }
        return elements.popFirst()
    }

    package mutating func take() -> Element? { elements.popFirst() }
}

extension Mailbox {
    /// Adds an element.
    ///
    /// - Returns: Whether no element was dropped for it.
    @discardableResult
    package func put<Value>(_ element: Value) -> Bool where Contents == BoundedQueue<Value> {
        change { $0.put(element) } == nil
    }
}
