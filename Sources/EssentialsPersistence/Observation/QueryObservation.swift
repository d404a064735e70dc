public import Dispatch

/// The results of a call that reads: now, and after each change that may have affected it.
///
/// ```swift
/// for try await films in store.observe(Film.where { $0.year < 1930 }) {
///     show(films)
/// }
/// ```
///
/// The first element is the present result. Another one follows each change of a table that is read, pending or saved,
/// by this scope or others, as far as the scope sees it. If rows are read by their ids, only changes of these rows
/// count. If the elements are `Equatable`, as a list of `Equatable` models is, an element that equals its predecessor
/// is dropped.
///
/// One read runs at a time, outside commits. A consumer that is slower than the changes receives the newest state, and
/// no backlog of older states.
///
/// The observation ends with its task, and when the scope or a scope above it is closed. It throws at most once, and
/// then ends: with the failure of a read, or with `closed` if the scope was closed before the observation began. It
/// keeps the scope alive.
public struct QueryObservation<Value: Sendable>: AsyncSequence, Sendable {
    let service: any PersistenceService
    let call: PersistenceCall<Value>
    let interest: ChangeInterest

    /// Reads again after each change that may affect the result.
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

        /// Compares two elements; `nil` if they cannot be compared. It depends only on the type, so that generic
        /// callers receive the same elements.
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
        /// - Throws: The failure of the call, once.
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

    /// Begins a new observation. Nothing is observed before the first element is requested.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Calls a handler with each element, as long as the returned observation lives.
    ///
    /// The handler is called in the order of the elements and never concurrently. The next read begins after the
    /// handler returns. The handler may change rows, and may block. A failure is passed in the last call; if the scope
    /// is closed, no further call follows. After a call of ``PersistenceObservation/cancel()`` on the queue, the
    /// handler is not called any more.
    ///
    /// ```swift
    /// let observation = store.observe(Film.all).start(queue: .main) { result in show(result) }
    /// ```
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler runs. `nil` means a serial queue of the observation, never the main
    ///     one.
    ///   - handler: Receives each element, or the failure that ends the observation.
    /// - Returns: The observation. Releasing it ends it.
    public func start(
        queue: DispatchQueue? = nil,
        _ handler: @escaping @Sendable (Result<Value, PersistenceFailure>) -> Void
    ) -> PersistenceObservation {
        let delivery = ObservationDelivery(queue, handler)
        // Detached, so that task-local values of the caller do not affect the reads.
        let task = Task.detached { await delivery.deliver(self) }
        return PersistenceObservation {
            delivery.cancel()
            task.cancel()
        }
    }
}
