import EssentialsHTTP
import Synchronization

/// The requests that a scripted transport received, and the tasks that wait for further ones.
final class ScriptLog: Sendable {
    private typealias Waiter = CheckedContinuation<Result<RecordedRequest, RequestFailure>, Never>

    private struct State {
        var requests: [RecordedRequest] = []
        var requestCount = 0
        var unexpected: [UnexpectedRequest] = []
        var unexpectedCount = 0
        var mistakes: [String] = []
        var mistakeCount = 0
        var waiters: [Int: (number: Int, continuation: Waiter)] = [:]
        var nextWaiter = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let limits: ScriptedTransport.Limits

    init(limits: ScriptedTransport.Limits) { self.limits = limits }

    var requests: [RecordedRequest] { state.withLock { $0.requests } }
    var requestCount: Int { state.withLock { $0.requestCount } }
    var unexpected: [UnexpectedRequest] { state.withLock { $0.unexpected } }

    /// Records a request and resumes the tasks that wait for it.
    func add(_ request: RecordedRequest, unexpected: UnexpectedRequest? = nil) {
        let waiters = state.withLock { state -> [Waiter] in
            state.requestCount += 1
            if let unexpected {
                state.unexpectedCount += 1
                if state.unexpected.count < limits.unexpected { state.unexpected.append(unexpected) }
            }
            guard state.requests.count < limits.requests else { return [] }
            state.requests.append(request)
            let served = state.waiters.filter { $0.value.number == state.requests.count }
            for id in served.keys { state.waiters.removeValue(forKey: id) }
            return served.values.map(\.continuation)
        }
        for waiter in waiters { waiter.resume(returning: .success(request)) }
    }

    /// Records a mistake in the script itself.
    func add(mistake: String) {
        state.withLock { state in
            state.mistakeCount += 1
            if state.mistakes.count < limits.unexpected { state.mistakes.append(mistake) }
        }
    }

    /// Every deviation from the script, each as one sentence or a few lines.
    var problems: [String] {
        let state = state.withLock { $0 }
        var problems = state.unexpected.map { "Unexpected request:\n\($0)" } + state.mistakes
        let hidden = state.unexpectedCount - state.unexpected.count + state.mistakeCount - state.mistakes.count
        if hidden > 0 { problems.append("… and \(hidden) more of these.") }
        let unrecorded = state.requestCount - state.requests.count
        if unrecorded > 0 {
            problems.append("\(unrecorded) requests over the limit of \(limits.requests) were not recorded.")
        }
        return problems
    }

    /// Resumes all waiting tasks with a failure.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.continuation.resume(returning: .failure(Self.closed)) }
    }

    /// Returns the request with this number, counted from 1, as soon as it has been recorded.
    func request(number: Int) async throws(RequestFailure) -> RecordedRequest {
        guard (1...max(1, limits.requests)).contains(number) else {
            throw RequestFailure(
                .invalidRequest, "There is no request number \(number).",
                remedy: "Count from 1, and not beyond the limit of \(limits.requests) recorded requests.")
        }
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Waiter) in
                let result = state.withLock { state -> Result<RecordedRequest, RequestFailure>? in
                    if number <= state.requests.count { return .success(state.requests[number - 1]) }
                    if Task.isCancelled { return .failure(Self.cancelled) }
                    if state.isClosed { return .failure(Self.closed) }
                    state.waiters[waiter] = (number, continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let found = state.withLock { $0.waiters.removeValue(forKey: waiter) }
            found?.continuation.resume(returning: .failure(Self.cancelled))
        }
        return try result.get()
    }

    private static let closed = RequestFailure(.closed, "The transport was shut down before that request came.")
    private static let cancelled = RequestFailure(.cancelled, "Waiting for a request was cancelled.")
}
