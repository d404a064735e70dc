import EssentialsHTTP
import Synchronization

/// Runs asynchronous work one after another, in the order of arrival.
final class UpdateQueue: Sendable {
    /// The maximum number of callers that wait.
    static let limit = 1_000

    private struct State {
        var isBusy = false
        var lastNumber = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    /// Runs the work when all earlier work has ended.
    ///
    /// - Throws: The error of the work; `CancellationError` if the task is cancelled while it waits; `queueFull` if too
    ///   many callers wait.
    func run<Value>(_ work: () async throws -> Value) async throws -> Value {
        try await enter()
        defer { leave() }
        return try await work()
    }

    private func enter() async throws {
        enum Entry { case now, later(Int), full }
        let entry = state.withLock { state -> Entry in
            guard state.isBusy else {
                state.isBusy = true
                return .now
            }
            guard state.waiting.count < Self.limit else { return .full }
            state.lastNumber += 1
            return .later(state.lastNumber)
        }
        switch entry {
        case .now: return
        case .full: throw RequestFailure(.queueFull, "\(Self.limit) updates of a token store wait already.")
        case .later(let number): try await wait(number)
        }
    }

    private func wait(_ number: Int) async throws {
        let hasEntered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    // The queue may have become free in the meantime.
                    guard state.isBusy else {
                        state.isBusy = true
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            continuation?.resume(returning: false)
        }
        guard hasEntered else { throw CancellationError() }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
