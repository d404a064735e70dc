internal import EssentialsRequests
internal import Figures
internal import Synchronization
internal import ThreadCounters

/// A thousand concurrent requests with a token that the server no longer accepts.
enum ExpiredTokens {
    private final class Provider: AccessTokenProvider {
        private let calls = Atomic(0)

        var refreshes: Int { calls.load(ordering: .relaxed) - 1 }

        func token(replacing old: AccessToken?) async throws -> AccessToken {
            let number = calls.add(1, ordering: .relaxed).newValue
            if number > 1 { try await Task.sleep(for: .milliseconds(5)) }
            return try AccessToken("token\(number)")
        }
    }

    static func measure() async throws -> [Row] {
        let provider = Provider()
        let sent = Mutex<[RequestURL: Int]>([:])
        let isExpired = Atomic(false)
        let refused = Atomic(0)
        let service = try service(
            over: AnsweringTransport { request in
                sent.withLock { $0[request.url, default: 0] += 1 }
                guard isExpired.load(ordering: .relaxed), request.headerFields[.authorization] == "Bearer token1" else {
                    return .json(.ok)
                }
                // No request is refused before all of them were sent with the old token.
                refused.add(1, ordering: .relaxed)
                while refused.load(ordering: .relaxed) < 1_000 { await Task.yield() }
                return .json(.unauthorized)
            }, HTTPDataRequestService.Configuration())
        service.setAuthorization(.tokens(provider))
        let _: Int = try await service.get("warm")
        sent.withLock { $0 = [:] }
        isExpired.store(true, ordering: .relaxed)
        let start = monotonic_nanoseconds()
        let successes = await withTaskGroup(of: Bool.self) { group in
            for number in 1...1_000 {
                group.addTask {
                    do {
                        let _: Int = try await service.get("users/\(number)")
                        return true
                    } catch { return false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        let spent = Double(monotonic_nanoseconds() - start) / 1e6
        await service.shutdown()
        let attempts = sent.withLock { Array($0.values) }
        return [
            Row(
                what: "1,000 concurrent 401: successes", value: Double(successes), unit: "", goal: .atLeast(1_000),
                isJudged: true),
            Row(what: "    refreshes", value: Double(provider.refreshes), unit: "", goal: .atMost(1), isJudged: true),
            Row(
                what: "    attempts of the request that was sent most often", value: Double(attempts.max() ?? 0),
                unit: "",
                goal: .atMost(2), isJudged: true),
            Row(what: "    attempts in all", value: Double(attempts.reduce(0, +)), unit: ""),
            Row(what: "    time", value: spent, unit: "ms", digits: 1),
        ]
    }
}
