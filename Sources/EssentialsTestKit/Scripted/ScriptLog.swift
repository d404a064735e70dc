import EssentialsHTTP
import EssentialsTools

/// The requests that a scripted transport received, and the tasks that wait for further ones.
final class ScriptLog: Sendable {
    private typealias Arrival = OneShot<Result<RecordedRequest, RequestFailure>>

    private struct State {
        var requests: [RecordedRequest] = []
        var requestCount = 0
        var unexpected: [UnexpectedRequest] = []
        var unexpectedCount = 0
        var mistakes: [String] = []
        var mistakeCount = 0
        /// The requests that tasks wait for, by their number.
        var arrivals: [Int: Arrival] = [:]
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
        let arrival = state.withLock { state -> Arrival? in
            state.requestCount += 1
            if let unexpected {
                state.unexpectedCount += 1
                if state.unexpected.count < limits.unexpected { state.unexpected.append(unexpected) }
            }
            guard state.requests.count < limits.requests else { return nil }
            state.requests.append(request)
            return state.arrivals.removeValue(forKey: state.requests.count)
        }
        arrival?.provide(.success(request))
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
        let arrivals = state.withLock { state in
            state.isClosed = true
            defer { state.arrivals = [:] }
            return state.arrivals.values
        }
        for arrival in arrivals { arrival.provide(.failure(Self.closed)) }
    }

    /// Returns the request with this number, counted from 1, as soon as it has been recorded.
    func request(number: Int) async throws(RequestFailure) -> RecordedRequest {
        guard (1...max(1, limits.requests)).contains(number) else {
            throw RequestFailure(
                .invalidRequest, "There is no request number \(number).",
                remedy: "Count from 1, and not beyond the limit of \(limits.requests) recorded requests.")
        }
        typealias Known = Result<RecordedRequest, RequestFailure>
        let (known, arrival) = state.withLock { state -> (Known?, Arrival?) in
            if number <= state.requests.count { return (.success(state.requests[number - 1]), nil) }
            if state.isClosed { return (.failure(Task.isCancelled ? Self.cancelled : Self.closed), nil) }
            let arrival = state.arrivals[number] ?? Arrival()
            state.arrivals[number] = arrival
            return (nil, arrival)
        }
        if let known { return try known.get() }
        guard let result = await arrival?.valueUnlessCancelled() else { throw Self.cancelled }
        return try result.get()
    }

    private static let closed = RequestFailure(.closed, "The transport was shut down before that request came.")
    private static let cancelled = RequestFailure(.cancelled, "Waiting for a request was cancelled.")
}
