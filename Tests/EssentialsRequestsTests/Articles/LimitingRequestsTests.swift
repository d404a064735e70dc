import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article LimitingRequests")
struct LimitingRequestsTests {
    private struct User: Codable, Sendable {
        var name = "Ada"
    }

    private struct Order: Codable, Sendable {
        var film = 1
    }

    private let transport = ScriptedTransport()

    @Test("The article on limits shows limits, their failures and their state")
    func limits() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let origin = environment.baseURL.origin
        let order = Order()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }
        transport.on(.post, "/v1/orders").answer(.badGateway)

        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.limits = OriginLimits(
            concurrency: 2, rate: RateLimit(10, per: .seconds(1)),
            breaker: .standard)
        let requests = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        // Article ends

        // Article begins
        if let state = requests.limits?.state(of: origin) {
            let left = state.rateTokensLeft ?? 0
            show("\(state.permitsInUse) sent, \(state.waiting) wait, \(left) left")
            if case .open(let time) = state.circuit { show("down for \(time)") }
        }
        // Article ends
        #expect(shown == ["0 sent, 0 wait, 10 left"])

        // Article begins
        do throws(RequestFailure) {
            try await requests.post("orders", body: order)
        } catch {
            switch error.underlying {
            case let open as CircuitOpen:
                show(
                    "The shop is closed. Next try: \(open.timeLeft ?? .seconds(1))")
            default: show(error.message)
            }
        }
        // Article ends
        #expect(shown.last == "POST https://api.example.com/v1/orders returned the status 502 Bad Gateway.")

        // Article begins
        configuration.limits.breaker?.minimumOutcomes = 5
        configuration.limits.breaker?.openTime = .seconds(1)
        // Article ends
        configuration.limits.breaker?.openTime = .seconds(60)
        let broken = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        for _ in 0..<5 {
            _ = await #expect(throws: RequestFailure.self) { try await broken.post("orders", body: order) }
        }
        let failure = await #expect(throws: RequestFailure.self) { try await broken.post("orders", body: order) }
        #expect(failure?.reason == .circuitOpen)
        #expect(failure?.underlying is CircuitOpen)
        #expect(transport.requestCount == 6)
    }

    @Test("The article on limits shows equal requests that are sent once")
    func joining() async throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        var configuration = HTTPDataRequestService.Configuration()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }
        transport.on(.get, "/v1/users/1").answer(json: User(), after: .seconds(1))
        let clock = transport.clock
        // The response comes after both requests have begun.
        let time = Task {
            await clock.waitForSleepers(count: 1)
            for _ in 0..<1_000 { await Task.yield() }
            clock.advance(by: .seconds(1))
        }

        // Article begins
        configuration.joins = true
        let shared = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)
        async let header: User = shared.get("users/1")
        async let footer: User = shared.get("users/1")
        // one request is sent
        show("\(try await header.name), \(try await footer.name)")
        // Article ends
        await time.value
        #expect(shown == ["Ada, Ada"])
        #expect(transport.requestCount == 1)

        // Article begins
        var request = DataRequest(.get, "users/1")
        request.joins = false
        // Article ends
        transport.on(.get, "/v1/users/1").answer(json: User())
        try await shared.send(request)
        #expect(transport.requestCount == 2)
    }
}
