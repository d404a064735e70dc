import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import Testing

@Suite("The article ObservingRequests")
struct ObservingRequestsTests {
    // Article begins
    /// Counts the calls that have failed, by their reasons.
    final class FailureCounts: RequestObserver {
        let counts = Mutex<[RequestFailure.Reason: Int]>([:])

        func observe(_ event: RequestEvent) {
            guard case .ended(let ending) = event.kind,
                let failure = ending.failure
            else { return }
            counts.withLock { $0[failure.reason, default: 0] += 1 }
        }
    }
    // Article ends

    @Test("The article on observers shows timelines, events, and an observer of failures")
    func example() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users").answer(.serviceUnavailable).thenAnswer(.ok).thenAnswer(.notFound)
        var environment = EnvironmentSnapshot(baseURL: try RequestURL("https://api.example.com/v1/"))
        environment.name = "production"
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = .attempts(2)

        // Article begins
        let timelines = RequestTimelines(limit: 50)
        configuration.observers = [timelines]
        // Article ends

        let failures = FailureCounts()
        configuration.observers.append(failures)
        let requests = HTTPDataRequestService(
            environment: ConstantEnvironment(environment), transport: transport, configuration: configuration)
        try await requests.send(DataRequest(.get, "users"))
        var lines: [String] = []
        func print(_ values: Any...) { lines.append(values.map { "\($0)" }.joined(separator: " ")) }

        // Article begins
        for phase in timelines.all.last?.phases ?? [] {
            print("attempt \(phase.attempt): \(phase.name) \(phase.duration)")
        }
        // Article ends

        let names = lines.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
        let attempts = (1...2).map { number in ["send", "wait", "receive"].map { "attempt \(number): \($0)" } }
        #expect(names == ["attempt 0: preparing"] + attempts[0] + ["attempt 1: pause"] + attempts[1])
        lines = []

        // Article begins
        for event in timelines.all.last?.events ?? [] {
            print(event.elapsed, event)
        }
        // began GET https://api.example.com/v1/users in production
        // prepared GET https://api.example.com/v1/users
        // attempt 1: sent GET https://api.example.com/v1/users
        // attempt 1: 503
        // retrying after status
        // attempt 2: sent GET https://api.example.com/v1/users
        // attempt 2: 200
        // received 200
        // ended: completed
        // Article ends

        let shown = try ArticleText("ObservingRequests").blocks("swift").joined().filter { $0.hasPrefix("// ") }
        #expect(lines.count == shown.count)
        for (line, text) in zip(lines, shown) { #expect(line.hasSuffix(text.dropFirst(2))) }
        await #expect(throws: RequestFailure.self) { try await requests.send(DataRequest(.get, "users")) }
        #expect(failures.counts.withLock { $0 } == [.status: 1])
    }
}
