import EssentialsHTTP
import EssentialsTools

/// A request for new tokens that is completed even if the task that waits for it is cancelled.
///
/// A server that rotates refresh tokens has spent the old one when it responds. The work therefore runs in a task of its
/// own. A cancellation before ``begin()`` cancels that task. A later one only ends the wait, and the response is still
/// read and stored.
final class TokenExchange: Sendable {
    private struct State {
        var hasBegun = false
        var isCancelled = false
        /// The task of the work, until it ends.
        var task: Task<Void, Never>?
        /// Cancels the work when its time is over.
        var timer: Task<Void, Never>?
    }

    private let limit: Duration
    private let clock: RequestClock
    private let state = Mutex(State())
    private let result = OneShot<Result<AccessToken, any Error>>()

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - limit: The maximum time of the work after ``begin()``.
    ///   - clock: Measures the limit.
    init(limit: Duration, clock: RequestClock) {
        self.limit = limit
        self.clock = clock
    }

    /// Runs the work and returns its result.
    ///
    /// - Parameter work: Calls ``begin()`` before it sends what cannot be taken back.
    /// - Throws: The error of the work; `CancellationError` if the task is cancelled after the work has begun.
    func run(_ work: @escaping @Sendable () async throws -> AccessToken) async throws -> AccessToken {
        // Entered before the work can begin, so that a shutdown that cancels the call finds the exchange.
        let running = RunningExchanges.current
        let number = running?.enter()
        let task = Task {
            let outcome: Result<AccessToken, any Error>
            do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
            ended()
            result.provide(outcome)
            if let number { running?.leave(number) }
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        return try await withTaskCancellationHandler {
            try await result.value().get()
        } onCancel: {
            cancel()
        }
    }

    /// From now on a cancellation only ends the wait.
    ///
    /// - Throws: `CancellationError` if the wait was cancelled before.
    func begin() throws {
        try Task.checkCancellation()
        let timer = Task { [self] in
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            state.withLock { $0.task }?.cancel()
        }
        let hasBegun = state.withLock { state in
            guard !state.isCancelled else { return false }
            state.hasBegun = true
            state.timer = timer
            return true
        }
        guard hasBegun else {
            timer.cancel()
            throw CancellationError()
        }
    }

    private func cancel() {
        let (hasBegun, task) = state.withLock { state in
            state.isCancelled = true
            return (state.hasBegun, state.task)
        }
        if hasBegun { result.provide(.failure(CancellationError())) } else { task?.cancel() }
    }

    private func ended() {
        let timer = state.withLock { state in
            state.task = nil
            return state.timer.take()
        }
        timer?.cancel()
    }
}

/// The exchanges that a token provider has started and that may outlive its call.
final class RunningExchanges: Sendable {
    /// The exchanges of the source for which the current task calls the provider.
    @TaskLocal static var current: RunningExchanges?

    private struct State {
        var lastNumber = 0
        /// Each exchange with a value that is provided at its end.
        var ends: [Int: OneShot<Void>] = [:]
    }

    private let state = Mutex(State())

    /// Adds an exchange and returns its number.
    func enter() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.ends[state.lastNumber] = OneShot()
            return state.lastNumber
        }
    }

    /// Removes an exchange that has ended.
    func leave(_ number: Int) { state.withLock { $0.ends.removeValue(forKey: number) }?.provide(()) }

    /// Returns when the present exchanges have ended, when the time is over, or when the calling task is cancelled.
    func waitUntilEmpty(within time: Duration, _ clock: RequestClock) async {
        let end = clock.now + time
        for promise in state.withLock({ Array($0.ends.values) }) {
            await withTaskCancellationHandler {
                await promise.value(within: max(.zero, end - clock.now), clock, otherwise: ())
            } onCancel: {
                promise.provide(())
            }
        }
    }
}
