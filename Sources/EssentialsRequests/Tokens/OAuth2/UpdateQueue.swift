import EssentialsHTTP
import EssentialsTools

/// Runs asynchronous work one after another, in the order of arrival.
final class UpdateQueue: Sendable {
    /// The maximum number of callers that wait.
    static let limit = 1_000

    private let mutex = AsyncMutex(maximumWaiters: UpdateQueue.limit)

    /// Runs the work when all earlier work has ended.
    ///
    /// - Throws: The error of the work; `CancellationError` if the task is cancelled while it waits; `queueFull` if too
    ///   many callers wait.
    func run<Value>(_ work: () async throws -> Value) async throws -> Value {
        switch await mutex.enter() {
        case .entered: break
        case .cancelled: throw CancellationError()
        case .full: throw RequestFailure(.queueFull, "\(Self.limit) updates of a token store wait already.")
        }
        defer { mutex.leave() }
        return try await work()
    }
}
