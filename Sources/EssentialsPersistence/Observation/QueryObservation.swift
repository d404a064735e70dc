public import Dispatch

/// What a call that reads finds, now and after each change that may have touched it.
///
/// ```swift
/// for try await films in store.observe(Film.where { $0.year < 1930 }) {
///     show(films)
/// }
/// ```
///
/// The first element is what there is. A further one follows each change of one of the tables that are read, pending or
/// saved, by this scope or others, as far as the scope sees it; if rows are read by their ids, each change of these rows.
/// An element that equals the one before it is dropped if the type of the elements is `Equatable`, as a list of models is if
/// the model is.
///
/// One read runs at a time, outside commits. A consumer that is slower than the changes gets the newest state, and never a
/// list of old ones.
///
/// The observation ends with its task, and when the scope or one above it is closed. It throws once, and ends then: a
/// failure of a read; `closed` if the scope was closed before the observation began. It keeps the scope alive.
public struct QueryObservation<Value: Sendable>: AsyncSequence, Sendable {
    let service: any PersistenceService
    let call: PersistenceCall<Value>
    let interest: ChangeInterest

    /// Reads each time that there may be something else to find.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let service: any PersistenceService
        private let call: PersistenceCall<Value>
        private let interest: ChangeInterest
        private let areEqual: ((Value, Value) -> Bool)?
        private var wakeUps: WakeUps?
        private var last: Value?
        private var isEnded = false

        init(_ observation: QueryObservation) {
            service = observation.service
            call = observation.call
            interest = observation.interest
            areEqual = Self.comparison
        }

        /// Compares two elements; `nil` if they cannot be compared. It depends on the type alone, so that callers that know
        /// the model only as a generic parameter get the same elements.
        private static var comparison: ((Value, Value) -> Bool)? {
            func compare<Element: Equatable>(_ type: Element.Type) -> (Value, Value) -> Bool {
                { one, other in
                    guard let one = one as? Element, let other = other as? Element else { return false }
                    return one == other
                }
            }
            return (Value.self as? any Equatable.Type).map { compare($0) }
        }

        /// The next state; `nil` after the scope was closed, the task was cancelled or the observation has thrown.
        ///
        /// - Throws: What the call throws, once.
        public mutating func next() async throws(PersistenceFailure) -> Value? {
            guard !isEnded else { return nil }
            do throws(PersistenceFailure) {
                if let value = try await newValue() { return value }
                end()
                return nil
            } catch {
                let hasBegun = wakeUps != nil
                end()
                if error.reason == .cancelled, Task.isCancelled { return nil }
                // The scope was closed during the read.
                if error.reason == .closed, hasBegun, service.state == .closed { return nil }
                throw error
            }
        }

        private mutating func newValue() async throws(PersistenceFailure) -> Value? {
            while true {
                if let wakeUps {
                    guard await wakeUps.wait() else { return nil }
                } else {
                    wakeUps = try begin()
                }
                let value = try await service.result(of: call)
                if let areEqual {
                    if let last, areEqual(last, value) { continue }
                    last = value
                }
                return value
            }
        }

        /// Observes before the first read, so that no change is missed.
        private func begin() throws(PersistenceFailure) -> WakeUps {
            guard call.plan.action == .read else {
                throw PersistenceFailure(.invalidQuery, "Only a call that reads can be observed.")
            }
            return try WakeUps(service) { [interest] in interest.includes($0) }
        }

        private mutating func end() {
            isEnded = true
            wakeUps = nil
            last = nil
        }
    }

    /// Begins a new observation. Nothing is observed before its first element is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Calls a handler with each element, as long as the returned observation lives.
    ///
    /// The handler is called in the order of the elements, never twice at the same time, and the next read begins when it
    /// has returned. It may change rows, and block. A failure is the last call; if the scope is closed, no further call is
    /// made. After a call of ``PersistenceObservation/cancel()`` on the queue, the handler is not called any more.
    ///
    /// ```swift
    /// let observation = store.observe(Film.all).start(queue: .main) { result in show(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler runs. `nil` means a serial queue of the observation, never the main one.
    ///   - handler: Receives each element, or the failure that ends the observation.
    /// - Returns: The observation. Releasing it ends it.
    public func start(
        queue: DispatchQueue? = nil,
        _ handler: @escaping @Sendable (Result<Value, PersistenceFailure>) -> Void
    ) -> PersistenceObservation {
        let delivery = ObservationDelivery(queue, handler)
        // Detached, so that no value of the caller's task counts in the reads.
        let task = Task.detached { await delivery.deliver(self) }
        return PersistenceObservation {
            delivery.cancel()
            task.cancel()
        }
    }
}
