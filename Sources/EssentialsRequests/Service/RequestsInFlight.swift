import EssentialsHTTP
import EssentialsTools

/// The running requests of a service, which can be cancelled from outside. A streamed body counts as a request until it
/// was read.
final class RequestsInFlight: Sendable {
    /// The entry of one request. ``end(_:)`` is called once for each.
    struct Place: Sendable {
        /// The identifier of the request, which is unique in the process.
        let id: RequestID
        /// Ends the request from outside.
        let cancellation: Cancellation
        fileprivate let slot: Int
        /// The environment whose change cancels the request; `nil` if changes do not.
        fileprivate let environment: WatchedEnvironment?
        fileprivate let finishesOnShutdown: Bool

        /// The failure of the request. A shutdown cancels the request and then closes the transport, which may end the
        /// request first.
        func failure(_ failure: RequestFailure) -> RequestFailure {
            guard failure.reason == .closed, cancellation.isCancelled else { return failure }
            return failure.changed { content in
                content.reason = .cancelled
                content.message = "The request was cancelled."
                content.remedy = nil
            }
        }
    }

    /// An environment by reference, because few requests have one and every place is copied several times.
    final class WatchedEnvironment: Sendable {
        fileprivate let snapshot: EnvironmentSnapshot

        init(_ snapshot: EnvironmentSnapshot) { self.snapshot = snapshot }
    }

    private struct State {
        var isOpen = true
        /// Each request in its slot; `nil` for a free slot.
        var slots: [Place?] = []
        var freeSlots: [Int] = []
        var lastNumber: UInt64 = 0
        /// Provided when no request is left; `nil` if nothing waits for that.
        var emptied: OneShot<Void>?

        var count: Int { slots.count - freeSlots.count }

        mutating func add(
            to service: UInt64, in environment: WatchedEnvironment?, finishesOnShutdown: Bool,
            _ cancellation: Cancellation
        ) -> Place {
            lastNumber += 1
            let slot = freeSlots.popLast() ?? slots.count
            let place = Place(
                id: RequestID(service: service, number: lastNumber), cancellation: cancellation, slot: slot,
                environment: environment, finishesOnShutdown: finishesOnShutdown)
            if slot == slots.count { slots.append(place) } else { slots[slot] = place }
            return place
        }
    }

    private static let services = Atomic<UInt64>(0)

    /// The number of the service, which is unique in the process.
    private let service = services.add(1, ordering: .relaxed).newValue
    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    /// Whether further requests are refused.
    var isClosed: Bool { state.withLock { !$0.isOpen } }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - environment: The environment whose change cancels the request; `nil` if changes do not.
    ///   - finishesOnShutdown: Whether a graceful shutdown waits for the request.
    /// - Throws: `closed` after ``close()``; `cancelled` if the calling task was cancelled, so that nothing is sent.
    func begin(
        in environment: WatchedEnvironment?, finishesOnShutdown: Bool
    ) throws(RequestFailure) -> Place {
        let place = state.withLock { state in
            state.isOpen
                ? state.add(
                    to: service, in: environment, finishesOnShutdown: finishesOnShutdown, Cancellation()) : nil
        }
        guard let place else {
            throw RequestFailure(.closed, "The service was shut down.", remedy: "Create a new service.")
        }
        guard !Task.isCancelled else {
            end(place)
            throw RequestFailure(.cancelled, "The task was cancelled before it began the request.")
        }
        return place
    }

    /// The identifier of a request that was refused.
    func refusedID() -> RequestID {
        state.withLock { state in
            state.lastNumber += 1
            return RequestID(service: service, number: state.lastNumber)
        }
    }

    /// Adds the streamed body of a request, even if the service is closed.
    func beginBody(of request: Place) -> Place {
        state.withLock { state in
            state.add(
                to: service, in: request.environment, finishesOnShutdown: request.finishesOnShutdown,
                request.cancellation)
        }
    }

    /// Removes a request.
    func end(_ place: Place) {
        let emptied = state.withLock { state in
            state.slots[place.slot] = nil
            state.freeSlots.append(place.slot)
            return state.count == 0 ? state.emptied.take() : nil
        }
        emptied?.provide(())
    }

    /// Refuses further requests.
    func close() { state.withLock { $0.isOpen = false } }

    /// Cancels the requests of all other environments.
    func cancelAll(exceptIn environment: EnvironmentSnapshot) {
        cancel { place in place.environment.map { $0.snapshot != environment } ?? false }
    }

    /// Cancels all requests, or those that a graceful shutdown does not wait for.
    func cancelAll(includingThoseThatFinish: Bool) { cancel { includingThoseThatFinish || !$0.finishesOnShutdown } }

    private func cancel(_ isChosen: (Place) -> Bool) {
        // Cancelled without the lock, because a cancelled request may end at once.
        Cancellation.cancel(state.withLock { $0.slots.compactMap(\.self).filter(isChosen) }.map(\.cancellation))
    }

    /// Returns when no request runs, when the limit is reached, or when the calling task is cancelled.
    func waitUntilEmpty(before limit: @escaping @Sendable () async -> Void) async {
        let emptied = state.withLock { state -> OneShot<Void>? in
            guard state.count > 0 else { return nil }
            let emptied = state.emptied ?? OneShot()
            state.emptied = emptied
            return emptied
        }
        await emptied?.valueUnlessCancelled(before: limit)
    }
}
