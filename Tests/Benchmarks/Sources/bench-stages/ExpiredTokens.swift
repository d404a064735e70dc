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
        let sent = Atomic(0)
        let isExpired = Atomic(false)
        let service = try service(
            over: AnsweringTransport { request in
                sent.add(1, ordering: .relaxed)
                let isOld = request.headerFields[.authorization] == "Bearer token1"
                return .json(isOld && isExpired.load(ordering: .relaxed) ? .unauthorized : .ok)
            }, HTTPDataRequestService.Configuration())
        service.setAuthorization(.tokens(provider))
        let _: Int = try await service.get("warm")
        sent.store(0, ordering: .relaxed)
        isExpired.store(true, ordering: .relaxed)
        let start = monotonic_nanoseconds()
        let successes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    do {
                        let _: Int = try await service.get("users/1")
                        return true
                    } catch { return false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        let spent = Double(monotonic_nanoseconds() - start) / 1e6
        await service.shutdown()
        let requests = Double(sent.load(ordering: .relaxed))
        return [
            Row(
                what: "1,000 concurrent 401: successes", value: Double(successes), unit: "", goal: .atLeast(1_000),
                isJudged: true),
            Row(what: "    refreshes", value: Double(provider.refreshes), unit: "", goal: .atMost(1), isJudged: true),
            Row(what: "    sent in all", value: requests, unit: "", goal: .atMost(2_000), isJudged: true),
            Row(what: "    time", value: spent, unit: "ms", digits: 1),
        ]
    }
}
