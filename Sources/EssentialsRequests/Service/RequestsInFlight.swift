import EssentialsHTTP
import Synchronization

/// The requests that a service has taken and not ended, so that they can be cancelled from outside.
final class RequestsInFlight: Sendable {
    private struct State {
        var isOpen = true
        var flights: [UInt64: Flight] = [:]
        var nextNumber: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.flights.count } }

    /// Runs a request's work so that it can be cancelled.
    ///
    /// - Parameter work: Gets the request's number. Begins on the caller's thread.
    /// - Throws: `closed` after ``close()``, and what the work throws.
    func run<Value: Sendable>(
        in environment: EnvironmentSnapshot?, finishes: Bool,
        _ work: @escaping @Sendable (UInt64) async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        try await runInSteps(in: environment, finishes: finishes) { flight throws(RequestFailure) in
            try await flight.step(host: nil) { () throws(RequestFailure) in try await work(flight.number) }
        }
    }

    /// Runs a request's work on the caller's task. Only the steps of its flight can be cancelled from outside.
    ///
    /// - Throws: `closed` after ``close()``, and what the work throws.
    func runInSteps<Value>(
        in environment: EnvironmentSnapshot?, finishes: Bool, _ work: (Flight) async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        let flight = state.withLock { state in
            state.isOpen ? Self.add(to: &state) { Flight($0, in: environment, finishes: finishes) } : nil
        }
        guard let flight else {
            throw RequestFailure(.closed, "The service was shut down.", remedy: "Make a new service.")
        }
        defer { end(flight.number) }
        return try await work(flight)
    }

    /// Keeps a body that is still being read in the place of its request.
    func keep(_ environment: EnvironmentSnapshot?, finishes: Bool, cancel: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            Self.add(to: &state) { Flight($0, in: environment, finishes: finishes, cancel: cancel) }.number
        }
    }

    /// A request is over.
    func end(_ number: UInt64) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.flights[number] = nil
            guard state.flights.isEmpty, !state.waiting.isEmpty else { return [] }
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
                    if state.flights.isEmpty || Task.isCancelled { return true }
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
        for flight in state.withLock({ $0.flights.values.filter(isChosen) }) { flight.cancel() }
    }

    private static func add(to state: inout State, _ make: (UInt64) -> Flight) -> Flight {
        state.nextNumber += 1
        let flight = make(state.nextNumber)
        state.flights[state.nextNumber] = flight
        return flight
    }
}
