import EssentialsHTTP
import Synchronization

/// Runs asynchronous work one after another, in the order of arrival.
final class UpdateQueue: Sendable {
    /// The maximum number of callers that wait.
    static let limit = 1_000

    private struct State {
        var isBusy = false
        var lastNumber = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<Entry, Never>)] = []
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

    private enum Entry {
        case entered, cancelled, full
    }

    private func enter() async throws {
        let number = state.withLock { state -> Int? in
            guard state.isBusy else {
                state.isBusy = true
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        switch await wait(number) {
        case .entered: return
        case .cancelled: throw CancellationError()
        case .full: throw RequestFailure(.queueFull, "\(Self.limit) updates of a token store wait already.")
        }
    }

    private func wait(_ number: Int) async -> Entry {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let entry: Entry? = state.withLock { state in
                    if Task.isCancelled { return .cancelled }
                    // The queue may have become free in the meantime.
                    guard state.isBusy else {
                        state.isBusy = true
                        return .entered
                    }
                    // Counted in the same step in which the caller is added, so that the limit is exact.
                    guard state.waiting.count < Self.limit else { return .full }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let entry { continuation.resume(returning: entry) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            continuation?.resume(returning: .cancelled)
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Entry, Never>? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: .entered)
    }
}
