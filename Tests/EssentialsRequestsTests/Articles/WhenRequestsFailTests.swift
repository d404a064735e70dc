import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article WhenRequestsFail")
struct WhenRequestsFailTests {
    private struct User: Codable, Hashable, Sendable { var id = 1 }
    private struct Report: Codable, Sendable { var pages = 3 }
    private struct Receipt: Codable, Sendable { var number = 9 }

    private let transport = ScriptedTransport()

    /// Moves the clock of the service to the end of each wait while the work runs.
    private func advancing<Value>(_ clock: ManualClock, _ work: () async throws -> Value) async throws -> Value {
        let task = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers(count: 1)
                clock.advanceToNextDeadline()
            }
        }
        defer { task.cancel() }
        return try await work()
    }

    @Test("The article on retries turns them on for a service and for a request")
    func turnOn() async throws {
        let environment = try ConstantEnvironment("https://api.test/v1/")
        transport.on(.get, "/v1/users").answer(.serviceUnavailable).thenAnswer(.init(json: [User()]))
        transport.on(.get, "/v1/report").answer(.badGateway).thenAnswer(.init(json: Report()))

        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = .standard  // 3 attempts
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        let users: [User] = try await requests.get("users")

        let patient = RequestBuilder(.get, "report").retry(.within(.seconds(60)))
        let report = try await requests.response(to: patient, as: Report.self)
        // Article ends
        #expect(users == [User()])
        #expect(report.response.attempts == 2)
        try await payment(requests)
    }

    private func payment(_ requests: any DataRequestService) async throws {
        let order = User()
        transport.on(.post, "/v1/payments").answer(.failure(.interrupted)).thenAnswer(.init(json: Receipt()))
        // Article begins
        var payment = DataRequest(.post, "payments", body: .model(order))
        // a new UUID in the field Idempotency-Key
        payment.idempotencyKey = .automatic
        let receipt = try await requests.model(of: payment, as: Receipt.self)
        // Article ends
        #expect(receipt.number == 9)
        let name = HTTPField.Name("Idempotency-Key")
        let keys = transport.requests.suffix(2).compactMap { request in name.flatMap { request.headerFields[$0] } }
        #expect(keys.count == 2 && Set(keys).count == 1)
    }

    @Test("The article on retries shows waits, a closure and the attempts of a failure")
    func waits() async throws {
        let clock = ManualClock()
        let reachability = ControlledReachability(.local)
        var configuration = HTTPDataRequestService.Configuration()
        // Article begins
        var policy = RetryPolicy.attempts(5).whenReachable
        policy.backoff = .exponential(base: .milliseconds(100), cap: .seconds(5))
        policy.attemptTimeout = .seconds(10)
        configuration.retry = policy
        configuration.reachability = reachability
        // Article ends
        #expect(configuration.retry.followsReachability)

        // Article begins
        configuration.retry = RetryPolicy.standard.deciding { candidate in
            candidate.failure.status == .conflict
                ? .retryAfter(.seconds(1)) : .standard
        }
        // Article ends
        configuration.clock = clock.requestClock
        transport.on(.get, "/users/1").answer(.conflict)
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/"), transport: transport,
            configuration: configuration)
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }
        try await advancing(clock) {
            // Article begins
            do throws(RequestFailure) {
                try await requests.get("users/1")
            } catch {
                let first = error.earlierFailures.first ?? error
                show("\(error.attempt) attempts, first: \(first.reason)")
            }
            // Article ends
        }
        #expect(shown == ["3 attempts, first: status"])
    }
}
