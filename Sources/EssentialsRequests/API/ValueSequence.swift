package import EssentialsTools

/// Values that come one after another, such as the states of a resource. Each iteration reads them for itself.
///
/// ```swift
/// for await cart in shop.cart.contents { show(cart) }
/// ```
///
/// An iteration observes from the creation of its iterator until the iterator is released. A loop releases it when it ends,
/// also because the calling task is cancelled. A slow reader delays nobody: the function that returns the sequence says which
/// values such a reader misses.
public struct ValueSequence<Element>: AsyncSequence, Sendable {
    /// Reading never fails.
    public typealias Failure = Never

    private let begin: @Sendable () -> AsyncIterator

    /// Creates a sequence.
    ///
    /// - Parameter begin: Begins an iteration.
    package init(_ begin: @escaping @Sendable () -> AsyncIterator) { self.begin = begin }

    /// Begins an iteration.
    public func makeAsyncIterator() -> AsyncIterator { begin() }

    /// Reads the values on the caller's actor. It belongs to one task.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let place: AnyObject?
        private let read: () async -> Element?

        /// Creates an iterator.
        ///
        /// - Parameters:
        ///   - place: An object that is held as long as the iterator.
        ///   - read: Returns the next element; `nil` at the end. It is called by one task at a time.
        package init(holding place: AnyObject? = nil, _ read: @escaping () async -> Element?) {
            (self.place, self.read) = (place, read)
        }

        /// Creates an iterator that reads an element at the beginning and after each signal.
        ///
        /// - Parameters:
        ///   - place: An object that is held as long as the iterator.
        ///   - signal: Its end ends the iteration.
        ///   - read: Returns the element; `nil` if there is none before the next signal.
        package init(
            holding place: AnyObject?, after signal: ChangeSignal, _ read: @escaping () async -> Element?
        ) {
            self.init(holding: place) {
                while await signal.next() {
                    if let element = await read() { return element }
                }
                return nil
            }
        }

        /// The next value; `nil` at the end, and if the calling task is cancelled.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// The next value, for a caller that is isolated to an actor; see ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            defer { withExtendedLifetime(place) {} }
            return await read()
        }
    }
}

extension ValueSequence {
    /// Creates the sequence of a value that changes: the present one, then each that differs from the one before.
    ///
    /// A reader that is slower than the changes finds only the newest value.
    ///
    /// - Parameters:
    ///   - value: The present value.
    ///   - isSame: Whether two values are to be shown once.
    ///   - element: What is shown for a value.
    ///   - observe: Lets a signal be raised with each change, as long as the returned object is held.
    package init<Value>(
        of value: @escaping @Sendable () -> Value, isSame: @escaping @Sendable (Value, Value) -> Bool,
        showing element: @escaping @Sendable (Value) -> Element,
        observing observe: @escaping @Sendable (ChangeSignal) -> AnyObject
    ) {
        self.init {
            let signal = ChangeSignal()
            var last: Value?
            return AsyncIterator(holding: observe(signal), after: signal) {
                let value = value()
                if let last, isSame(last, value) { return nil }
                last = value
                return element(value)
            }
        }
    }
}
