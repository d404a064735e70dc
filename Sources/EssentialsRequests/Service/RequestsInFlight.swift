import EssentialsHTTP
import Synchronization

/// The requests that a service has taken and not ended, so that they can be cancelled from outside.
final class RequestsInFlight: Sendable {
    private struct State {
        var isOpen = true
        /// Each flight in the slot that it was given; nil where there is none.
        var slots: [Flight?] = []
        /// The slots without a flight.
        var free: [Int] = []
        var nextNumber: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]

        var count: Int { slots.count - free.count }
        /// Whether nothing runs, and somebody waits for that.
        var isAwaited: Bool { count == 0 && !waiting.isEmpty }

        @inline(__always)
        mutating func add(
            in environment: EnvironmentSnapshot?, finishes: Bool, cancel: (@Sendable () -> Void)? = nil
        ) -> Flight {
            nextNumber += 1
            let slot = free.popLast() ?? slots.count
            let flight = Flight(nextNumber, slot: slot, in: environment, finishes: finishes, cancel: cancel)
            if slot == slots.count { slots.append(flight) } else { slots[slot] = flight }
            return flight
        }

        @inline(__always)
        mutating func remove(_ flight: Flight) {
            slots[flight.slot] = nil
            free.append(flight.slot)
        }
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    /// Takes a request, of whose work only the steps of its flight can be cancelled from outside. ``end(_:)`` follows.
    ///
    /// - Throws: `closed` after ``close()``.
    @inline(__always)
    func begin(in environment: EnvironmentSnapshot?, finishes: Bool) throws(RequestFailure) -> Flight {
        guard let flight = state.withLock({ $0.isOpen ? $0.add(in: environment, finishes: finishes) : nil }) else {
            throw Self.closed
        }
        return flight
    }

    private static var closed: RequestFailure {
        RequestFailure(.closed, "The service was shut down.", remedy: "Make a new service.")
    }

    /// Runs a request's work as one step, so that the whole of it can be cancelled from outside.
    ///
    /// - Parameter work: Gets the request's number. Begins on the caller's thread.
    /// - Throws: `closed` after ``close()``, and what the work throws.
    func run<Value: Sendable>(
        in environment: EnvironmentSnapshot?, finishes: Bool,
        _ work: @escaping @Sendable (UInt64) async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        let flight = try begin(in: environment, finishes: finishes)
        defer { end(flight) }
        return try await flight.step(host: nil) { () throws(RequestFailure) in try await work(flight.number) }
    }

    /// Keeps a body that is still being read in the place of its request.
    func keep(_ environment: EnvironmentSnapshot?, finishes: Bool, cancel: @escaping @Sendable () -> Void) -> Flight {
        state.withLock { $0.add(in: environment, finishes: finishes, cancel: cancel) }
    }

    /// A request is over. Once for each.
    @inline(__always)
    func end(_ flight: Flight) {
        let isAwaited = state.withLock { state in
            state.remove(flight)
            return state.isAwaited
        }
        if isAwaited { resumeWaiting() }
    }

    /// Asks again, because a wait may have been cancelled meanwhile.
    private func resumeWaiting() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.isAwaited else { return [] }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Takes no more requests.
    func close() { state.withLock { $0.isOpen = false } }

    /// Cancels the requests of other environments than this one.
    func cancelAll(exceptIn environment: EnvironmentSnapshot) {
        cancel { $0.environment.map { $0 != environment } ?? false }
    }

    /// Cancels the requests that are not to finish, or all.
    func cancelAll(includingThoseThatFinish: Bool) { cancel { includingThoseThatFinish || !$0.finishes } }

    /// Returns when no request runs, or the calling task is cancelled.
    func waitUntilEmpty() async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.count == 0 || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    private func cancel(_ isChosen: (Flight) -> Bool) {
        for flight in state.withLock({ $0.slots.compactMap(\.self).filter(isChosen) }) { flight.cancel() }
    }
}
