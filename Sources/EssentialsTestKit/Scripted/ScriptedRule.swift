import EssentialsHTTP
import Synchronization

/// Which requests a ``ScriptedTransport`` answers, and with what: made by its `on`.
///
/// ```swift
/// let rule = transport.on(.post, "/v1/users").answer(.created).thenAnswer(.conflict)
/// #expect(rule.useCount == 2)
/// ```
///
/// Answers are given in their order; the last one stays, unless the rule is for ``once()``. A rule without an answer fits
/// no request. Safe from any thread.
public final class ScriptedRule: Sendable {
    /// An answer as the script has it.
    enum Supply: Sendable {
        case answer(ScriptedAnswer)
        case closure(@Sendable (RecordedRequest) async throws -> ScriptedAnswer)
    }

    private struct State {
        var supplies: [Supply] = []
        /// Which answer comes next.
        var next = 0
        var useCount = 0
        var isOnce = false
        var isExpected = false
        var dropped = 0
    }

    /// How many answers one rule keeps.
    private static let maximum = 10_000

    let pattern: RequestPattern
    /// What and where it is: `GET /v1/users (UserTests.swift:12)`.
    let title: String
    private let state = Mutex(State())

    init(_ pattern: RequestPattern, fileID: String, line: Int) {
        self.pattern = pattern
        title = "\(pattern) (\(fileID.split(separator: "/").last ?? "script"):\(line))"
    }

    /// How many requests it has answered.
    public var useCount: Int { state.withLock { $0.useCount } }

    /// Gives each answer one time: after the last, the rule fits no request any more, and older ones get their turn.
    /// ``ScriptedTransport/verify()`` demands that all were given.
    @discardableResult
    public func once() -> ScriptedRule {
        state.withLock {
            $0.isOnce = true
            $0.isExpected = true
        }
        return self
    }

    /// Has ``ScriptedTransport/verify()`` demand that each answer was given at least one time.
    @discardableResult
    public func expected() -> ScriptedRule {
        state.withLock { $0.isExpected = true }
        return self
    }

    /// Answers with this from now on, whatever was said before.
    @discardableResult
    public func answer(_ answer: ScriptedAnswer) -> ScriptedRule { replace(.answer(answer)) }

    /// Answers with this after the answers so far. At most 10,000.
    @discardableResult
    public func thenAnswer(_ answer: ScriptedAnswer) -> ScriptedRule { append(.answer(answer)) }

    /// Answers with what a closure makes of the request, from now on.
    ///
    /// It runs in a task of its own, several at a time, and may wait, on the transport's clock too. A `RequestFailure`
    /// that it throws is the request's outcome; any other error counts as a mistake in the script.
    @discardableResult
    public func answer(
        _ make: @escaping @Sendable (RecordedRequest) async throws -> ScriptedAnswer
    ) -> ScriptedRule { replace(.closure(make)) }

    /// Answers with what a closure makes of the request, after the answers so far.
    @discardableResult
    public func thenAnswer(
        _ make: @escaping @Sendable (RecordedRequest) async throws -> ScriptedAnswer
    ) -> ScriptedRule { append(.closure(make)) }

    // MARK: The transport's own

    /// The answer for a request that fits, which counts as given; nil when there is none any more.
    func take() -> Supply? {
        state.withLock { state in
            let supply: Supply
            if state.next < state.supplies.count {
                supply = state.supplies[state.next]
                state.next += 1
            } else if let last = state.supplies.last, !state.isOnce {
                supply = last
            } else {
                return nil
            }
            state.useCount += 1
            return supply
        }
    }

    /// Why no request gets an answer at the moment; nil when one would.
    var obstacle: String? {
        state.withLock { state in
            if state.supplies.isEmpty { return "it has no answer" }
            let isUsedUp = state.isOnce && state.next == state.supplies.count
            return isUsedUp ? "its \(Self.count(state.supplies.count)) given already" : nil
        }
    }

    /// What is wrong with the rule, or was expected of it and did not happen.
    var problems: [String] {
        var found = pattern.problems.map { "The rule \(title) fits nothing: \($0)" }
        let state = state.withLock { $0 }
        for case .answer(let answer) in state.supplies {
            if let failure = answer.problem { found.append("The rule \(title): \(failure.message)") }
        }
        if state.dropped > 0 {
            found.append("The rule \(title) has \(state.dropped) answers more than the \(Self.maximum) allowed.")
        }
        if state.supplies.isEmpty { found.append("The rule \(title) has no answer.") }
        let unused = state.supplies.count - state.next
        if state.isExpected, unused > 0 {
            found.append(
                "The rule \(title) was expected: \(unused) of its \(Self.count(state.supplies.count)) not given.")
        }
        return found
    }

    private static func count(_ answers: Int) -> String { answers == 1 ? "1 answer was" : "\(answers) answers were" }

    private func replace(_ supply: Supply) -> ScriptedRule {
        state.withLock {
            $0.supplies = [supply]
            $0.next = 0
        }
        return self
    }

    private func append(_ supply: Supply) -> ScriptedRule {
        state.withLock { state in
            guard state.supplies.count < Self.maximum else {
                state.dropped += 1
                return
            }
            state.supplies.append(supply)
        }
        return self
    }
}
