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

    // Article begins
    /// Keeps the calls that have waited long before they were sent.
    final class LongWaits: RequestObserver {
        let limit: Duration
        let found = Mutex<[RequestID: Duration]>([:])

        init(longerThan limit: Duration) { self.limit = limit }

        func observer(of call: RequestCall) -> any RequestObserver {
            Waits(of: self)
        }

        // A service tells the events to the observers of calls.
        func observe(_ event: RequestEvent) {}

        private final class Waits: RequestObserver {
            private let all: LongWaits
            private let sum = Mutex(Duration.zero)

            init(of all: LongWaits) { self.all = all }

            func observe(_ event: RequestEvent) {
                switch event.kind {
                case .waited(let wait):
                    sum.withLock { $0 += wait.duration }
                case .ended:
                    let waited = sum.withLock { $0 }
                    guard waited > all.limit else { return }
                    all.found.withLock { $0[event.call.id] = waited }
                default: break
                }
            }
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

    @Test("The article on observers shows one that keeps the waits of each call")
    func waits() async throws {
        let transport = ScriptedTransport()
        let isReleased = OneShot<Void>()
        transport.on(.get, "/v1/users").answer { _ in
            await isReleased.value()
            return ScriptedAnswer(.ok)
        }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.limits = OriginLimits(concurrency: 1)
        let (long, endless) = (LongWaits(longerThan: .zero), LongWaits(longerThan: .seconds(3_600)))
        configuration.observers = [long, endless]
        let base = try RequestURL("https://api.example.com/v1/")
        let requests = HTTPDataRequestService(
            environment: ConstantEnvironment(EnvironmentSnapshot(baseURL: base)), transport: transport,
            configuration: configuration)
        let tasks = (0..<2).map { _ in Task { try await requests.send(DataRequest(.get, "users")) } }
        while requests.limits?.state(of: base.origin).waiting != 1 { await Task.yield() }
        isReleased.provide(())
        for task in tasks { _ = try await task.value }
        #expect(long.found.withLock { $0.values.map { $0 > .zero } } == [true])
        #expect(endless.found.withLock { $0.isEmpty })
    }
}
