public import EssentialsHTTP
import Synchronization

/// A transport that answers from a script instead of the network, and keeps what it was asked.
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
/// // … what is tested sends requests …
/// try transport.verify()
/// ```
///
/// Of the rules that fit a request, the most recently added one answers, so a test can cover what its suite has set up.
/// A request that none fits fails at once as `invalidRequest`, with the difference from the nearest rules in its message.
///
/// It keeps to `Transport`'s contract: a streamed body comes piece by piece and a collected one whole and within its
/// limit, every cancellation is `cancelled`, and after ``shutdown()`` requests fail as `closed`. The deadlines `total`,
/// `idle` and `firstByte` of a request's options are kept on the clock. Trust, redirects and compression are no part of
/// it. Safe from any thread; every `on` may come while requests run.
public final class ScriptedTransport: Transport {
    /// What a scripted transport keeps at most. More is counted and named in ``ScriptedTransport/problems``.
    public struct Limits: Sendable, Hashable {
        /// Recorded requests; further ones are answered all the same. 10,000.
        public var requests = 10_000
        /// Bytes of each recorded body; what is matched and compared is no more than these. 16 MiB.
        public var recordedBody = 16 << 20
        /// Rules; further ones have no effect. 10,000.
        public var rules = 10_000
        /// Unexpected requests, and mistakes of the script, whose description is kept. 100.
        public var unexpected = 100

        /// The defaults named beside each property.
        public init() {}
    }

    private struct Script {
        /// The newest last.
        var rules: [ScriptedRule] = []
        var dropped = 0
    }

    private let limits: Limits
    private let script = Mutex(Script())
    private let log: ScriptLog
    private let running = RunningExchanges()

    /// The clock on which answers are delayed and requests are timed.
    public let clock: ManualClock

    /// Makes a transport without rules.
    public init(clock: ManualClock = ManualClock(), limits: Limits = Limits()) {
        self.clock = clock
        self.limits = limits
        log = ScriptLog(limits: limits)
    }

    // MARK: The script

    /// Adds a rule; the returned value says what it answers.
    ///
    /// Everything given must fit. A path, host or body that cannot be read fits nothing and is named in ``problems``.
    ///
    /// - Parameters:
    ///   - method: The method; nil for any.
    ///   - path: The path, beginning with `/`. A segment `*` stands for any one, `**` at the end for any number of them.
    ///     Segments are compared percent-decoded. A query behind it counts as `query`.
    ///   - query: The query's items in any order, its text, or any query.
    ///   - host: The host, without a port; nil for any.
    ///   - headerFields: Fields that must be among the request's.
    ///   - body: The body; see ``BodyPattern``.
    ///   - fileID: Named in messages.
    ///   - line: Named in messages.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, query: QueryPattern = .any, host: String? = nil,
        headerFields: HTTPFields = [:], body: BodyPattern = .any, fileID: String = #fileID, line: Int = #line
    ) -> ScriptedRule {
        let pattern = RequestPattern(
            method: method, path: path, query: query, host: host, headerFields: headerFields, body: body)
        return add(ScriptedRule(pattern, fileID: fileID, line: line))
    }

    /// Adds a rule for the requests for which a closure says yes. It is called for each request that no newer rule
    /// answers, from any thread.
    public func on(
        fileID: String = #fileID, line: Int = #line, _ matches: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> ScriptedRule {
        add(ScriptedRule(RequestPattern(matches), fileID: fileID, line: line))
    }

    // MARK: The record

    /// All whole requests in their order, those without an answer included.
    public var requests: [RecordedRequest] { log.requests }

    /// How many whole requests came, recorded or not.
    public var requestCount: Int { log.requestCount }

    /// Waits for a request.
    ///
    /// - Parameter number: Which one, counted from 1.
    /// - Throws: `cancelled` when the waiting task is cancelled, `closed` when the transport is shut down before,
    ///   `invalidRequest` for a number that cannot come.
    public func request(number: Int) async throws(RequestFailure) -> RecordedRequest {
        try await log.request(number: number)
    }

    /// The requests that no rule answered.
    public var unexpected: [UnexpectedRequest] { log.unexpected }

    /// What did not go by the script: unexpected requests, answers of `once()` and `expected()` rules that were never
    /// given, and mistakes of the script itself.
    public var problems: [String] {
        let script = script.withLock { $0 }
        var problems = log.problems + script.rules.flatMap(\.problems)
        if script.dropped > 0 {
            problems.append("\(script.dropped) rules over the limit of \(limits.rules) have no effect.")
        }
        return problems
    }

    /// Throws what did not go by the script. To be called at a test's end; `#expect(transport.problems == [])` does the
    /// same without ending the test.
    public func verify() throws(RequestMismatch) { try RequestMismatch.check(problems) }

    // MARK: Transport

    /// Answers by the script; as the protocol `Transport` says.
    ///
    /// - Throws: What the script says; `invalidRequest` for a request that no rule answers, or that no transport sends.
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

    /// Ends waiting requests and bodies that are being read as `cancelled`; what comes later fails as `closed`. The
    /// record stays.
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
        // The record comes last: who waits for it may change the script, which is for later requests then.
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
        // Outside the lock, because closures are called.
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

    private func add(_ rule: ScriptedRule) -> ScriptedRule {
        script.withLock { script in
            if script.rules.count < limits.rules { script.rules.append(rule) } else { script.dropped += 1 }
        }
        return rule
    }
}
