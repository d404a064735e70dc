import EssentialsStorage
import Testing

@testable import EssentialsHTTP
@testable import EssentialsRequests

@Suite("The article LimitsOfStages")
struct LimitsOfStagesTests {
    private static let head = "| Limit | Default | Over it | Why |"
    private static let sections = [
        "Retries", "Tokens", "Cookies", "Limits of origins and shared requests", "Response cache",
    ]

    private static func rows() throws -> [[String]] {
        let article = try ArticleText("LimitsOfStages")
        return sections.flatMap { article.table(under: head, of: "### \($0)") }
    }

    // MARK: How the article writes values

    private static func count(_ number: some BinaryInteger) -> String {
        var digits = Array("\(number)".reversed())
        for place in stride(from: 3, to: digits.count, by: 3).reversed() { digits.insert(",", at: place) }
        return String(digits.reversed())
    }

    private static func size(_ bytes: Int) -> String {
        bytes.isMultiple(of: 1 << 20) ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }

    private static func time(_ duration: Duration?) -> String {
        guard let duration else { return "none" }
        let milliseconds = Int(duration / .milliseconds(1))
        return milliseconds.isMultiple(of: 1_000) ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }

    // MARK: Values of the code

    private static var ofRetries: [String: String] {
        let (policy, budget) = (RetryPolicy.standard, RetryBudget())
        var attempts = "none"
        if case .attempts(let number) = policy.limit { attempts = count(number) }
        return [
            "`limit`: attempts of a request, over all hops": attempts,
            // The largest random number gives the bound.
            "`backoff`: bound of the first random wait": time(
                policy.backoff.wait(retry: 1, previous: .zero, fraction: 1)),
            "`backoff`: largest bound of a wait": time(policy.backoff.wait(retry: 100, previous: .zero, fraction: 1)),
            "`longestWait`: a `Retry-After` that is waited for": time(policy.longestWait),
            "part of each wait that is added at random, at most": "\(Int(RetryMachine.addedPart * 100)) %",
            "time that is added at random, at most": time(RetryMachine.longestAddition),
            "wait after the server has become reachable, with `followsReachability`": time(
                RepeatedAttempts.reachableWait),
            "shortest wait for the end of another request's probe, with `.forever`": time(RetryMachine.probeWait),
            "`attemptTimeout`": time(policy.attemptTimeout),
            "seconds that are read from a `Retry-After`": count(RetryAfter.maximumSeconds),
            "`initial`: units of the budget at the beginning": count(Int(budget.initial)),
            "`depositPerExchange`: units for a request without a retry": "\(budget.depositPerExchange)",
            "`maximum`: units of the budget": count(Int(budget.maximum)),
            "`reservePerSecond`: units of the reserve for each second": count(Int(budget.reservePerSecond)),
            "`reserveMaximum`: units of the reserve": count(Int(budget.reserveMaximum)),
            "origins with a budget": count(RetryBudgets.maximumOrigins),
            "`earlierFailures` of a failure": count(RetryProgress.maximumFailures),
            "bytes of a body that nobody wants": size(BodyDrain.limit),
            "time for a body that nobody wants": time(BodyDrain.time),
        ]
    }

    private static func ofTokens() throws -> [String: String] {
        let configuration = try OAuth2Tokens.Configuration(
            endpoint: "https://login.example.com/token", clientID: "a", clientSecret: "b")
        return [
            // The code has no number for this limit, because it remembers only whether there was one.
            "times that a request is sent again after a 401 to its token": "1",
            "time for a call of the provider": time(TokenSource.limit),
            "time without a call after a failed one": time(TokenMachine.pause),
            "new tokens in a row that are refused": count(TokenMachine.refusalLimit),
            "tokens that are refused within 30 s, also after they were accepted": count(
                TokenMachine.hold == .seconds(30) ? TokenMachine.refusalLimitOfWindow : 0),
            "time without a call after that": time(TokenMachine.hold),
            "part of a token's time in which it is refreshed in advance":
                TokenMachine.window(of: .seconds(100)) == .seconds(10) ? "a tenth" : "another part",
            "longest time in which a token is refreshed in advance": time(TokenMachine.longestWindow),
            "requests that wait for a token": count(TokenMachine.maximumWaiters),
            "origins with credentials": count(AuthorizationStore.limit),
            "Digest nonces that are remembered": count(DigestMachine.limit),
            "challenges of a 401": count(ChallengeReader.maximumChallenges),
            "parameters of a challenge": count(ChallengeReader.maximumParameters),
            "bytes of all challenges": size(ChallengeReader.maximumBytes),
            "bytes of a challenge's parameter": size(ChallengeReader.maximumValue),
            "`timeout` of `OAuth2Tokens`, for a request to the endpoint": time(configuration.timeout),
            "bytes of a response of the token endpoint": size(OAuth2Rules.maximumBody),
            "bytes of an access token of the endpoint": size(OAuth2Rules.maximumToken),
            "seconds in a token's `expires_in`": count(OAuth2Rules.longest),
            "bytes of a file with tokens": size(TokenFile.limit),
            "time for the lock of a file with tokens": time(FileTokenStore.lockTimeout),
            "updates of a token store that wait": count(UpdateQueue.limit),
        ]
    }

    private static var ofCookies: [String: String] {
        let limits = CookieLimits()
        return [
            "cookies of a domain": count(limits.perDomain),
            "cookies of a domain that is crowded": count(limits.crowded),
            "cookies of a site that is crowded": count(limits.perSite),
            "cookies of a jar": count(limits.total), "bytes of a `Cookie` field": size(limits.fieldSize),
            "bytes of a cookie's name and value": count(SetCookieLine.maximumPair),
            "bytes of an attribute": count(SetCookieLine.maximumAttribute),
            "`Set-Cookie` lines of a response": count(CookieJar.maximumLines),
            "days for which a cookie is kept": count(Int(CookieRules.maximumLifetime) / 86_400),
            "time between two automatic saves": time(CookieJar.saveInterval),
            "time for the lock of a cookie file": time(CookieFileStore.patience.limit),
            "bytes of a cookie file": size(CookieFileStore.maximumSize),
            "bytes of a public suffix list": size(PublicSuffixList.maximumSize),
            "lines of a public suffix list": count(PublicSuffixList.maximumLines),
            "bytes of a rule of a public suffix list": count(PublicSuffixList.maximumRule),
            "characters of a label outside ASCII": count(Punycode.maximumCount),
        ]
    }

    private static var ofOrigins: [String: String] {
        let (limits, breaker) = (OriginLimits(), CircuitBreaker.standard)
        return [
            "`concurrency`": limits.concurrency.map { count($0) } ?? "none",
            "`rate`": limits.rate == nil ? "none" : "a rate",
            "requests of a `RateLimit`'s count or burst": count(RateLimit.maximumCount),
            "shortest period of a `RateLimit`": time(RateLimit.periods.lowerBound),
            "days of a `RateLimit`'s period": count(Int(RateLimit.periods.upperBound / .seconds(86_400))),
            "`queueLimit`": count(limits.queueLimit), "`queueTimeout`": time(limits.queueTimeout),
            "origins with counts": count(RequestLimits.originLimit),
            "`failureRatio` that opens a circuit": "\(breaker.failureRatio)",
            "`minimumOutcomes`": count(breaker.minimumOutcomes),
            "`window`: time for which an outcome counts": time(breaker.window),
            "steps of the window": count(OutcomeWindow.stepCount),
            "longest `window` in hours": count(Int(OutcomeWindow.times.upperBound / .seconds(3_600))),
            "`openTime`: time until the first probe": time(breaker.openTime),
            "`longestOpenTime`: time until a probe": time(breaker.longestOpenTime),
            "hours until a probe, whatever is set": count(Int(BreakerMachine.longestOpenTime / .seconds(3_600))),
            // The code has no number for this limit, because it remembers only whether there is one.
            "probes of a half-open circuit at the same time": "1",
            "shared exchanges": count(JoinedExchanges.maximumGroups),
            "difference at which a shared deadline counts as passed": time(SharedExchange.tolerance),
        ]
    }

    private static func ofCache() throws -> [String: String] {
        let old: HTTPFields = [.lastModified: "Mon, 01 Jan 1990 00:00:00 GMT"]
        let date = try #require(HTTPDate.date(from: "Thu, 01 Jan 2026 00:00:00 GMT"))
        let heuristic = Freshness.heuristicLifetime(of: old, sentAt: date) ?? .zero
        return [
            "`memory`: bytes of all responses": size(ResponseCache.Memory.standard.bytes),
            "part of the memory for one response": MemoryResponseStore.part == 16 ? "a sixteenth" : "another part",
            "`disk`: bytes of all files": size(ResponseCache.Disk.directory("").bytes),
            "part of the files for one response":
                DiskResponseStore.Layout.ofResponses.part == 8 ? "an eighth" : "another part",
            "time that a request waits for files or another store": time(MemoryResponseStore(bytes: 0).timeLimit),
            "time that a removal is waited for": time(LimitedResponseStore.removalLimit),
            "time for a further piece of a body that is being delivered": time(LimitedResponseStore.pieceLimit),
            "removals of a store that run at the same time": count(LimitedResponseStore.maximumRemovals),
            "removals that wait": count(LimitedResponseStore.maximumWaiting),
            "bytes of a body that is validated in the background": size(BackgroundValidations.largest),
            "calls of a store that run at the same time": count(LimitedResponseStore.maximumCalls),
            "responses on their way from memory to files": count(TieredResponseStore.maximumPending),
            "bytes of a streamed body that wait for the disk": size(DiskResponseWriter.maximumWaiting),
            "bytes of all streamed bodies of a process that wait for the disk":
                size(BufferRoom.commonBytes),
            "bytes that count for each response, beside head and body": count(MemoryResponseStore.overhead),
            "responses of one URL that differ in the fields of `Vary`": count(MemoryResponseStore.maximumVariants),
            "URLs whose removal is remembered, in an eighth of the memory": count(Clearings<RequestURL>.maximum),
            "cookies of hosts whose logout is remembered": count(ResponseCache.maximumSessions),
            "validations in the background at the same time": count(BackgroundValidations.maximum),
            "seconds of a validation in the background": count(Int(BackgroundValidations.time.components.seconds)),
            "validations whose responses resources are told": count(StoredUpdates.maximum),
            "streamed bodies that are stored at the same time": count(CacheWriters.maximum),
            "days of a lifetime without a field of the server": count(Int(heuristic / .seconds(86_400))),
        ]
    }

    @Test("The article on the limits of the stages has the values of the code")
    func values() throws {
        let shown = try Dictionary(Self.rows().map { ($0[0], $0[1]) }) { "\($0) and \($1)" }
        let known = try [Self.ofRetries, Self.ofTokens(), Self.ofCookies, Self.ofOrigins, Self.ofCache()]
            .flatMap { $0.map { $0 } }
        for (name, value) in known { #expect(shown[name] == value, "\(name)") }
        #expect(Set(shown.keys) == Set(known.map(\.key)))
        #expect(known.count == shown.count)
    }

    @Test("Every limit of a stage has a consequence and a reason, and names only failures that exist")
    func consequences() throws {
        let known = Set(RequestFailure.Reason.all.map(\.name)).union(["retryAfter()", ".forever", "queue"])
        for row in try Self.rows() {
            try #require(row.count == 4, "\(row)")
            let named = row[2].split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            #expect(!row[2].isEmpty && !row[3].isEmpty && Set(named).isSubset(of: known), "\(row[0])")
        }
    }

    @Test("The article names every property of the budget, the limits and the breaker")
    func properties() throws {
        let limits = try Self.rows().map { $0[0] }
        for value in [RetryBudget() as Any, OriginLimits(), CircuitBreaker()] {
            for name in Mirror(reflecting: value).children.compactMap(\.label) where name != "breaker" {
                #expect(limits.contains { $0.hasPrefix("`\(name)`") || $0.contains("`\(name)`") }, "\(name)")
            }
        }
    }
}
