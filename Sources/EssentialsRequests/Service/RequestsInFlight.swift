import EssentialsHTTP
import Synchronization

/// The requests that a service has taken and not ended, so that they can be cancelled from outside.
final class RequestsInFlight: Sendable {
    private struct Entry {
        let environment: EnvironmentSnapshot?
        let finishes: Bool
        /// Nil until the work has begun.
        var cancel: (@Sendable () -> Void)?
        var isCancelled = false
    }

    private struct State {
        var isOpen = true
        var entries: [UInt64: Entry] = [:]
        var nextNumber: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.entries.count } }

    /// Runs a request's work so that it can be cancelled.
    ///
    /// - Parameter work: Gets the request's number. Begins on the caller's thread.
    /// - Throws: `closed` after ``close()``, and what the work throws.
    func run<Value: Sendable>(
        in environment: EnvironmentSnapshot?, finishes: Bool,
        _ work: @escaping @Sendable (UInt64) async throws(RequestFailure) -> Value
    ) async throws(RequestFailure) -> Value {
        let number = try admit(in: environment, finishes: finishes)
        // A task of its own: cancelling the caller's would also end what the caller does besides.
        let task = Task.immediate { () async -> Result<Value, RequestFailure> in
            do throws(RequestFailure) {
                return .success(try await work(number))
            } catch {
                return .failure(error)
            }
        }
        attach(number) { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        end(number)
        return try result.get()
    }

    /// Takes a request.
    func admit(in environment: EnvironmentSnapshot?, finishes: Bool) throws(RequestFailure) -> UInt64 {
        let number = state.withLock { state -> UInt64? in
            guard state.isOpen else { return nil }
            return Self.add(Entry(environment: environment, finishes: finishes), to: &state)
        }
        guard let number else {
            throw RequestFailure(.closed, "The service was shut down.", remedy: "Make a new service.")
        }
        return number
    }

    /// Keeps a body that is still being read in the place of its request.
    func keep(_ environment: EnvironmentSnapshot?, finishes: Bool, cancel: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { Self.add(Entry(environment: environment, finishes: finishes, cancel: cancel), to: &$0) }
    }

    /// Names what cancels; called at once when that was asked for before.
    func attach(_ number: UInt64, _ cancel: @escaping @Sendable () -> Void) {
        let cancelsNow = state.withLock { state in
            state.entries[number]?.cancel = cancel
            return state.entries[number]?.isCancelled ?? false
        }
        if cancelsNow { cancel() }
    }

    /// A request is over.
    func end(_ number: UInt64) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.entries[number] = nil
            guard state.entries.isEmpty, !state.waiting.isEmpty else { return [] }
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
                    if state.entries.isEmpty || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    private func cancel(_ isChosen: (Entry) -> Bool) {
        let cancels = state.withLock { state -> [@Sendable () -> Void] in
            var cancels: [@Sendable () -> Void] = []
            for (number, entry) in state.entries where !entry.isCancelled && isChosen(entry) {
                state.entries[number]?.isCancelled = true
                if let cancel = entry.cancel { cancels.append(cancel) }
            }
            return cancels
        }
        for cancel in cancels { cancel() }
    }

    private static func add(_ entry: Entry, to state: inout State) -> UInt64 {
        state.nextNumber += 1
        state.entries[state.nextNumber] = entry
        return state.nextNumber
    }
}
