import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

/// Each number of a public configuration has a range: another value counts as the nearest, or the first use fails.
@Suite("Ranges of numbers: requests", .timeLimit(.minutes(5)))
struct RequestRangeTests {
    /// Whether work has ended.
    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    private let server: LoopbackServer
    private let environment: MutableEnvironment

    init() throws {
        server = try LoopbackServer { request in
            request.path == "/busy"
                ? .response(status: 503, headers: [("Retry-After", "1")], body: "busy")
                : .response(body: "{}")
        }
        environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL(server.url + "/")))
    }

    /// Runs work while a clock is moved from wait to wait, and cancels what waits again and again.
    private func run(_ clock: ManualClock, _ work: @escaping @Sendable () async -> Void) async {
        let end = End()
        await withTaskGroup { group in
            group.addTask {
                await work()
                end.isReached.store(true, ordering: .releasing)
            }
            var moves = 0
            while !end.isReached.load(ordering: .acquiring) {
                if clock.advanceToNextDeadline() != nil { moves += 1 }
                if moves == 100 { group.cancelAll() }
                await Task.yield()
            }
        }
    }

    private func use(
        _ transport: any Transport, options: TransportOptions = TransportOptions(),
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) async {
        let clock = ManualClock()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        change(&configuration)
        let service = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        await run(clock) {
            for path in ["a", "busy", "busy", "b"] {
                var request = DataRequest(.get, path)
                request.options = options
                _ = try? await service.send(request)
            }
        }
        await service.shutdown()
    }

    @Test("The configuration of a transport")
    func transport() async {
        let variants = Variants(CurlTransport.Configuration())
            .counts(
                \.connectionsPerOrigin, \.requestsInFlight, \.queueLimit, \.streamsPerConnection, \.connectionCacheSize,
                \.shards
            )
            .times(\.idleLifetime, \.addressLifetime, \.happyEyeballsDelay)
            .times(\.connectionLifetime, \.keepAliveInterval)
        for configuration in variants.whole() {
            guard let transport = try? CurlTransport(configuration: configuration) else { continue }
            await use(transport)
            await transport.shutdown(grace: .zero)
        }
    }

    @Test("The options of a request")
    func options() async throws {
        let transport = try CurlTransport()
        let variants = Variants(TransportOptions())
            .times(\.connectTimeout)
            .times(\.idleTimeout, \.firstByteTimeout, \.totalTimeout, \.queueTimeout, \.continueWait)
            .counts(\.maximumHeadSize, \.maximumHeadLines, \.drainLimit)
            .counts(\.maximumExpansion)
        var all = variants.whole()
        for count in Extremes.counts {
            for time in Extremes.times {
                var options = TransportOptions()
                options.minimumRate = .init(bytesPerSecond: count, over: time)
                options.delivery = .collected(upTo: count)
                all.append(options)
            }
        }
        for options in all {
            await use(transport, options: options) { configuration in
                configuration.limits = OriginLimits(concurrency: 4, rate: RateLimit(1_000, per: .seconds(1)))
                configuration.joins = true
                configuration.retry = .standard
            }
        }
        for time in Extremes.times { await transport.shutdown(grace: time) }
    }

    @Test("Retries, their budget, redirects and limits of origins")
    func stages() async throws {
        let transport = try CurlTransport()
        var changes: [@Sendable (inout HTTPDataRequestService.Configuration) -> Void] = []
        let policies = Extremes.counts.map { RetryPolicy.attempts($0) } + Extremes.times.map { RetryPolicy.within($0) }
        // The limit of attempts is an enumeration.
        for policy in policies + Variants(RetryPolicy.forever).times(\.longestWait).times(\.attemptTimeout).whole() {
            changes.append { $0.retry = policy }
        }
        for base in Extremes.times {
            for cap in Extremes.times {
                for backoff in [Backoff.exponential(base: base, cap: cap), .decorrelated(base: base, cap: cap)] {
                    changes.append { $0.retry.backoff = backoff }
                }
            }
            changes.append { $0.retry = .forever.deciding { _ in .retryAfter(base) } }
        }
        let budgets = Variants(RetryBudget())
            .numbers(\.depositPerExchange, \.initial, \.maximum, \.reservePerSecond, \.reserveMaximum)
        for budget in budgets.whole() { changes.append { ($0.retryBudget, $0.retry) = (budget, .standard) } }
        for count in Extremes.counts { changes.append { $0.redirects = .limit(count) } }
        let limits = Variants(OriginLimits(concurrency: 1)).counts(\.concurrency).counts(\.queueLimit)
            .times(\.queueTimeout)
        for limit in limits.whole() { changes.append { $0.limits = limit } }
        let breakers = Variants(CircuitBreaker()).numbers(\.failureRatio).counts(\.minimumOutcomes)
            .times(\.window, \.openTime, \.longestOpenTime)
        for breaker in breakers.whole() { changes.append { $0.limits = OriginLimits(breaker: breaker) } }
        for count in Extremes.counts {
            for time in Extremes.times {
                let rate = RateLimit(count, per: time, burst: count)
                changes.append { $0.limits = OriginLimits(rate: rate) }
            }
        }
        for change in changes {
            await use(transport) { configuration in
                configuration.retry = .standard
                change(&configuration)
            }
        }
        await transport.shutdown(grace: .zero)
    }

    @Test("Times of clocks, tokens, deadlines and shutdowns")
    func times() async throws {
        let transport = try CurlTransport()
        for time in Extremes.times {
            let clock = ManualClock()
            await run(clock) {
                try? await clock.requestClock.sleep(for: time)
                try? await clock.requestClock.sleep(until: time)
            }
            for other in Extremes.times where other >= time { _ = clock.requestClock.random(in: time...other) }
            let provider = FixedToken(token: try AccessToken("a", expiresIn: time))
            let service = HTTPDataRequestService(environment: environment, transport: transport)
            service.setAuthorization(.tokens(provider))
            _ = try? await service.get("a")
            var request = DataRequest(.get, "a")
            request.options.totalTimeout = time
            _ = try? await service.send(request)
            await service.shutdown(grace: time)
        }
        await transport.shutdown(grace: .zero)
    }

    private struct FixedToken: AccessTokenProvider {
        let token: AccessToken

        func token(replacing old: AccessToken?) async throws -> AccessToken { token }
    }

    @Test("Counts and sizes of readers")
    func readers() async throws {
        for count in Extremes.counts {
            let body = ResponseBody(Data("data: a\n\ndata: b\n\n".utf8))
            _ = try? await body.collect(upTo: count)
            await #expect(throws: Never.self) {
                do { for try await _ in body.lines(maximumLength: count) {} } catch is RequestFailure {}
            }
            await #expect(throws: Never.self) {
                do { for try await _ in body.serverSentEvents(maximumSize: count) {} } catch is RequestFailure {}
            }
            _ = try? QueryItems(parsing: "a=1&b=2", maximumItems: count)
            _ = try? FormCodec(maximumItems: count).decode(QueryItems.self, from: Data("a=1&b=2".utf8), as: .form)
        }
    }

    @Test("Sizes and intervals of a download")
    func downloads() async throws {
        let (folder, transport) = (TestFolder(), try CurlTransport())
        let service = HTTPDataRequestService(environment: environment, transport: transport)
        for size in [Int64.min, -1, 0, 1, .max] {
            var options = DownloadOptions()
            (options.maximumSize, options.existing) = (size, .replace)
            for time in Extremes.times {
                let report = ProgressReport(every: time) { _ in }
                _ = try? await service.download(
                    DataRequest(.get, "a"), to: folder.path + "/a", options: options, progress: report)
            }
        }
        for time in Extremes.times {
            _ = try await DownloadedFile.removeAbandoned(in: folder.path, partsUntouchedFor: time)
        }
        await transport.shutdown(grace: .zero)
    }
}
