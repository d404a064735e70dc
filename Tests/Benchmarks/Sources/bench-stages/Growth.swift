internal import EssentialsRequests
internal import Figures
internal import Synchronization
internal import ThreadCounters

/// The memory of many requests that pass all stages: some fail and are retried, some set cookies.
enum Growth {
    private struct Provider: AccessTokenProvider {
        let token: AccessToken
        func token(replacing old: AccessToken?) async throws -> AccessToken { token }
    }

    static func measure(requests: Int) async throws -> [Row] {
        let sent = Atomic(0)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = .standard
        configuration.retry.backoff = .exponential(base: .microseconds(10), cap: .microseconds(10))
        configuration.cookies = CookieJar()
        configuration.limits = OriginLimits(concurrency: 100)
        configuration.joins = true
        let service = try service(
            over: AnsweringTransport { _ in
                let number = sent.add(1, ordering: .relaxed).newValue
                guard !number.isMultiple(of: 50) else { return .json(.serviceUnavailable) }
                var response = HTTPResponse.json()
                if number.isMultiple(of: 10) { response.headerFields[.setCookie] = "visit=\(number % 7)" }
                return response
            }, configuration)
        service.setAuthorization(.tokens(Provider(token: try AccessToken("dG9rZW4"))))
        try await send(requests / 10, to: service)
        let before = heap_bytes()
        try await send(requests, to: service)
        let grown = Double(Int(heap_bytes()) - Int(before)) / Double(requests)
        let waiting = service.requestsInFlight
        await service.shutdown()
        return [
            Row(
                what: "growth for each of \(requests) requests through all stages", value: grown, unit: "bytes",
                digits: 2,
                goal: .atMost(4), isJudged: true),
            Row(what: "    requests left", value: Double(waiting), unit: "", goal: .atMost(0), isJudged: true),
        ]
    }

    private static func send(_ count: Int, to service: HTTPDataRequestService) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for number in 0..<(count / 16) {
                        let _: Int = try await service.get("users/\(task)/\(number % 100)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
