import EssentialsHTTP
import EssentialsTools

/// A rule of a ``ScriptedTransport``: the requests that it matches and its answers. Rules are created with `on`.
///
/// ```swift
/// let rule = transport.on(.post, "/v1/users").answer(.created).thenAnswer(.conflict)
/// #expect(rule.useCount == 2)
/// ```
///
/// Answers are given in order, and the last one is repeated unless the rule is marked with ``once()``. A rule without
/// an answer matches no request. Safe to use from any thread.
public final class ScriptedRule: Sendable {
    /// One answer: a value or a closure.
    enum Supply: Sendable {
        case answer(ScriptedAnswer)
        case closure(@Sendable (RecordedRequest) async throws -> ScriptedAnswer)
    }

    private struct State {
        var supplies: [Supply] = []
        /// The index of the next answer.
        var next = 0
        var useCount = 0
        var isOnce = false
        var isExpected = false
        var dropped = 0
    }

    /// The maximum number of answers of one rule.
    private static let maximum = 10_000

    let pattern: RequestPattern
    /// The pattern and its place in the source, such as `GET /v1/users (UserTests.swift:12)`.
    let title: String
    private let state = Mutex(State())

    init(_ pattern: RequestPattern, fileID: String, line: Int) {
        self.pattern = pattern
        title = "\(pattern) (\(fileID.split(separator: "/").last ?? "script"):\(line))"
    }

    /// The number of requests that this rule has answered.
    public var useCount: Int { state.withLock { $0.useCount } }

    /// Gives each answer only once. After the last one the rule matches no more requests, and older rules are tried.
    /// ``ScriptedTransport/verify()`` requires that all answers were given.
    @discardableResult
    public func once() -> ScriptedRule {
        state.withLock {
            $0.isOnce = true
            $0.isExpected = true
        }
        return self
    }

    /// Makes ``ScriptedTransport/verify()`` require that each answer is given at least once.
    @discardableResult
    public func expected() -> ScriptedRule {
        state.withLock { $0.isExpected = true }
        return self
    }

    /// Replaces all answers of the rule with this one.
    @discardableResult
    public func answer(_ answer: ScriptedAnswer) -> ScriptedRule { replace(.answer(answer)) }

    /// Appends an answer. A rule has at most 10,000 answers.
    @discardableResult
    public func thenAnswer(_ answer: ScriptedAnswer) -> ScriptedRule { append(.answer(answer)) }

    /// Replaces all answers of the rule with a closure that creates the answer from the request.
    ///
    /// The closure runs in its own task, several at a time, and may suspend, including on the transport's clock. If it
    /// throws a `RequestFailure`, the request fails with it. Any other error is reported as a mistake in the script.
    @discardableResult
    public func answer(
        _ make: @escaping @Sendable (RecordedRequest) async throws -> ScriptedAnswer
    ) -> ScriptedRule { replace(.closure(make)) }

    /// Appends a closure that creates the answer from the request.
    @discardableResult
    public func thenAnswer(
        _ make: @escaping @Sendable (RecordedRequest) async throws -> ScriptedAnswer
    ) -> ScriptedRule { append(.closure(make)) }

    // MARK: For the transport

    /// Returns the next answer and counts it as given; `nil` if none is left.
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

    /// Why the rule answers no request at the moment; `nil` if it would.
    var obstacle: String? {
        state.withLock { state in
            if state.supplies.isEmpty { return "it has no answer" }
            let isUsedUp = state.isOnce && state.next == state.supplies.count
            return isUsedUp ? "its \(Self.count(state.supplies.count)) given already" : nil
        }
    }

    /// What is wrong with the rule, and which of its required answers were not given.
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
