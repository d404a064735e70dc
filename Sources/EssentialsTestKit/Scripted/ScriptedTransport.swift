public import EssentialsHTTP
import EssentialsTools

/// A transport that answers from a script instead of the network, and records the requests that it receives.
///
/// ```swift
/// let transport = ScriptedTransport()
/// transport.on(.get, "/v1/users", query: ["role": "admin"]).answer(json: [user])
/// transport.on(.post, "/v1/users").answer(.created, json: user).thenAnswer(.conflict)
/// transport.on(.get, "/slow").answer(text: "x", after: .seconds(2))      // on transport.clock
/// transport.on(.get, "/down").fail(.connection)
/// transport.on { $0.headerFields[.accept] == "text/csv" }.answer { request in
///     ScriptedAnswer(text: "path\n\(request.url.path)")
/// }
/// // … the code under test sends requests …
/// try transport.verify()
/// ```
///
/// The most recently added rule that matches a request answers it, so a test can override the answers of its
/// suite. A request that matches no rule fails at once with `invalidRequest` and a message that shows how
/// the nearest rules differ.
///
/// It fulfills the contract of `Transport`: a streamed body arrives piece by piece, a collected one whole and within
/// its limit, cancellation fails with `cancelled`, and requests after ``shutdown()`` fail with `closed`. The options
/// `totalTimeout`, `idleTimeout` and `firstByteTimeout` are enforced on the clock. Trust, redirects and compression are
/// not simulated. Safe to use from any thread; rules may be added while requests run.
public final class ScriptedTransport: Transport {
    /// The limits of a scripted transport. What exceeds them is counted and reported in ``ScriptedTransport/problems``.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of recorded requests; further ones are still answered. The default is 10,000.
        public var requests = 10_000
        /// The maximum size of a recorded body; only these bytes are matched and compared. The default is 16 MiB.
        public var recordedBody = 16 << 20
        /// The maximum number of rules; further ones have no effect. The default is 10,000.
        public var rules = 10_000
        /// The maximum number of unexpected requests and script mistakes that are described. The default is 100.
        public var unexpected = 100

        /// Creates the default limits.
        public init() {}
    }

    private struct Script {
        /// The rules in the order of their addition.
        var rules: [ScriptedRule] = []
        var dropped = 0
    }

    private let limits: Limits
    private let script = Mutex(Script())
    private let log: ScriptLog
    private let running = RunningExchanges()

    /// The clock for delays and timeouts.
    public let clock: ManualClock

    /// Creates a transport without rules.
    public init(clock: ManualClock = ManualClock(), limits: Limits = Limits()) {
        self.clock = clock
        self.limits = limits
        log = ScriptLog(limits: limits)
    }

    // MARK: The script

    /// Adds a rule; the returned value takes its answers.
    ///
    /// A request must match every given part. A path, host or body that cannot be parsed matches no request and is
    /// reported in ``problems``.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` for any.
    ///   - path: The path, beginning with `/`. A segment `*` stands for one segment, `**` at the end for any number of
    ///     them. Segments are compared percent-decoded. A query after the path is used as `query`.
    ///   - query: The query's items in any order, its text, or any query.
    ///   - host: The host without a port; `nil` for any.
    ///   - headerFields: Header fields that the request must have; it may have others.
    ///   - body: The body; see ``BodyPattern``.
    ///   - fileID: The source file, for messages.
    ///   - line: The source line, for messages.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, query: QueryPattern = .any, host: String? = nil,
        headerFields: HTTPFields = [:], body: BodyPattern = .any, fileID: String = #fileID, line: Int = #line
    ) -> ScriptedRule {
        let pattern = RequestPattern(
            method: method, path: path, query: query, host: host, headerFields: headerFields, body: body)
        return add(ScriptedRule(pattern, fileID: fileID, line: line))
    }

    /// Adds a rule that matches the requests for which the closure returns true. The closure is called, on any thread,
    /// for each request that no newer rule answers.
    public func on(
        fileID: String = #fileID, line: Int = #line, _ matches: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> ScriptedRule {
        add(ScriptedRule(RequestPattern(matches), fileID: fileID, line: line))
    }

    // MARK: Recorded requests

    /// All complete requests in order, including those without an answer.
    public var requests: [RecordedRequest] { log.requests }

    /// The number of complete requests, recorded or not.
    public var requestCount: Int { log.requestCount }

    /// Waits for a request.
    ///
    /// - Parameter number: The number of the request, counted from 1.
    /// - Throws: `cancelled` if the waiting task is cancelled, `closed` if the transport is shut down first,
    ///   `invalidRequest` if the number is out of range.
    public func request(number: Int) async throws(RequestFailure) -> RecordedRequest {
        try await log.request(number: number)
    }

    /// The requests that no rule answered.
    public var unexpected: [UnexpectedRequest] { log.unexpected }

    /// All deviations from the script: unexpected requests, answers of `once()` and `expected()` rules that were not
    /// given, and mistakes in the script itself.
    public var problems: [String] {
        let script = script.withLock { $0 }
        var problems = log.problems + script.rules.flatMap(\.problems)
        if script.dropped > 0 {
            problems.append("\(script.dropped) rules over the limit of \(limits.rules) have no effect.")
        }
        return problems
    }

    /// Throws the deviations from the script. Call it at the end of a test; `#expect(transport.problems == [])` makes
    /// the same check without ending the test.
    public func verify() throws(RequestMismatch) { try RequestMismatch.check(problems) }

    // MARK: Transport

    /// Answers a request from the script, following the contract of `Transport`.
    ///
    /// - Throws: the scripted failure; `invalidRequest` if no rule answers the request or if no
    ///   transport would send it.
    public func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        try SendingRules.check(request)
        let host = request.url.origin.host.text
        let exchange = Interruptible<TransportResponse>(host: host, phase: .queue)
        guard let number = running.add({ exchange.cancel() }) else {
            throw RequestFailure(.closed, "The transport was shut down.", phase: .queue, host: host)
        }
        defer { running.remove(number) }
        return try await exchange.run { () throws(RequestFailure) in try await self.answer(request, exchange) }
    }

    /// Ends waiting requests and bodies that are being read with `cancelled`; later requests fail with `closed`. The
    /// recorded requests are kept.
    public func shutdown() async {
        running.close()
        log.close()
    }

    private func answer(
        _ request: TransportRequest, _ exchange: Interruptible<TransportResponse>
    ) async throws(RequestFailure) -> TransportResponse {
        let pace = ScriptedPace(clock: clock, request: request, began: clock.now)
        exchange.reached(.sending)
        let body = try await SendingRules.body(of: request, keeping: max(0, limits.recordedBody))
        let record = RecordedRequest(request, body: body.kept, bodyByteCount: body.count, time: clock.now)
        exchange.reached(.waiting)
        let answer: ScriptedAnswer
        // The request is recorded after its rule was chosen: a task that waits for it may add rules, which must
        // apply to later requests only.
        switch choose(for: record) {
        case .failure(let unexpected):
            log.add(record, unexpected: unexpected)
            throw RequestFailure(
                .invalidRequest, "No rule of the script answers this request:\n\(unexpected)\n",
                remedy: "Add a rule with on(…).answer(…), or correct the request.",
                host: request.url.origin.host.text)
        case .success(let rule, let supply):
            log.add(record)
            answer = try await make(supply, of: rule, for: record)
        }
        return try await ScriptedDelivery(record: record, pace: pace, running: running).deliver(answer)
    }

    private enum Choice {
        case success(ScriptedRule, ScriptedRule.Supply)
        case failure(UnexpectedRequest)
    }

    private func choose(for record: RecordedRequest) -> Choice {
        var comparisons: [(rule: String, comparison: RequestPattern.Comparison)] = []
        // Without the lock, because closures are called.
        for rule in script.withLock({ $0.rules }).reversed() {
            var comparison = rule.pattern.comparison(with: record)
            if comparison.lines.isEmpty {
                let obstacle = rule.obstacle
                if let supply = rule.take() { return .success(rule, supply) }
                comparison.add([obstacle ?? "its answers were given already"], weight: 0)
            }
            comparisons.append((rule.title, comparison))
        }
        return .failure(UnexpectedRequest(record, comparisons: comparisons))
    }

    private func make(
        _ supply: ScriptedRule.Supply, of rule: ScriptedRule, for record: RecordedRequest
    ) async throws(RequestFailure) -> ScriptedAnswer {
        switch supply {
        case .answer(let answer): return answer
        case .closure(let make):
            let host = record.url.origin.host.text
            do {
                return try await make(record)
            } catch let failure as RequestFailure {
                throw failure
            } catch is CancellationError {
                throw RequestFailure(.cancelled, "The request was cancelled.", phase: .waiting, host: host)
            } catch {
                log.add(mistake: "The rule \(rule.title): its closure threw \(error).")
                throw RequestFailure(
                    .invalidRequest, "The script's closure for this request threw an error.",
                    remedy: "Throw a RequestFailure where the request is meant to fail.", host: host, underlying: error)
            }
        }
    }

    func add(_ rule: ScriptedRule) -> ScriptedRule {
        script.withLock { script in
            if script.rules.count < limits.rules { script.rules.append(rule) } else { script.dropped += 1 }
        }
        return rule
    }
}
