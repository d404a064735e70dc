import EssentialsTestKit
import EssentialsTools
import ServiceEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Access tokens over the network", .timeLimit(.minutes(5)))
struct TokenNetworkTests {
    /// Runs a closure with a service whose token comes from the server's token endpoint.
    private func withService(
        _ tokens: TokenServer = TokenServer(),
        _ body: (HTTPDataRequestService, TokenServer, CountingProvider) async throws -> Void
    ) async throws {
        let server = try LoopbackServer { tokens.reply(to: $0) }
        let login = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
        struct Reply: Decodable, Sendable { let access_token: String }
        let provider = CountingProvider { _, _ in
            let reply: Reply = try await login.post("token", body: ["grant": "any"])
            return try AccessToken(reply.access_token)
        }
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1"), transport: try CurlTransport())
        service.setAuthorization(.tokens(provider))
        defer { server.stop() }
        do {
            try await body(service, tokens, provider)
        } catch {
            await service.shutdown()
            await login.shutdown()
            throw error
        }
        await service.shutdown()
        await login.shutdown()
    }

    @Test("1,000 requests whose token is refused cause one refresh, and all succeed with their second attempt")
    func thousand() async throws {
        try await withService { service, tokens, provider in
            try await service.get("warm")
            tokens.change { $0.valid = [] }
            let succeeded = try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...1_000 { group.addTask { try await service.get("items/\(number)") } }
                var count = 0
                for try await _ in group { count += 1 }
                return count
            }
            #expect(succeeded == 1_000)
            #expect(provider.calls == 2 && provider.mostRunning == 1)
            let visits = tokens.state.visits.filter { $0.key.hasPrefix("/v1/items/") }
            #expect(visits.count == 1_000)
            #expect(visits.values.allSatisfy { $0 <= 2 })
            #expect(visits.values.contains(2))
            #expect(tokens.state.issued == 2)
        }
    }

    @Test("The connection of a refused request is used for the next one")
    func connection() async throws {
        try await withService { service, tokens, _ in
            try await service.get("a")
            tokens.change { $0.valid = [] }
            try await service.get("a")
            #expect(service.requestsInFlight == 0)
            #expect(tokens.state.visits["/v1/a"] == 3)
        }
    }

    @Test("Cancelled requests, a logout and a shutdown during a refresh leave nothing behind", arguments: 0..<3)
    func endings(number: Int) async throws {
        let gate = LoopbackGate()
        let tokens = TokenServer(gate: gate)
        try await withService(tokens) { service, tokens, provider in
            let tasks = (1...100).map { index in Task { try await service.get("a\(index)") } }
            while service.requestsInFlight < 100 || provider.calls == 0 { await Task.yield() }
            switch number {
            case 0: for task in tasks { task.cancel() }
            case 1: await service.clearAuthorization()
            default: await service.shutdown()
            }
            for task in tasks {
                let failure = await #expect(throws: RequestFailure.self) { try await task.value }
                #expect(number == 1 ? failure?.reason == .authorization : failure?.reason == .cancelled)
            }
            #expect(service.requestsInFlight == 0)
            #expect(tokens.state.visits.isEmpty)
            gate.open()
            guard number == 0 else { return }
            // The refresh went on, and the next request uses its token.
            try await service.get("b")
            #expect(provider.calls == 1)
        }
        gate.open()
    }

    @Test("A streamed response to a refused request is sent again too")
    func streamed() async throws {
        try await withService { service, tokens, _ in
            try await service.get("warm")
            tokens.change { $0.valid = [] }
            var request = DataRequest(.get, "a")
            request.options.delivery = .streamed
            let response = try await service.send(request)
            #expect(try await response.body.collect(upTo: 100).count == 2)
            #expect(tokens.state.visits["/v1/a"] == 2)
        }
    }

    @Test("Requests that race with refusals, cancellations, logouts and a shutdown each end once")
    func race() async throws {
        // A late logout can end all requests of a race. A race that none survives shows too little, so there is another.
        var successes = 0
        for _ in 0..<3 where successes == 0 { successes = try await successesOfRace() }
        #expect(successes > 0)
    }

    /// Lets requests race, and returns how many had a response.
    private func successesOfRace() async throws -> Int {
        let tokens = TokenServer()
        var successes = 0
        try await withService(tokens) { service, tokens, provider in
            let credentials = Credentials.tokens(provider)
            let total = Rounds.racing(1_000)
            let tasks = (0..<total).map { number in
                Task {
                    let task = Task { try await service.get("a\(number)") }
                    switch number % 10 {
                    case 1: task.cancel()
                    case 2 where number % 50 == 2: tokens.change { $0.valid = [] }
                    case 3 where number % 100 == 3: await service.clearAuthorization()
                    case 4: service.setAuthorization(credentials)
                    default: break
                    }
                    return await task.result
                }
            }
            for (number, task) in tasks.enumerated() {
                if number == total / 2 { await service.shutdown() }
                if case .success = await task.value { successes += 1 }
            }
            #expect(successes < total)
            #expect(service.requestsInFlight == 0)
            // The two Credentials values have a source each.
            #expect(provider.mostRunning <= 2)
        }
        return successes
    }
}
