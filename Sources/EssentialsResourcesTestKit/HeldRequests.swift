public import EssentialsHTTP
public import EssentialsTestKit
import EssentialsTools

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
        var arrivals: [(count: Int, reached: OneShot<Void>)] = []
    }

    private let state = Mutex(State())
    private let firstAnswer = OneShot<ScriptedAnswer>()

    init() {}

    /// The number of requests that have come.
    public var arrivedCount: Int { state.withLock { $0.arrived } }

    /// Waits until a number of requests have come.
    public func arrived(_ count: Int = 1) async {
        let reached = OneShot<Void>()
        let isThere = state.withLock { state in
            if state.arrived >= count { return true }
            state.arrivals.append((count, reached))
            return false
        }
        if !isThere { await reached.value() }
    }

    /// Answers all requests.
    public func answer(with answer: ScriptedAnswer) {
        state.withLock { $0.answer = answer }
        firstAnswer.provide(answer)
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
        let (known, arrivals) = state.withLock { state in
            state.arrived += 1
            let arrived = state.arrived
            defer { state.arrivals.removeAll { $0.count <= arrived } }
            return (state.answer, state.arrivals.filter { $0.count <= arrived }.map(\.reached))
        }
        for reached in arrivals { reached.provide(()) }
        if let known { return known }
        guard let answer = await firstAnswer.valueUnlessCancelled() else { throw CancellationError() }
        return answer
    }
}
