public import EssentialsHTTP
public import EssentialsTestKit
import Synchronization

/// Requests that wait until a test answers them.
///
/// ```swift
/// let held = resources.hold("cart")
/// let load = cart.startLoad()
/// await held.arrived()          // the request is under way
/// cart.override(with: Cart())   // something newer comes
/// held.answer(json: old)
/// ```
///
/// One answer is for all requests, those that wait and those that come later, until another one is given.
public final class HeldRequests: Sendable {
    private struct State {
        var answer: ScriptedAnswer?
        var arrived = 0
        var waiting: [UInt64: CheckedContinuation<ScriptedAnswer?, Never>] = [:]
        /// The requests that were cancelled before they waited.
        var departed: Set<UInt64> = []
        var last: UInt64 = 0
        var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    init() {}

    /// The number of requests that have come.
    public var arrivedCount: Int { state.withLock { $0.arrived } }

    /// Waits until a number of requests have come.
    public func arrived(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrived >= count { return true }
                state.arrivals.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Answers all requests.
    public func answer(with answer: ScriptedAnswer) {
        let waiting = state.withLock { state in
            state.answer = answer
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: answer) }
    }

    /// Answers all requests with a model as JSON.
    public func answer(
        _ status: HTTPResponse.Status = .ok, json model: some Encodable, headerFields: HTTPFields = [:]
    ) { answer(with: ScriptedAnswer(status, json: model, headerFields: headerFields)) }

    /// Answers all requests with a status and without a body.
    public func answer(_ status: HTTPResponse.Status, headerFields: HTTPFields = [:]) {
        answer(with: ScriptedAnswer(status, headerFields: headerFields))
    }

    /// Lets all requests fail.
    public func fail(_ reason: RequestFailure.Reason) { answer(with: .failure(reason)) }

    /// Waits for the answer to one request.
    ///
    /// - Throws: `CancellationError` if the request was cancelled.
    func answer() async throws -> ScriptedAnswer {
        let (number, known, arrivals) = state.withLock {
            state -> (UInt64, ScriptedAnswer?, [CheckedContinuation<Void, Never>]) in
            state.last += 1
            state.arrived += 1
            let arrived = state.arrived
            let due = state.arrivals.filter { $0.count <= arrived }.map(\.continuation)
            state.arrivals.removeAll { $0.count <= arrived }
            return (state.last, state.answer, due)
        }
        for continuation in arrivals { continuation.resume() }
        if let known { return known }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, isOver) = state.withLock { state -> (ScriptedAnswer?, Bool) in
                    if let answer = state.answer { return (answer, true) }
                    if state.departed.remove(number) != nil { return (nil, true) }
                    state.waiting[number] = continuation
                    return (nil, false)
                }
                if isOver { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<ScriptedAnswer?, Never>? in
                if let waiting = state.waiting.removeValue(forKey: number) { return waiting }
                state.departed.insert(number)
                return nil
            }
            continuation?.resume(returning: nil)
        }
        guard let answer else { throw CancellationError() }
        return answer
    }
}
